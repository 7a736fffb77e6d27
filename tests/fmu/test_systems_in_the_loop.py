"""The compiled loop and the loop in Python step cosim systems to the same bits."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from ball_and_clockwork import CROSSED_WIRES, METHOD, Ball, Clockwork, Fragile, model_of
from controlled_spring import WIRES, controller, plant

import cosim
from cosim import kit
from cosim_fmu import CoSimulation, SystemParticipant
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.participants import system_participant

pytestmark = pytest.mark.skipif(kit.is_plain(), reason="nothing is compiled here")


def facts_of(event: cosim.EventRecord) -> list[Any]:
    """All fields of an event; numbers as bytes, so that NaN equals NaN."""
    values = (*event.before.values(), *event.after.values(), event.witness_values)
    numbers = [np.asarray(value).tobytes() for value in values]
    return [
        *(event.time, event.cause, event.does, event.handler, event.window, event.witness, event.severity),
        *(event.message, event.changed, event.name, repr(event.before), repr(event.after), *numbers),
    ]


class StateRecorder(SystemParticipant):
    """Stores the bytes of its last State when it is closed."""

    last_state = b""

    def close(self) -> None:
        if self._simulator is not None:
            self.last_state = self.save()
        super().close()


def compare_loops(
    monkeypatch: pytest.MonkeyPatch,
    make_parts: Callable[[], dict[str, Any]],
    wires: list[Any],
    algorithm: str = "jacobi",
    until: float = 1.0,
    step: float = 1e-2,
    inside: str = "nothing",
    **options: Any,
) -> cosim.Result:
    """The result of the compiled loop; that in Python gives the same values, events, states and errors."""
    results, errors, states = [], [], []
    for least_steps in (0, 1_000_000):  # from so many steps on, systems are stepped by compiled code
        monkeypatch.setattr(system_participant, "LEAST_NATIVE_STEPS", least_steps)
        loop, error = CoSimulation(make_parts(), wires, algorithm, step, **options), ""
        try:
            loop.simulate(until, inside=inside)
        except cosim.SimulationError as failure:
            error = str(failure)
        assert loop.result is not None
        results.append(loop.result)
        errors.append(error)
        states.append([p.last_state for p in loop.participants.values() if isinstance(p, StateRecorder)])
    compiled, in_python = results
    assert compiled.statistics["loop"] == "compiled"
    assert errors[0] == errors[1]
    assert states[0] == states[1]
    assert compiled.message == in_python.message
    assert compiled.time.tobytes() == in_python.time.tobytes()
    for name in in_python.names:
        assert compiled[name].tobytes() == in_python[name].tobytes(), name
    assert list(map(facts_of, compiled.events)) == list(map(facts_of, in_python.events))
    assert compiled.statistics["steps"] == in_python.statistics["steps"]
    return compiled


def ball_and_clockwork() -> dict[str, Any]:
    return {
        "ball": StateRecorder(model_of(Ball), METHOD, accuracy=1e-6),
        "clock": StateRecorder(model_of(Clockwork), METHOD, accuracy=1e-6),
    }


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_smooth_systems(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def parts() -> dict[str, Any]:
        return {"plant": StateRecorder(plant()), "controller": StateRecorder(controller())}

    result = compare_loops(monkeypatch, parts, WIRES, algorithm, 0.5, 1e-3)
    assert np.ptp(result["plant.body.felt"]) > 0.0


@pytest.mark.few(1)
@pytest.mark.parametrize("options", [{}, {"inside": "events"}, {"threads": 2}, {"steps": {"clock": 0.03}}])
def test_events_of_all_kinds(options: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    result = compare_loops(monkeypatch, ball_and_clockwork, CROSSED_WIRES, until=1.5, **options)
    kinds = {(event.cause.name, event.does) for event in result.events}
    assert len(kinds) > 6 and any(event.witness for event in result.events)
    assert np.ptp(result["ball.part.floor_height"]) > 0.0


def test_a_request_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    result = compare_loops(
        monkeypatch, ball_and_clockwork, CROSSED_WIRES, starts={"clock.part.stop_at": 0.555}
    )
    assert "stop at 0.56 s" in result.message and result.time[-1] == 0.56


def delayed_ball_and_clockwork() -> dict[str, Any]:
    model = cosim.Model("ball")
    model.add(Ball, "part")
    model.add("measures.delay", "late", source="part.speed", delay=0.15)
    model.add("measures.maximum", "highest", source="part.height")
    return {
        "ball": StateRecorder(model, METHOD, accuracy=1e-6, fixed_step=1e-3),
        "clock": StateRecorder(model_of(Clockwork), METHOD, accuracy=1e-6),
    }


def test_histories_of_delays(monkeypatch: pytest.MonkeyPatch) -> None:
    result = compare_loops(monkeypatch, delayed_ball_and_clockwork, CROSSED_WIRES, until=0.8)
    assert np.ptp(result["ball.late"]) > 1.0


@pytest.mark.parametrize(
    ("starts", "message"),
    [
        ({"weak.part.rate": -0.05}, "part.level: it is nan"),
        ({"weak.part.rate": 0.05}, "the scale ends at 0.2"),
    ],
)
def test_failures_of_systems(starts: dict[str, float], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def make_parts() -> dict[str, Any]:
        return {
            "clock": StateRecorder(model_of(Clockwork), METHOD, accuracy=1e-6),
            "weak": StateRecorder(model_of(Fragile), METHOD, accuracy=1e-6),
        }

    wires = [{"from": "clock.part.seen", "to": "weak.part.load", "factor": 0.1}]
    result = compare_loops(monkeypatch, make_parts, wires, until=2.0, starts=starts)
    assert result.time[-1] < 2.0 and message in result.message


def test_a_system_and_an_fmu(make_fmu: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    wires = [("body.body.position", "fmu.x_other"), ("fmu.force", "body.body.force")]
    result = compare_loops(
        monkeypatch,
        lambda: {"body": StateRecorder(plant()), "fmu": make_fmu("mass")},
        wires,
        starts={"fmu.kc": 0.7},
    )
    assert np.ptp(result["body.body.force"]) > 0.0


def test_a_second_run_of_one_loop_is_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_participant, "LEAST_NATIVE_STEPS", 0)
    loop = CoSimulation(ball_and_clockwork(), CROSSED_WIRES, "jacobi", 1e-2)
    first_run, second_run = loop.simulate(0.7), loop.simulate(0.7)
    assert first_run["ball.part.height"].tobytes() == second_run["ball.part.height"].tobytes()
    assert list(map(facts_of, first_run.events)) == list(map(facts_of, second_run.events))


def test_the_statistics_say_why_a_system_is_stepped_in_python(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_participant, "LEAST_NATIVE_STEPS", 0)

    class HasPythonHandler(cosim.Component):
        seen = cosim.discrete(start=0.0)

        @cosim.every(0.1, does="discrete")
        def look(self, state: cosim.State, next_state: cosim.State) -> None:
            next_state["part.seen"] = state.time

    result = CoSimulation({"system": model_of(HasPythonHandler)}, [], Jacobi, 0.1).simulate(0.5)
    reason = result.statistics["in_python"]["system"]
    assert reason.startswith("part: the event handler look is a Python method")


def test_short_runs_load_no_compiled_code() -> None:
    result = CoSimulation({"plant": plant(), "controller": controller()}, WIRES, Jacobi, 0.1).simulate(1.0)
    text = "to load its compiled code takes longer than these few steps"
    assert result.statistics["in_python"] == {"plant": text, "controller": text}
