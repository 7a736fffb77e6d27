"""One faulty FMU as a participant, jointly and as a part of a model: the same end, in the same words."""

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
FAULTS, FUNCTIONS = names_of("fault"), names_of("function")
STATUSES = {"warning": 1, "discard": 2, "error": 3, "fatal": 4}
IMPACT = math.sqrt(2.0 / 9.81)
CALLED_AT_EVENTS = ("ENTER_EVENT", "UPDATE", "CONTINUOUS", "GET_STATES")
CALLED_AT_BEGIN = ("NOMINALS", "ENTER_INITIALIZATION", "EXIT_INITIALIZATION", "GET_INTEGER", "SET_INTEGER")
NOT_IN_A_RUN = ("NONE", "TERMINATE")


class End(NamedTuple):
    """How a run ended: its error as the FMU's, or why it stopped; and its last values."""

    error: str
    reason: str
    message: str
    findings: list[tuple[str, str]]
    height: float
    time: float


def causes(error: BaseException) -> list[BaseException]:
    found = [error]
    while (cause := found[-1].__cause__) is not None:
        assert all(cause is not each for each in found), "an error is its own cause"
        found.append(cause)
    return found


def run(host: str, fmu: Path, **given: Any) -> End:
    try:
        if host in ("jacobi", "joint"):
            starts = {f"m.{name}": value for name, value in given.items()}
            result: Any = CoSimulation({"m": fmu}, [], host, 0.1, starts=starts).simulate(1.0)
        else:
            model = cosim.Model("host")
            model.add("fmu.model_exchange", "m", fmu=fmu, **given)
            result = model.simulate(
                until=1.0,
                accuracy=1e-6,
                integrator="integrators.runge_kutta_merson",
                output_interval=0.1,
            )
    except cosim.SimulationError as error:
        own = [each for each in causes(error) if isinstance(each, cosim.FmuError)]
        assert own and str(own[0]) in str(error)
        return End(str(own[0]), "", str(error), [], math.nan, error.time)
    findings = [(each.witness, each.message) for each in result.findings]
    reason = result.message.rpartition(": ")[2]
    return End("", reason, result.message, findings, float(result["m.h"][-1]), float(result.time[-1]))


@pytest.fixture(scope="module", params=[2, 3], ids=["FMI 2.0", "FMI 3.0"])
def fmu(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory, compiled: Any) -> Path:
    return make_misbehaving(tmp_path_factory.mktemp("fmu"), compiled, request.param)


def all_hosts(fmu: Path, **given: Any) -> End:
    """The end in the first host, and that of the others is the same."""
    first, *others = [run(host, fmu, **given) for host in HOSTS]
    for other in others:
        assert (other.error, other.reason, other.findings) == (first.error, first.reason, first.findings)
        assert other.height == pytest.approx(first.height, abs=1e-6, nan_ok=True)
    return first


ENDS = {
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


@pytest.mark.few(4)
@pytest.mark.parametrize("fault", ENDS)
def test_what_ends_with_an_error(fmu: Path, fault: str) -> None:
    late = fault.startswith(("STATE", "ENDLESS"))
    end = all_hosts(fmu, fault=FAULTS[fault], fault_at=0.4 if late else 0.22)
    assert end.error.startswith(f"{fmu}: ") and ENDS[fault] in end.error


@pytest.mark.few(2)
@pytest.mark.parametrize(
    ("fault", "time"), [("STOP_AT_BEGIN", 0.0), ("STOP_AT_EVENT", IMPACT), ("STOP_AT_STEP", None)]
)
def test_what_asks_to_stop(fmu: Path, fault: str, time: float | None) -> None:
    ends = [run(host, fmu, fault=FAULTS[fault], fault_at=0.22) for host in HOSTS]
    assert {(end.error, end.reason) for end in ends} == {("", "that is how it is")}
    if time is not None:
        told = [re.search(r"asked to stop at (?:t = )?([\d.]+)", end.message) for end in ends]
        assert [float(each[1]) for each in told if each] == pytest.approx([time] * 3, abs=1e-8)
        last = [0.5, 0.5, time] if time else [0.0, 0.0, 0.0]  # or the communication point behind it
        assert [end.time for end in ends] == pytest.approx(last, abs=1e-9)
        assert [end.height for end in ends] == pytest.approx([0.0 if time else 1.0] * 3, abs=1e-6)


@pytest.mark.by_turns
@pytest.mark.parametrize("fault", ["NOTHING", "NEXT_PAST", "NOMINAL_NAN", "RATE_NAN_ONCE"])
def test_what_is_borne(fmu: Path, fault: str) -> None:
    end = all_hosts(fmu, fault=FAULTS[fault], fault_at=0.22)
    assert end.error == end.reason == "" and end.time == 1.0 and end.findings == []
    after = 1.0 - IMPACT
    assert end.height == pytest.approx(0.7 * 9.81 * IMPACT * after - 0.5 * 9.81 * after**2, abs=1e-6)


def test_an_indicator_that_never_was_a_number_is_told(fmu: Path) -> None:
    """It falls through the floor, since nobody knows when it meets it."""
    text = "event indicator 1, at t = 0 s: is not a number (NaN): it does not fire while that is so"
    for algorithm in ("jacobi", "joint"):
        starts = {"m.fault": FAULTS["INDICATOR_NAN"]}
        result = CoSimulation({"m": fmu}, [], algorithm, 0.1, starts=starts).simulate(1.0)
        assert [text in warning for warning in result.warnings] == [True]
    end = run("part of a model", fmu, fault=FAULTS["INDICATOR_NAN"])
    assert [witness for witness, _ in end.findings] == ["m.indicator_0"]
    assert end.findings[0][1].startswith("is not a number (NaN): it does not fire while that is so")


def test_the_joint_member_whose_indicator_is_no_number_is_named(fmu: Path) -> None:
    starts = {"b.fault": FAULTS["INDICATOR_NAN"]}
    result = CoSimulation({"a": fmu, "b": fmu}, [], "joint", 0.1, starts=starts).simulate(0.3)
    assert [warning.partition(",")[0] for warning in result.warnings] == ["b: event indicator 1"]


@pytest.mark.few(2)
@pytest.mark.parametrize("status", STATUSES)
def test_a_termination_that_fails_loses_no_result(
    fmu: Path, status: str, caplog: pytest.LogCaptureFixture
) -> None:
    given = {"function": FUNCTIONS["TERMINATE"], "status": STATUSES[status]}
    end = all_hosts(fmu, **given)
    assert end.error == "" and end.time == 1.0 and end.height > 0.0
    fails = status != "warning"
    text = f"it did not end as it should: {fmu}: fmi{fmu.stem[-1]}Terminate: failed with status {status}"
    starts = {f"m.{name}": value for name, value in given.items()}
    for algorithm in ("jacobi", "joint"):
        result = CoSimulation({"m": fmu}, [], algorithm, 0.1, starts=starts).simulate(0.2)
        assert any(text in warning for warning in result.warnings) is fails
    caplog.clear()
    model = cosim.Model("host")
    part = model.add("fmu.model_exchange", "m", fmu=fmu, **given)
    model.simulate(until=0.2)
    part.close()
    assert any(text in record.message for record in caplog.records) is fails


@pytest.mark.few(1)
def test_a_refused_instance_ends_all_hosts_alike(
    fmu: Path, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    none = make_misbehaving(tmp_path, lambda *given: compiled(*given, "NO_INSTANCE"), int(fmu.stem[-1]))
    assert "FMU refused" in all_hosts(none).error


@pytest.mark.parametrize("fault", ["RATE_NAN", "RATE_INFINITE"])
def test_a_derivative_that_never_is_finite(fmu: Path, fault: str) -> None:
    end = all_hosts(fmu, fault=FAULTS[fault])
    assert "continuous state 2" in end.error and "at t = 0 s" in end.error


def test_an_output_that_is_no_number_is_a_finding(fmu: Path) -> None:
    end = all_hosts(fmu, fault=FAULTS["OUTPUT_NAN"], fault_at=0.22)
    assert end.error == "" and [witness for witness, _ in end.findings] == ["m.y"]


@pytest.mark.few(12)
@pytest.mark.parametrize(
    ("function", "status"),
    [(name, status) for name in FUNCTIONS if name not in NOT_IN_A_RUN for status in STATUSES],
)
def test_each_status_of_each_function(fmu: Path, function: str, status: str) -> None:
    since = 0.0 if function in CALLED_AT_BEGIN else 0.4 if function in CALLED_AT_EVENTS else 0.22
    end = all_hosts(fmu, function=FUNCTIONS[function], status=STATUSES[status], fault_at=since)
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
def test_an_indicator_is_lost_under_any_method(fmu: Path, integrator: str) -> None:
    model = cosim.Model("host")
    model.add("fmu.model_exchange", "m", fmu=fmu, fault=FAULTS["INDICATOR_NAN"], fault_at=0.22)
    with pytest.raises(cosim.SimulationError, match=r"m: .*event indicator 1 is nan at t = 0\.[23]") as found:
        fixed = {"fixed_step": 0.01} if integrator == "explicit_euler" else {}
        model.simulate(until=1.0, integrator=f"integrators.{integrator}", **fixed)
    assert isinstance(found.value.__cause__, cosim.FmuError)


def test_a_part_that_has_failed_is_not_called_again(fmu: Path) -> None:
    """After *error* FMI allows an instance to be freed alone; the reason stays what it was."""
    model = cosim.Model("host")
    given = {"function": FUNCTIONS["GET_RATES"], "status": STATUSES["error"], "fault_at": 0.22}
    model.add("fmu.model_exchange", "m", fmu=fmu, **given)
    simulator = cosim.Simulator(model.build(), accuracy=1e-6)
    simulator.initialize()
    said = []
    for _ in range(2):
        with pytest.raises(cosim.SimulationError, match="failed with status") as found:
            simulator.advance_to(1.0)
        said.append(str(found.value.__cause__))
    assert said[0] == said[1] and said[0].count("that is how it is") == 1


@pytest.mark.few(1)
def test_an_indicator_is_lost_without_continuous_states(
    fmu: Path, tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    still = make_misbehaving(tmp_path, compiled, int(fmu.stem[-1]), stateless=True)
    assert all_hosts(still, fault=FAULTS["NOTHING"]).time == 1.0
    end = all_hosts(still, fault=FAULTS["INDICATOR_NAN"], fault_at=0.22)
    assert "nan at t = 0.22" in end.error


@pytest.mark.by_turns
@pytest.mark.parametrize("fault", ["INDICATOR_NAN", "RATE_NAN", "ENDLESS"])
def test_the_faulty_one_of_two_is_named(fmu: Path, fault: str) -> None:
    given = {"fault": FAULTS[fault], "fault_at": 0.22 if "NAN" in fault else 0.4}
    starts = {f"b.{name}": value for name, value in given.items()}
    with pytest.raises(cosim.SimulationError, match=ENDS[fault]) as jointly:
        CoSimulation({"a": fmu, "b": fmu}, ["a.y -> b.push"], "joint", 0.1, starts=starts).simulate(1.0)
    model = cosim.Model("two")
    model.add("fmu.model_exchange", "a", fmu=fmu)
    model.add("fmu.model_exchange", "b", fmu=fmu, **given)
    model.connect("a.y", "b.push")
    with pytest.raises(cosim.SimulationError, match=ENDS[fault]) as as_parts:
        model.simulate(until=1.0, accuracy=1e-6)
    assert jointly.value.participant == "b" and ": b" in str(as_parts.value)  # type: ignore[attr-defined]
