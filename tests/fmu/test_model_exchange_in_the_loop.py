"""Model Exchange FMUs in the compiled steps, alone and jointly: the same bytes as in the loop in Python."""

from collections.abc import Callable
from contextlib import nullcontext
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from bouncing_ball_fmu import CONTINUOUS, G, ball_without_saved_states, make_ball, odd_ball
from compared_loops import assert_same_runs
from joint_systems import FORCE, LOOP, Spring
from loop_in_python import loop_in_python
from misbehaving_fmu import make_misbehaving
from part_fmu import make_part

import cosim
from cosim import kit
from cosim_fmu import CoSimulation
from cosim_master.exchange import compiled_loop
from cosim_master.participants.model_exchange_participant import ModelExchangeParticipant

pytestmark = pytest.mark.skipif(kit.is_plain(), reason="nothing is compiled here")
Compiled = Callable[..., Path]
CAR = {"wheel.k": 1600.0, "wheel.m": 4.0, "body.k": 160.0, "body.c": 10.0, "body.m": 30.0}
ALGORITHMS = ["jacobi", "gauss_seidel", "adaptive", "waveform_iteration", "interface_newton", "joint"]


@pytest.fixture(autouse=True)
def always_compiled(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(compiled_loop, "FEW", 0)


def compare_loops(make: Callable[[], CoSimulation], until: float, inside: str = "events") -> cosim.Result:
    """The result of the compiled loop; the loop in Python gives the same, events and the error included."""
    results, errors = [], []
    for loop_of_run in (nullcontext, loop_in_python):
        loop, error = make(), ""
        try:
            with loop_of_run():
                loop.simulate(until, inside=inside)
        except cosim.SimulationError as failure:
            error = str(failure)
        assert loop.result is not None
        results.append(loop.result)
        errors.append(error)
    compiled, in_python = results
    assert compiled.statistics["in_python"] == {} and in_python.statistics["loop"] == "Python"
    assert errors[0] == errors[1] and compiled.message == in_python.message
    assert_same_runs(compiled, in_python)
    return compiled


@pytest.mark.few(2)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_quarter_car_that_is_cut_in_two(tmp_path: Path, compiled: Compiled, algorithm: str) -> None:
    part = make_part(tmp_path, compiled)
    result = compare_loops(
        lambda: CoSimulation({"body": part, "wheel": part}, FORCE, algorithm, 0.01, starts=CAR), 0.3
    )
    assert np.ptp(result["wheel.x"]) > 0.1


@pytest.mark.few(1)
@pytest.mark.parametrize("order", [0, 1, 2])
def test_extrapolated_inputs(tmp_path: Path, compiled: Compiled, order: int) -> None:
    part = make_part(tmp_path, compiled)

    def make() -> CoSimulation:
        parts, options = {"body": part, "wheel": part}, {"extrapolation": order}
        return CoSimulation(parts, FORCE, "jacobi", 0.01, starts=CAR, options=options)

    assert np.ptp(compare_loops(make, 0.3)["wheel.x"]) > 0.1


@pytest.mark.few(2)
@pytest.mark.parametrize("inside", ["events", "nothing"])
@pytest.mark.parametrize("step_not_needed", ["true", "false"])
@pytest.mark.parametrize("algorithm", ["jacobi", "joint", "adaptive", "waveform_iteration"])
def test_events_inside_steps(
    tmp_path: Path, compiled: Compiled, algorithm: str, step_not_needed: str, inside: str
) -> None:
    ball = make_ball(tmp_path, compiled, step_not_needed)
    starts = {"m.kick_at": 0.3}
    make = lambda: CoSimulation({"m": ball}, [], algorithm, 0.07, starts=starts)  # noqa: E731
    result = compare_loops(make, 1.5, inside=inside)
    assert result["m.bounces"][-1] >= 2 and len([e for e in result.events if e.changed]) >= 3


@pytest.mark.parametrize("algorithm", ["jacobi", "joint"])
def test_an_event_at_a_communication_point_belongs_to_the_step_before(
    tmp_path: Path, compiled: Compiled, algorithm: str
) -> None:
    ball = make_ball(tmp_path, compiled, "true")
    make = lambda: CoSimulation({"m": ball}, [], algorithm, 0.125, starts={"m.kick_at": 0.25})  # noqa: E731
    result = compare_loops(make, 1.0, inside="nothing")
    row = int(np.flatnonzero(result.time == 0.25)[-1])
    assert [e.time for e in result.events if e.cause is cosim.EventCause.SCHEDULED] == [0.25]
    assert result["m.v"][row] == pytest.approx(1.0 - G * 0.25)  # kicked


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel", "joint"])
def test_discrete_inputs_are_set_in_event_mode(tmp_path: Path, compiled: Compiled, algorithm: str) -> None:
    part = make_part(tmp_path, compiled)
    starts = {"p.k": 3.0, "p.limit": 0.9, "q.k": 20.0}
    links = ["p.x -> q.road", "p.high -> q.held", "q.reaction -> p.force"]
    make = lambda: CoSimulation({"p": part, "q": part}, links, algorithm, 0.05, starts=starts)  # noqa: E731
    result = compare_loops(make, 4.0)
    assert result["q.passes"][-1] >= 2 and set(result["p.high"].tolist()) == {0, 1}


@pytest.mark.few(1)
@pytest.mark.parametrize("others", ["jacobi", "gauss_seidel", "waveform_iteration"])
def test_joint_beside_a_python_object(tmp_path: Path, compiled: Compiled, others: str) -> None:
    part = make_part(tmp_path, compiled)
    starts = {"p.k": 3.0, "p.gain": 0.5, "p.bias": 1.0, "q.k": 20.0, "q.gain": -0.7, "q.square": 0.1}
    links = ["p.x -> q.road", "q.reaction -> p.force", *LOOP, "q.x -> s.one", "s.pull -> q.force"]

    def make() -> CoSimulation:
        parts = {"p": part, "s": Spring(5.0), "q": part}
        return CoSimulation(parts, links, "joint", 0.1, starts=starts, options={"others": others})

    compiled_result = make().simulate(1.0)
    assert list(compiled_result.statistics["in_python"]) == ["s"]
    with loop_in_python():
        assert_same_runs(compiled_result, make().simulate(1.0))


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "joint", "waveform_iteration"])
@pytest.mark.parametrize("starts", [{"p.fail_at": 0.33}, {"p.stop_at": 0.33}, {"p.stop_at": 0.4}])
def test_failures_and_requests_to_stop(
    tmp_path: Path, compiled: Compiled, algorithm: str, starts: dict[str, float]
) -> None:
    part = make_part(tmp_path, compiled)
    make = lambda: CoSimulation({"p": part, "q": part}, ["p.x -> q.road"], algorithm, 0.1, starts=starts)  # noqa: E731
    result = compare_loops(make, 1.0)
    assert result.time[-1] < 0.5


@pytest.mark.parametrize("algorithm", ["jacobi", "joint"])
def test_an_event_indicator_that_becomes_nan(tmp_path: Path, compiled: Compiled, algorithm: str) -> None:
    ball = odd_ball(tmp_path, compiled, "LOST_AT=0.22")
    result = compare_loops(lambda: CoSimulation({"m": ball}, [], algorithm, 0.1), 1.0)
    assert result.time[-1] == pytest.approx(0.2)


@pytest.mark.by_turns
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("algorithm", ["jacobi", "joint", "adaptive"])
def test_the_same_fmu_for_fmi_2_and_3(
    tmp_path: Path, compiled: Compiled, version: int, algorithm: str
) -> None:
    fmu = make_misbehaving(tmp_path, compiled, version)
    part = {} if algorithm == "joint" else {"m": ModelExchangeParticipant(fmu)}
    result = compare_loops(lambda: CoSimulation({"m": fmu, **part}, [], algorithm, 0.1), 1.0)
    assert result["m.h"][-1] > 0.0


@pytest.mark.parametrize("algorithm", ["jacobi", "joint"])
def test_the_number_of_python_calls_does_not_depend_on_the_number_of_steps(
    tmp_path: Path, compiled: Compiled, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, calls = make_part(tmp_path, compiled), list[str]()
    for name in ("set", "step", "get"):
        method = getattr(ModelExchangeParticipant, name)

        def record_and_call(self: Any, *arguments: Any, name: str = name, method: Any = method) -> Any:
            calls.append(name)
            return method(self, *arguments)

        monkeypatch.setattr(ModelExchangeParticipant, name, record_and_call)
    counts = []
    for steps in (10, 100):
        calls.clear()
        loop = CoSimulation({"body": part, "wheel": part}, FORCE, algorithm, 0.01, starts=CAR)
        loop.simulate(0.01 * steps, inside="nothing")
        counts.append(len(calls))
    assert counts[0] == counts[1]


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["waveform_iteration", "interface_newton"])
def test_events_in_steps_that_are_repeated(tmp_path: Path, compiled: Compiled, algorithm: str) -> None:
    """Two masses push each other; one of them passes its limit several times."""
    part = make_part(tmp_path, compiled)
    starts = {"p.k": 30.0, "p.limit": 0.5, "q.k": 20.0, "q.x": -0.5, "q.limit": 0.2}
    links = ["p.x -> q.road", "q.reaction -> p.force", "q.high -> p.held"]
    make = lambda: CoSimulation({"p": part, "q": part}, links, algorithm, 0.05, starts=starts)  # noqa: E731
    result = compare_loops(make, 1.0)
    assert len([e for e in result.events if e.changed]) >= 2
    assert result.statistics["algorithm"]["iterations"] > 2 * result.statistics["steps"]


@pytest.mark.parametrize("algorithm", ["waveform_iteration", "joint"])
def test_rollback_of_an_fmu_that_saves_no_states(tmp_path: Path, compiled: Compiled, algorithm: str) -> None:
    """Its continuous states are set back; the last value of its event indicator is saved in Python."""
    ball = ball_without_saved_states(tmp_path, compiled, CONTINUOUS)
    result = compare_loops(lambda: CoSimulation({"m": ball}, [], algorithm, 0.3), 1.5, inside="nothing")
    assert len([e for e in result.events if e.changed]) >= 2
