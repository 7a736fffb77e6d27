"""Model Exchange FMUs in a co-simulation: cosim's integrators advance them and locate their events."""

import ctypes
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from bouncing_ball_fmu import (
    CONTINUOUS,
    UNSAVED,
    G,
    ball_without_saved_states,
    height,
    make_ball,
    odd_ball,
)
from swinging_balls import order

import cosim
from cosim_fmi.event_inputs import EventInputs
from cosim_fmi.fmu_clocks import FmuClocks
from cosim_fmu import CoSimulation
from cosim_master.model_exchange.evaluation import Evaluation
from cosim_master.model_exchange.fmu_model import FmuModel
from cosim_master.participants.create_participants import open_fmu
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant


@pytest.fixture(params=["true", "false"], ids=["steps not needed", "steps needed"])
def ball(request: pytest.FixtureRequest, tmp_path: Path, compiled: Callable[..., Path]) -> Path:
    return make_ball(tmp_path, compiled, request.param)


def test_derivatives_are_computed_before_variables_are_read(ball: Path) -> None:
    """Some FMUs update variables only there: der(v) shows when derivatives were computed last."""
    result = CoSimulation({"m": ball}, [], "jacobi", 0.07).simulate(0.9, record=["m.der(v)"])
    assert len(result) > 14 and result["m.der(v)"].tolist() == result.time.tolist()


@pytest.mark.few(1)
@pytest.mark.parametrize("macros", [(), ("NEXT=b->time-1e-9",)], ids=["plain", "next_event_is_past"])
def test_indicators_that_cross_at_once_are_one_event(
    tmp_path: Path, compiled: Callable[..., Path], macros: tuple[str, ...]
) -> None:
    path = odd_ball(tmp_path, compiled, *macros, indicators=3)
    result = CoSimulation({"m": path}, [], "jacobi", 0.05).simulate(1.5, inside="nothing")
    assert result["m.h"] == pytest.approx([height(t) for t in result.time], abs=1e-7)
    assert result["m.bounces"][-1] == 2


def test_state_and_time_event_of_one_instant_are_one_event(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    path = odd_ball(tmp_path, compiled, "INDICATOR=(time-0.25)")
    result = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.kick_at": 0.25}).simulate(0.4)
    assert [(e.time, e.cause.name) for e in result.events if e.changed] == [(0.25, "TRIGGERED")]
    assert result["m.v"][-1] == pytest.approx(1.0 - G * 0.4)


def test_an_indicator_that_becomes_nan_stops_the_run(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    loop = CoSimulation({"m": odd_ball(tmp_path, compiled, "LOST_AT=0.22")}, [], "jacobi", 0.1)
    with pytest.raises(cosim.SimulationError, match=r"m: .*event indicator 1 is nan.*t = 0\.2"):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(0.2)


def test_an_indicator_that_has_never_been_finite_may_be_nan(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    """NaN until 0.4 s: rejected steps have seen later, finite values, and start again before that."""
    path = odd_ball(tmp_path, compiled, "UNKNOWN_UNTIL=0.4")
    result = CoSimulation({"m": path}, [], "adaptive", 0.3).simulate(0.9, inside="nothing")
    assert result["m.h"] == pytest.approx([height(t) for t in result.time], abs=1e-7)


def test_an_indicator_is_undefined_if_it_was_finite_at_an_earlier_time() -> None:
    """NaN except from 0.4 s to 0.6 s: after 0.41 s was evaluated, 0.39 s is fine and 0.7 s is not."""
    # an instance of two functions in place of an FMU
    now = [0.0]

    def set_time(handle: int, time: float) -> int:
        now[0] = time
        return 0

    def indicator(handle: int, into: Any, count: int) -> int:
        into[0] = 1.0 if 0.4 <= now[0] < 0.6 else np.nan
        return 0

    word, real = ctypes.c_int64, ctypes.c_double
    calls: dict[str, Any] = {
        "SetTime": ctypes.CFUNCTYPE(ctypes.c_int32, word, real)(set_time),
        "GetEventIndicators": ctypes.CFUNCTYPE(ctypes.c_int32, word, ctypes.POINTER(real), word)(indicator),
    }
    instance: Any = SimpleNamespace(
        library=SimpleNamespace(
            function=calls.__getitem__, address=lambda name: ctypes.cast(calls[name], ctypes.c_void_p).value
        ),
        component=0,
        step_arguments=lambda at: (0, 0, 0),
        check_allowed=lambda function: None,
    )
    clocks = FmuClocks(instance, {}, {})
    inputs = EventInputs(None, instance, clocks, lambda names, values: None, lambda call, *of: call(*of))
    model = FmuModel(instance, 0, 1, None, inputs)
    evaluation = Evaluation([model])
    times = (0.3, 0.5, 0.39, 0.41, 0.7)
    is_undefined = [bool(evaluation.evaluate(time, [], []) and model.block.undefined) for time in times]
    assert is_undefined == [False, False, False, False, True]


@pytest.mark.parametrize(("status", "wording"), [(3, "error"), (4, "fatal")])
def test_a_failure_in_event_mode_stops_the_run(
    tmp_path: Path, compiled: Callable[..., Path], status: int, wording: str
) -> None:
    loop = CoSimulation({"m": odd_ball(tmp_path, compiled, f"BOUNCE_STATUS={status}")}, [], "jacobi", 0.1)
    with pytest.raises(cosim.SimulationError, match=f"fmi2NewDiscreteStates: failed with status {wording}"):
        loop.simulate(1.0)
    assert loop.result is not None and loop.result.time[-1] == pytest.approx(np.sqrt(2.0 / G))


@pytest.mark.parametrize(
    ("next_event", "message"),
    [("NAN", "the time of the next event is nan"), ("b->time+1e-14", "101 time events within 1e-12 s")],
)
def test_a_next_event_at_nan_or_one_after_the_other_at_one_time_is_an_error(
    tmp_path: Path, compiled: Callable[..., Path], next_event: str, message: str
) -> None:
    path = odd_ball(tmp_path, compiled, f"NEXT={next_event}")
    with pytest.raises(cosim.SimulationError, match=f"odd_ball.fmu: .*{message}"):
        CoSimulation({"m": path}, [], "jacobi", 0.1).simulate(1.0)


def test_description(ball: Path) -> None:
    participant = open_fmu(ball)
    assert isinstance(participant, ModelExchangeParticipant)
    description = participant.describe()
    assert description.kind == "FMI 2.0 Model Exchange"
    assert description.can_restore and not description.can_serialize


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "dormand_prince", "radau5"])
def test_state_events_are_located(ball: Path, integrator: str) -> None:
    participant = ModelExchangeParticipant(ball, integrator=f"integrators.{integrator}", accuracy=1e-9)
    result = CoSimulation({"ball": participant}, [], "jacobi", 0.1).simulate(1.5)
    assert result["ball.h"] == pytest.approx([height(t) for t in result.time], abs=1e-6)
    assert result["ball.bounces"][-1] == 2
    assert result.statistics["in_python"] == {}


def test_time_event_and_inputs(ball: Path) -> None:
    starts = {"ball.kick_at": 0.25, "ball.push": 1.0}
    result = CoSimulation({"ball": ball}, [], "jacobi", 0.1, starts=starts, tolerance=1e-9).simulate(0.4)
    exact = [1.0 - 0.5 * (G - 1.0) * t * t + max(0.0, t - 0.25) for t in result.time]
    assert result["ball.h"] == pytest.approx(exact, abs=1e-8)


def test_discrete_inputs_are_set_in_event_mode(ball: Path) -> None:
    participant = open_fmu(ball, accuracy=1e-9)
    participant.initialize(0.0, None, {})
    try:
        participant.step(0.0, 0.2)
        participant.set(["gear", "push"], [5, 0.0])
        participant.step(0.2, 0.5)
        assert participant.get(["h"])[0] == pytest.approx(height(0.7, restitution=0.5), abs=1e-6)
        assert participant.get(["bounces", "gear"]) == [1, 5]
    finally:
        participant.close()


def test_a_request_to_stop_ends_the_run_at_the_next_communication_point(ball: Path) -> None:
    result = CoSimulation({"ball": ball}, [], "jacobi", 0.1, starts={"ball.stop_after": 1}).simulate(2.0)
    assert "stop at 0.4515" in result.message
    assert result.time[-1] == pytest.approx(0.5)


def test_rollback_is_exact(ball: Path) -> None:
    participant = open_fmu(ball)
    participant.initialize(0.0, None, {"kick_at": 0.6})
    try:
        participant.step(0.0, 0.4)
        token = participant.save()
        first_step = [participant.step(0.4, 0.4), *participant.get(["h", "v", "bounces"])]
        for _ in range(2):
            participant.restore(token)
            assert [participant.step(0.4, 0.4), *participant.get(["h", "v", "bounces"])] == first_step
    finally:
        participant.close()


def test_model_exchange_and_co_simulation_in_one_coupling(ball: Path, make_fmu: Callable[..., Path]) -> None:
    """The push is half the height, by a gain for Co-Simulation: h'' = -g + h / 2 until the impact."""
    parts: dict[str, Any] = {"ball": ball, "gain": make_fmu("gain")}
    links = [("ball.h", "gain.u"), ("gain.y", "ball.push")]
    loop = CoSimulation(parts, links, "waveform_iteration", 0.01, starts={"gain.gain": 0.5}, tolerance=1e-9)
    result = loop.simulate(0.4)
    rate = np.sqrt(0.5)
    exact = 2.0 * G + (1.0 - 2.0 * G) * np.cosh(rate * result.time)
    assert result["ball.h"] == pytest.approx(exact, abs=1e-5)


def test_unknown_integrators_and_options_name_the_nearest(ball: Path) -> None:
    with pytest.raises(cosim.LookUpError, match="runge_kutta_merson"):
        ModelExchangeParticipant(ball, integrator="integrators.runge_kutta_mersen")
    with pytest.raises(cosim.ModelError, match="'acuracy'. Nearest: accuracy"):
        ModelExchangeParticipant(ball, acuracy=1e-6)
    ModelExchangeParticipant(ball, endless_events="stop", accuracy=1e-6)


@pytest.mark.few(3)
@pytest.mark.parametrize(
    ("algorithm", "options", "expected"),
    [
        ("jacobi", {}, 1),
        ("jacobi", {"extrapolation": 1}, 2),
        ("gauss_seidel", {"extrapolation": 1}, 2),
        ("waveform_iteration", {}, 2),
    ],
)
def test_errors_fall_with_the_order_of_the_algorithm(
    ball: Path, algorithm: str, options: dict[str, Any], expected: float
) -> None:
    """The orders that theory gives participants which step exactly."""
    parts = {name: open_fmu(ball, name) for name in "ab"}
    assert order(parts, "h", algorithm, options) == pytest.approx(expected, abs=0.2)


def test_rollback_without_continuous_inputs(ball: Path) -> None:
    with zipfile.ZipFile(ball) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    push = b'name="push" valueReference="2" causality='
    description = members["modelDescription.xml"]
    members["modelDescription.xml"] = description.replace(push + b'"input"', push + b'"local"')
    with zipfile.ZipFile(ball, "w") as archive:
        for name, data in members.items():
            archive.writestr(name, data)
    parts = {name: open_fmu(ball, name) for name in "ab"}
    links = [("a.bounces", "b.gear"), ("b.bounces", "a.gear")]
    for algorithm in ("waveform_iteration", "interface_newton"):
        result = CoSimulation(parts, links, algorithm, 0.1, tolerance=1e-9).simulate(0.4, inside="nothing")
        assert result["a.h"] == pytest.approx([height(t) for t in result.time], abs=1e-6)


@pytest.mark.parametrize("algorithm", ["interface_newton", "waveform_iteration"])
def test_continuous_states_are_rolled_back_without_saved_states(
    tmp_path: Path, compiled: Callable[..., Path], algorithm: str
) -> None:
    """Through impacts: what the FMU remembers of its event indicator goes back, too."""
    path = ball_without_saved_states(tmp_path, compiled, CONTINUOUS)
    description = open_fmu(path).describe()
    assert description.can_restore and not description.can_serialize
    result = CoSimulation({"m": path}, [], algorithm, 0.3).simulate(1.5, inside="nothing")
    assert result["m.h"] == pytest.approx([height(t) for t in result.time], abs=1e-7)

    # the participant alone
    participant = open_fmu(path)
    participant.initialize(0.0, None, {})
    with pytest.raises(cosim.FmuError, match="before its initialization"):
        participant.save()
    participant.exit_initialization()
    participant.step(0.0, 0.4)
    token, before = participant.save(), list(participant.get(["h", "v"]))
    participant.step(0.4, 0.3)
    after = list(participant.get(["h", "v"]))
    participant.restore(token)
    assert list(participant.get(["h", "v"])) == before
    participant.step(0.4, 0.3)
    assert list(participant.get(["h", "v"])) == after
    participant.close()


def test_discrete_variables_are_not_rolled_back_without_saved_states(
    tmp_path: Path, compiled: Callable[..., Path]
) -> None:
    path = ball_without_saved_states(tmp_path, compiled, UNSAVED)
    assert not open_fmu(path).describe().can_restore
    with pytest.raises(cosim.ModelError, match="without, adaptive, gauss_seidel"):
        CoSimulation({"m": path}, [], "waveform_iteration", 0.3)


def test_inputs_are_never_read_back(tmp_path: Path, compiled: Callable[..., Path]) -> None:
    """This FMU, like some others, fails if its inputs are read."""
    path = ball_without_saved_states(tmp_path, compiled, CONTINUOUS, "HIDES_INPUTS")
    result = CoSimulation({"m": path}, [], "jacobi", 0.1, starts={"m.push": 9.81}).simulate(0.5)
    assert result["m.h"] == pytest.approx(1.0, abs=1e-9)
