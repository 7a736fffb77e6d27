"""A faulty FMU ends a run in the same way as a participant, under `joint` and as a part of a model."""

import math
import re
from collections.abc import Callable
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from misbehaving_fmu import make_misbehaving, names_of

import cosim
from cosim_fmu import CoSimulation

HOSTS = ("jacobi", "joint", "part of a model")
FAULTS = names_of("fault")
FUNCTIONS = names_of("function")
STATUSES = {"warning": 1, "discard": 2, "error": 3, "fatal": 4}
IMPACT = math.sqrt(2.0 / 9.81)
"""When the ball, dropped from 1 m, reaches the floor, s."""
CALLED_AT_EVENTS = ("ENTER_EVENT", "UPDATE", "CONTINUOUS", "GET_STATES")
CALLED_AT_START = ("NOMINALS", "ENTER_INITIALIZATION", "EXIT_INITIALIZATION", "GET_INTEGER", "SET_INTEGER")
NOT_IN_A_RUN = ("NONE", "TERMINATE")


class End(NamedTuple):
    """How a run ended: the error of the FMU or the reason of a stop, and the last values."""

    error: str
    reason: str
    message: str
    findings: list[tuple[str, str]]
    height: float
    time: float


ERRORS = {
    "INDICATOR_NAN": "event indicator 1 is nan at t = 0.22 s, and a number before",
    "INDICATOR_NAN_ONCE": "event indicator 1 is nan at t = 0.22 s, and a number before",
    "RATE_NAN": "the derivative of continuous state 2 is nan at t = 0.22 s",
    "RATE_INFINITE": "the derivative of continuous state 2 is inf at t = 0.22 s",
    "STATE_NAN": f"at t = {IMPACT:.4f}",
    "STATE_INFINITE": "continuous state 2 is inf after event mode",
    "START_NAN": "at t = 0 s continuous state 2 is nan after event mode",
    "ENDLESS": "discrete states still change after 100 updates",
    "NEXT_NAN": "the time of the next event is nan",
    "NEXT_CROWDS": "101 time events within 1e-12 s of each other, in a row",
}


def causes(error: BaseException) -> list[BaseException]:
    """The error and the errors that caused it; the first cause last."""
    errors = [error]
    while (cause := errors[-1].__cause__) is not None:
        assert all(cause is not other for other in errors), "an error is its own cause"
        errors.append(cause)
    return errors


def run(host: str, fmu: Path, **parameters: Any) -> End:
    """The end of a run of 1 s with an FMU whose parameters choose a fault."""
    try:
        if host in ("jacobi", "joint"):
            starts = {f"m.{name}": value for name, value in parameters.items()}
            result: Any = CoSimulation({"m": fmu}, [], host, 0.1, starts=starts).simulate(1.0)
        else:
            model = cosim.Model("host")
            model.add("fmu.model_exchange", "m", fmu=fmu, **parameters)
            result = model.simulate(
                until=1.0,
                accuracy=1e-6,
                integrator="integrators.runge_kutta_merson",
                output_interval=0.1,
            )
    except cosim.SimulationError as error:
        errors_of_fmu = [cause for cause in causes(error) if isinstance(cause, cosim.FmuError)]
        assert errors_of_fmu and str(errors_of_fmu[0]) in str(error)
        return End(str(errors_of_fmu[0]), "", str(error), [], math.nan, error.time)
    findings = [(finding.witness, finding.message) for finding in result.findings]
    reason = result.message.rpartition(": ")[2]
    return End("", reason, result.message, findings, float(result["m.h"][-1]), float(result.time[-1]))


@pytest.fixture(scope="module", params=[2, 3], ids=["FMI 2.0", "FMI 3.0"])
def fmu(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, compiled: Any) -> Path:
    return make_misbehaving(tmp_path_factory.mktemp("fmu"), compiled, request.param)


def run_in_all_hosts(fmu: Path, **parameters: Any) -> End:
    """The end of the run, which is the same in all hosts."""
    expected, *others = [run(host, fmu, **parameters) for host in HOSTS]
    for end in others:
        assert (end.error, end.reason, end.findings) == (expected.error, expected.reason, expected.findings)
        assert end.height == pytest.approx(expected.height, abs=1e-6, nan_ok=True)
    return expected


@pytest.mark.few(4)
@pytest.mark.parametrize("fault", ERRORS)
def test_faults_that_end_the_run_with_an_error(fmu: Path, fault: str) -> None:
    at_impact = fault.startswith(("STATE", "ENDLESS"))
    end = run_in_all_hosts(fmu, fault=FAULTS[fault], fault_at=0.4 if at_impact else 0.22)
    assert end.error.startswith(f"{fmu}: ") and ERRORS[fault] in end.error


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("fault", "time"), [("STOP_AT_BEGIN", 0.0), ("STOP_AT_EVENT", IMPACT), ("STOP_AT_STEP", None)]
)
def test_requests_to_stop(fmu: Path, fault: str, time: float | None) -> None:
    ends = [run(host, fmu, fault=FAULTS[fault], fault_at=0.22) for host in HOSTS]
    assert {(end.error, end.reason) for end in ends} == {("", "that is how it is")}
    if time is not None:  # of a request after an integrator step the time depends on the steps
        matches = [re.search(r"asked to stop at (?:t = )?([\d.]+)", end.message) for end in ends]
        assert [float(match[1]) for match in matches if match] == pytest.approx([time] * 3, abs=1e-8)
        expected_times = (
            [0.5, 0.5, time] if time else [0.0, 0.0, 0.0]
        )  # the next communication point, or that of the event
        assert [end.time for end in ends] == pytest.approx(expected_times, abs=1e-9)
        assert [end.height for end in ends] == pytest.approx([0.0 if time else 1.0] * 3, abs=1e-6)


@pytest.mark.by_turns
@pytest.mark.parametrize("fault", ["NOTHING", "NEXT_PAST", "NOMINAL_NAN", "RATE_NAN_ONCE"])
def test_faults_that_do_not_end_the_run(fmu: Path, fault: str) -> None:
    end = run_in_all_hosts(fmu, fault=FAULTS[fault], fault_at=0.22)
    assert end.error == end.reason == "" and end.time == 1.0 and end.findings == []
    flight = 1.0 - IMPACT  # after one bounce with a restitution of 0.7
    assert end.height == pytest.approx(0.7 * 9.81 * IMPACT * flight - 0.5 * 9.81 * flight**2, abs=1e-6)


def test_an_indicator_that_never_was_a_number_is_a_warning(fmu: Path) -> None:
    """The ball falls through the floor: its impact cannot be located."""
    text = "event indicator 1, at t = 0 s: is not a number (NaN): it does not fire while that is so"
    for algorithm in ("jacobi", "joint"):
        starts = {"m.fault": FAULTS["INDICATOR_NAN"]}
        result = CoSimulation({"m": fmu}, [], algorithm, 0.1, starts=starts).simulate(1.0)
        assert [text in warning for warning in result.warnings] == [True]
    end = run("part of a model", fmu, fault=FAULTS["INDICATOR_NAN"])
    assert [witness for witness, _ in end.findings] == ["m.indicator_0"]
    assert end.findings[0][1].startswith("is not a number (NaN): it does not fire while that is so")


def test_the_warning_names_the_member_of_joint_whose_indicator_is_nan(fmu: Path) -> None:
    starts = {"b.fault": FAULTS["INDICATOR_NAN"]}
    result = CoSimulation({"a": fmu, "b": fmu}, [], "joint", 0.1, starts=starts).simulate(0.3)
    assert [warning.partition(",")[0] for warning in result.warnings] == ["b: event indicator 1"]


@pytest.mark.few(2)
@pytest.mark.parametrize("status", STATUSES)
def test_a_termination_that_fails_loses_no_result(
    fmu: Path, status: str, caplog: pytest.LogCaptureFixture
) -> None:
    parameters = {"function": FUNCTIONS["TERMINATE"], "status": STATUSES[status]}
    end = run_in_all_hosts(fmu, **parameters)
    assert end.error == "" and end.time == 1.0 and end.height > 0.0
    is_failure = status != "warning"
    text = f"it did not end as it should: {fmu}: fmi{fmu.stem[-1]}Terminate: failed with status {status}"
    starts = {f"m.{name}": value for name, value in parameters.items()}
    for algorithm in ("jacobi", "joint"):
        result = CoSimulation({"m": fmu}, [], algorithm, 0.1, starts=starts).simulate(0.2)
        assert any(text in warning for warning in result.warnings) is is_failure
    caplog.clear()
    model = cosim.Model("host")
    part = model.add("fmu.model_exchange", "m", fmu=fmu, **parameters)
    model.simulate(until=0.2)
    part.close()
    assert any(text in record.message for record in caplog.records) is is_failure


@pytest.mark.few(1)
def test_a_refused_instance_is_the_same_error_in_all_hosts(
    fmu: Path, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    refusing = make_misbehaving(
        tmp_path, lambda *arguments: compiled(*arguments, "NO_INSTANCE"), int(fmu.stem[-1])
    )
    assert "FMU refused" in run_in_all_hosts(refusing).error


@pytest.mark.parametrize("fault", ["RATE_NAN", "RATE_INFINITE"])
def test_a_derivative_that_is_not_finite_at_the_start(fmu: Path, fault: str) -> None:
    end = run_in_all_hosts(fmu, fault=FAULTS[fault])
    assert "continuous state 2" in end.error and "at t = 0 s" in end.error


def test_an_output_that_is_no_number_is_a_finding(fmu: Path) -> None:
    end = run_in_all_hosts(fmu, fault=FAULTS["OUTPUT_NAN"], fault_at=0.22)
    assert end.error == "" and [witness for witness, _ in end.findings] == ["m.y"]


@pytest.mark.few(12)
@pytest.mark.parametrize(
    ("function", "status"),
    [(name, status) for name in FUNCTIONS if name not in NOT_IN_A_RUN for status in STATUSES],
)
def test_each_status_of_each_function(fmu: Path, function: str, status: str) -> None:
    since = 0.0 if function in CALLED_AT_START else 0.4 if function in CALLED_AT_EVENTS else 0.22
    end = run_in_all_hosts(fmu, function=FUNCTIONS[function], status=STATUSES[status], fault_at=since)
    if status == "warning" or (function, status) == ("NOMINALS", "discard"):
        assert end.error == "" and end.time == 1.0
    elif (function, status) == ("GET_RATES", "discard"):
        assert "derivatives at t = 0.22" in end.error
    elif (function, status) == ("GET_INDICATORS", "discard"):
        assert "nan at t = 0.22" in end.error
    else:
        assert f"failed with status {status}. It logged: that is how it is" in end.error


@pytest.mark.by_turns
@pytest.mark.parametrize("integrator", ["bdf", "explicit_euler", "radau5", "scipy_lsoda"])
def test_an_indicator_that_becomes_nan_ends_the_run_under_any_integrator(fmu: Path, integrator: str) -> None:
    model = cosim.Model("host")
    model.add("fmu.model_exchange", "m", fmu=fmu, fault=FAULTS["INDICATOR_NAN"], fault_at=0.22)
    with pytest.raises(
        cosim.SimulationError, match=r"m: .*event indicator 1 is nan at t = 0\.[23]"
    ) as caught:
        options = {"fixed_step": 0.01} if integrator == "explicit_euler" else {}
        model.simulate(until=1.0, integrator=f"integrators.{integrator}", **options)
    assert isinstance(caught.value.__cause__, cosim.FmuError)


def test_a_part_that_has_failed_is_not_called_again(fmu: Path) -> None:
    """After the status *error* FMI only allows to free the instance; a second step repeats the reason."""
    model = cosim.Model("host")
    parameters = {"function": FUNCTIONS["GET_RATES"], "status": STATUSES["error"], "fault_at": 0.22}
    model.add("fmu.model_exchange", "m", fmu=fmu, **parameters)
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.initialize()
    reasons = []
    for _ in range(2):
        with pytest.raises(cosim.SimulationError, match="failed with status") as caught:
            simulator.advance_to(1.0)
        reasons.append(str(caught.value.__cause__))
    assert reasons[0] == reasons[1] and reasons[0].count("that is how it is") == 1


@pytest.mark.few(1)
def test_an_indicator_that_becomes_nan_without_continuous_states(
    fmu: Path, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    stateless = make_misbehaving(tmp_path, compiled, int(fmu.stem[-1]), stateless=True)
    assert run_in_all_hosts(stateless, fault=FAULTS["NOTHING"]).time == 1.0
    end = run_in_all_hosts(stateless, fault=FAULTS["INDICATOR_NAN"], fault_at=0.22)
    assert "nan at t = 0.22" in end.error


@pytest.mark.by_turns
@pytest.mark.parametrize("fault", ["INDICATOR_NAN", "RATE_NAN", "ENDLESS"])
def test_the_error_names_the_faulty_fmu_of_two(fmu: Path, fault: str) -> None:
    parameters = {"fault": FAULTS[fault], "fault_at": 0.22 if "NAN" in fault else 0.4}
    starts = {f"b.{name}": value for name, value in parameters.items()}
    with pytest.raises(cosim.SimulationError, match=ERRORS[fault]) as error_of_joint:
        CoSimulation({"a": fmu, "b": fmu}, ["a.y -> b.push"], "joint", 0.1, starts=starts).simulate(1.0)
    model = cosim.Model("two")
    model.add("fmu.model_exchange", "a", fmu=fmu)
    model.add("fmu.model_exchange", "b", fmu=fmu, **parameters)
    model.connect("a.y", "b.push")
    with pytest.raises(cosim.SimulationError, match=ERRORS[fault]) as error_of_model:
        model.simulate(until=1.0, accuracy=1e-6)
    assert error_of_joint.value.participant == "b" and ": b" in str(error_of_model.value)  # type: ignore[attr-defined]
