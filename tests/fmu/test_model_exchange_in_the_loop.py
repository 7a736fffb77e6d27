"""Model Exchange FMUs in the compiled steps, alone and jointly: the same bytes as in the loop in Python."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from compared_loops import assert_same_runs as same
from joint_systems import FORCE, LOOP, Spring
from loop_in_python import loop_in_python
from misbehaving_fmu import make_misbehaving
from part_fmu import make_part
from test_model_exchange import CONTINUOUS, G, ball_without_saved_states, make_ball, odd_ball

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


def agree(make: Callable[[], CoSimulation], until: float, **more: Any) -> cosim.Result:
    """Compiled against the loop in Python: results, events, or the error and all before it."""
    found = []
    for oracle in (False, True):
        loop, error = make(), ""
        try:
            if oracle:
                with loop_in_python():
                    loop.simulate(until, **more)
            else:
                loop.simulate(until, **more)
        except cosim.SimulationError as failed:
            error = str(failed)
        assert loop.result is not None
        found.append((loop.result, error))
    (one, error), (other, wanted) = found
    assert one.statistics["in_python"] == {} and other.statistics["loop"] == "Python"
    assert error == wanted and one.message == other.message
    same(one, other)
    return one


@pytest.mark.few(2)
@pytest.mark.parametrize("algorithm", ALGORITHMS)
def test_a_cut_car(tmp_path: Path, compiled: Compiled, algorithm: str) -> None:
    part = make_part(tmp_path, compiled)
    result = agree(
        lambda: CoSimulation({"body": part, "wheel": part}, FORCE, algorithm, 0.01, starts=CAR), 0.3
    )
    assert np.ptp(result["wheel.x"]) > 0.1


@pytest.mark.few(1)
@pytest.mark.parametrize("order", [0, 1, 2])
def test_inputs_that_run_along_lines(tmp_path: Path, compiled: Compiled, order: int) -> None:
    part = make_part(tmp_path, compiled)
    more: dict[str, Any] = {"starts": CAR, "options": {"extrapolation": order}}
    make = lambda: CoSimulation({"body": part, "wheel": part}, FORCE, "jacobi", 0.01, **more)  # noqa: E731
    assert np.ptp(agree(make, 0.3)["wheel.x"]) > 0.1


@pytest.mark.few(2)
@pytest.mark.parametrize("inside", ["events", "nothing"])
@pytest.mark.parametrize("told", ["true", "false"])
@pytest.mark.parametrize("algorithm", ["jacobi", "joint", "adaptive", "waveform_iteration"])
def test_events_inside_steps(
    tmp_path: Path, compiled: Compiled, algorithm: str, told: str, inside: str
) -> None:
    ball = make_ball(tmp_path, compiled, told)
    starts = {"m.kick_at": 0.3}
    make = lambda: CoSimulation({"m": ball}, [], algorithm, 0.07, starts=starts)  # noqa: E731
    result = agree(make, 1.5, inside=inside)
    assert result["m.bounces"][-1] >= 2 and len([e for e in result.events if e.changed]) >= 3


@pytest.mark.parametrize("algorithm", ["jacobi", "joint"])
def test_an_event_at_a_communication_point_belongs_to_the_step_before(
    tmp_path: Path, compiled: Compiled, algorithm: str
) -> None:
    ball = make_ball(tmp_path, compiled, "true")
    make = lambda: CoSimulation({"m": ball}, [], algorithm, 0.125, starts={"m.kick_at": 0.25})  # noqa: E731
    result = agree(make, 1.0, inside="nothing")
    at = int(np.flatnonzero(result.time == 0.25)[-1])
    assert [e.time for e in result.events if e.cause is cosim.EventCause.SCHEDULED] == [0.25]
    assert result["m.v"][at] == pytest.approx(1.0 - G * 0.25)  # kicked


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel", "joint"])
def test_discrete_inputs_go_through_event_mode(tmp_path: Path, compiled: Compiled, algorithm: str) -> None:
    part = make_part(tmp_path, compiled)
    starts = {"p.k": 3.0, "p.limit": 0.9, "q.k": 20.0}
    links = ["p.x -> q.road", "p.high -> q.held", "q.reaction -> p.force"]
    make = lambda: CoSimulation({"p": part, "q": part}, links, algorithm, 0.05, starts=starts)  # noqa: E731
    result = agree(make, 4.0)
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

    found = []
    for oracle in (False, True):
        if oracle:
            with loop_in_python():
                found.append(make().simulate(1.0))
        else:
            found.append(make().simulate(1.0))
    assert list(found[0].statistics["in_python"]) == ["s"]
    same(*found)


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "joint", "waveform_iteration"])
@pytest.mark.parametrize("starts", [{"p.fail_at": 0.33}, {"p.stop_at": 0.33}, {"p.stop_at": 0.4}])
def test_what_ends_early(
    tmp_path: Path, compiled: Compiled, algorithm: str, starts: dict[str, float]
) -> None:
    part = make_part(tmp_path, compiled)
    make = lambda: CoSimulation({"p": part, "q": part}, ["p.x -> q.road"], algorithm, 0.1, starts=starts)  # noqa: E731
    result = agree(make, 1.0)
    assert result.time[-1] < 0.5


@pytest.mark.parametrize("algorithm", ["jacobi", "joint"])
def test_an_indicator_that_is_lost(tmp_path: Path, compiled: Compiled, algorithm: str) -> None:
    ball = odd_ball(tmp_path, compiled, "LOST_AT=0.22")
    result = agree(lambda: CoSimulation({"m": ball}, [], algorithm, 0.1), 1.0)
    assert result.time[-1] == pytest.approx(0.2)


@pytest.mark.by_turns
@pytest.mark.parametrize("version", [2, 3])
@pytest.mark.parametrize("algorithm", ["jacobi", "joint", "adaptive"])
def test_fmi_2_and_3(tmp_path: Path, compiled: Compiled, version: int, algorithm: str) -> None:
    fmu = make_misbehaving(tmp_path, compiled, version)
    part = {} if algorithm == "joint" else {"m": ModelExchangeParticipant(fmu)}
    result = agree(lambda: CoSimulation({"m": fmu, **part}, [], algorithm, 0.1), 1.0)
    assert result["m.h"][-1] > 0.0


@pytest.mark.parametrize("algorithm", ["jacobi", "joint"])
def test_no_method_of_python_is_called_in_a_step(
    tmp_path: Path, compiled: Compiled, algorithm: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    part, called = make_part(tmp_path, compiled), list[str]()
    for name in ("set", "step", "get"):
        method = getattr(ModelExchangeParticipant, name)

        def note(self: Any, *given: Any, name: str = name, method: Any = method) -> Any:
            called.append(name)
            return method(self, *given)

        monkeypatch.setattr(ModelExchangeParticipant, name, note)
    counts = []
    for steps in (10, 100):
        called.clear()
        loop = CoSimulation({"body": part, "wheel": part}, FORCE, algorithm, 0.01, starts=CAR)
        loop.simulate(0.01 * steps, inside="nothing")
        counts.append(len(called))
    assert counts[0] == counts[1]


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["waveform_iteration", "interface_newton"])
def test_events_in_steps_that_are_repeated(tmp_path: Path, compiled: Compiled, algorithm: str) -> None:
    """Two that push each other; one of them passes its limit several times."""
    part = make_part(tmp_path, compiled)
    starts = {"p.k": 30.0, "p.limit": 0.5, "q.k": 20.0, "q.x": -0.5, "q.limit": 0.2}
    links = ["p.x -> q.road", "q.reaction -> p.force", "q.high -> p.held"]
    make = lambda: CoSimulation({"p": part, "q": part}, links, algorithm, 0.05, starts=starts)  # noqa: E731
    result = agree(make, 1.0)
    assert len([e for e in result.events if e.changed]) >= 2
    assert result.statistics["algorithm"]["iterations"] > 2 * result.statistics["steps"]


@pytest.mark.parametrize("algorithm", ["waveform_iteration", "joint"])
def test_what_is_saved_by_its_states(tmp_path: Path, compiled: Compiled, algorithm: str) -> None:
    """What it remembers of its event indicator is saved in Python."""
    ball = ball_without_saved_states(tmp_path, compiled, CONTINUOUS)
    result = agree(lambda: CoSimulation({"m": ball}, [], algorithm, 0.3), 1.5, inside="nothing")
    assert len([e for e in result.events if e.changed]) >= 2
