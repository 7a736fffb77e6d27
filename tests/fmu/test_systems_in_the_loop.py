"""Systems of ours in the compiled loop: the same as the Simulator's steps, to the last bit."""

import math
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from test_master_system import WIRES, controller, plant

import cosim
from cosim import kit
from cosim_fmu import CoSimulation, SystemParticipant
from cosim_master.algorithms.jacobi import Jacobi
from cosim_master.participants import system_participant

sys.path.append(str(Path(__file__).parents[1] / "lowering"))
from event_parts import Ball, Clockwork  # noqa: E402

pytestmark = pytest.mark.skipif(kit.is_plain(), reason="nothing is compiled here")
METHOD = "integrators.dormand_prince_853"


def model(kind: type[cosim.Component], name: str = "part", **values: Any) -> cosim.Model:
    made = cosim.Model(name)
    made.add(kind, name, **values)
    return made


def told(event: cosim.EventRecord) -> list[Any]:
    values = (*event.before.values(), *event.after.values(), event.witness_values)
    numbers = [np.asarray(value).tobytes() for value in values]
    return [
        *(event.time, event.cause, event.does, event.handler, event.window, event.witness, event.severity),
        *(event.message, event.changed, event.name, repr(event.before), repr(event.after), *numbers),
    ]


class Kept(SystemParticipant):
    """Keeps the bytes of its last State."""

    last = b""

    def close(self) -> None:
        if self._simulator is not None:
            self.last = self.save()
        super().close()


def both(
    monkeypatch: pytest.MonkeyPatch,
    make: Callable[[], dict[str, Any]],
    wires: list[Any],
    algorithm: str = "jacobi",
    until: float = 1.0,
    step: float = 1e-2,
    inside: str = "nothing",
    **more: Any,
) -> cosim.Result:
    """The compiled loop against the loop in Python: values, events, messages, errors."""
    found: list[tuple[cosim.Result, str]] = []
    states = []
    for least in (0, 1_000_000):
        monkeypatch.setattr(system_participant, "LEAST_NATIVE_STEPS", least)
        loop, error = CoSimulation(make(), wires, algorithm, step, **more), ""
        try:
            loop.simulate(until, inside=inside)
        except cosim.SimulationError as failed:
            error = str(failed)
        assert loop.result is not None
        found.append((loop.result, error))
        states.append([p.last for p in loop.participants.values() if isinstance(p, Kept)])
    (one, error), (other, wanted) = found
    assert one.statistics["loop"] == "compiled"
    assert error == wanted
    assert states[0] == states[1]
    assert one.message == other.message
    assert one.time.tobytes() == other.time.tobytes()
    for name in other.names:
        assert one[name].tobytes() == other[name].tobytes(), name
    assert list(map(told, one.events)) == list(map(told, other.events))
    assert one.statistics["steps"] == other.statistics["steps"]
    return one


def ball_and_clockwork() -> dict[str, Any]:
    return {
        "ball": Kept(model(Ball), METHOD, accuracy=1e-6),
        "clock": Kept(model(Clockwork), METHOD, accuracy=1e-6),
    }


CROSSED = [
    {"from": "clock.part.seen", "to": "ball.part.floor_height", "factor": 0.02},
    {"from": "ball.part.height", "to": "clock.part.drive", "factor": 0.3},
]


@pytest.mark.few(1)
@pytest.mark.parametrize("algorithm", ["jacobi", "gauss_seidel"])
def test_smooth_systems(algorithm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    parts = lambda: {"plant": Kept(plant()), "law": Kept(controller())}  # noqa: E731
    result = both(monkeypatch, parts, LAW_WIRES, algorithm, 0.5, 1e-3)
    assert np.ptp(result["plant.body.felt"]) > 0.0


LAW_WIRES = [(a.replace("controller.", "law."), b.replace("controller.", "law.")) for a, b in WIRES]


@pytest.mark.few(1)
@pytest.mark.parametrize("more", [{}, {"inside": "events"}, {"threads": 2}, {"steps": {"clock": 0.03}}])
def test_events_of_all_kinds(more: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    result = both(monkeypatch, ball_and_clockwork, CROSSED, until=1.5, **more)
    kinds = {(event.cause.name, event.does) for event in result.events}
    assert len(kinds) > 6 and any(event.witness for event in result.events)
    assert np.ptp(result["ball.part.floor_height"]) > 0.0


def test_whoever_asks_to_stop_is_heard(monkeypatch: pytest.MonkeyPatch) -> None:
    result = both(monkeypatch, ball_and_clockwork, CROSSED, starts={"clock.part.stop_at": 0.555})
    assert "stop at 0.56 s" in result.message and result.time[-1] == 0.56


def remembering() -> dict[str, Any]:
    made = cosim.Model("ball")
    made.add(Ball, "part")
    made.add("measures.delay", "late", source="part.speed", delay=0.15)
    made.add("measures.maximum", "highest", source="part.height")
    return {
        "ball": Kept(made, METHOD, accuracy=1e-6, fixed_step=1e-3),
        "clock": Kept(model(Clockwork), METHOD, accuracy=1e-6),
    }


def test_histories_grow(monkeypatch: pytest.MonkeyPatch) -> None:
    result = both(monkeypatch, remembering, CROSSED, until=0.8)
    assert np.ptp(result["ball.late"]) > 1.0


class Fragile(cosim.Component):
    """Breaks where its level is below zero; cannot be shown above 0.2."""

    load = cosim.input(unit="N")
    level = cosim.auxiliary_state(start=0.1)
    rate = cosim.parameter(default=0.0)
    shown = cosim.output()

    @cosim.kernel
    def derivatives(level, load, rate, level_dot):
        level_dot[0] = rate / math.sqrt(level) + load

    @cosim.kernel
    def report(level, shown):
        if level > 0.2:
            raise ValueError("the scale ends at 0.2")
        shown[0] = level


@pytest.mark.parametrize(
    ("starts", "message"),
    [
        ({"weak.part.rate": -0.05}, "part.level: it is nan"),
        ({"weak.part.rate": 0.05}, "the scale ends at 0.2"),
    ],
)
def test_the_same_errors(starts: dict[str, float], message: str, monkeypatch: pytest.MonkeyPatch) -> None:
    def make() -> dict[str, Any]:
        return {
            "clock": Kept(model(Clockwork), METHOD, accuracy=1e-6),
            "weak": Kept(model(Fragile), METHOD, accuracy=1e-6),
        }

    wires = [{"from": "clock.part.seen", "to": "weak.part.load", "factor": 0.1}]
    result = both(monkeypatch, make, wires, until=2.0, starts=starts)
    assert result.time[-1] < 2.0 and message in result.message


def test_beside_fmus(make_fmu: Callable[..., Path], monkeypatch: pytest.MonkeyPatch) -> None:
    wires = [("body.body.position", "fmu.x_other"), ("fmu.force", "body.body.force")]
    result = both(
        monkeypatch, lambda: {"body": Kept(plant()), "fmu": make_fmu("mass")}, wires, starts={"fmu.kc": 0.7}
    )
    assert np.ptp(result["body.body.force"]) > 0.0


def test_a_second_run_begins_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_participant, "LEAST_NATIVE_STEPS", 0)
    loop = CoSimulation(ball_and_clockwork(), CROSSED, "jacobi", 1e-2)
    first, second = loop.simulate(0.7), loop.simulate(0.7)
    assert first["ball.part.height"].tobytes() == second["ball.part.height"].tobytes()
    assert list(map(told, first.events)) == list(map(told, second.events))


def test_who_is_called_in_python_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(system_participant, "LEAST_NATIVE_STEPS", 0)

    class Slow(cosim.Component):
        seen = cosim.discrete(start=0.0)

        @cosim.every(0.1, does="discrete")
        def look(self, state: cosim.State, next_state: cosim.State) -> None:
            next_state["part.seen"] = state.time

    result = CoSimulation({"slow": model(Slow)}, [], Jacobi, 0.1).simulate(0.5)
    reason = result.statistics["in_python"]["slow"]
    assert reason.startswith("part: the event handler look is a Python method")


def test_short_runs_load_nothing() -> None:
    result = CoSimulation({"plant": plant(), "law": controller()}, LAW_WIRES, Jacobi, 0.1).simulate(1.0)
    text = "to load its compiled code takes longer than these few steps"
    assert result.statistics["in_python"] == {"plant": text, "law": text}
