"""Derivatives of runs that are saved and resumed, or streamed, have the bytes of one uninterrupted run."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cosim
from cosim import kit

BY = ["b.e", "b.height"]
UNTIL = 1.2


class Ball(cosim.Component):
    """Law: height' = speed, speed' = -9.81 - late / 10; at the floor speed becomes -e speed."""

    e = cosim.parameter(default=0.8)
    idle = cosim.parameter(default=1.0)
    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    late = cosim.input()

    @cosim.kernel
    def derivatives(speed, late, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81 - 0.1 * late

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    @cosim.kernel
    def bounce(e, speed, speed_next):
        speed_next[0] = -e * speed


@pytest.fixture(scope="module")
def system() -> cosim.System:
    """A ball whose drag depends on its speed of 0.15 s ago."""
    model = cosim.Model("ball")
    model.add(Ball(), "b")
    model.add("measures.delay", "d", source="b.speed", delay=0.15)
    model.connect("d.value", "b.late")
    return model.build()


def simulator_with_tangents(system: cosim.System, state: cosim.State, **options: object) -> cosim.Simulator:
    simulator = cosim.Simulator(system, state, accuracy=1e-6, **options)
    simulator.carry_tangents(BY)
    return simulator


def bytes_with_tangents(simulator: cosim.Simulator) -> bytes:
    simulator.store_tangents()
    return simulator.state.to_bytes()


@pytest.mark.parametrize("method", ["runge_kutta_merson", "radau5"])
def test_a_run_resumed_from_any_step_ends_with_the_same_bytes(system: cosim.System, method: str) -> None:
    """Also from steps that end at a bounce."""
    options = {"integrator": f"integrators.{method}", "event_limit": 100}
    simulator = simulator_with_tangents(system, system.default_state(), **options)
    points = []
    while simulator.state.time < UNTIL:
        simulator.step(UNTIL)
        points.append(bytes_with_tangents(simulator))
    end = points.pop()
    bounces = {event.time for event in simulator.events}
    assert len(bounces) > 1
    states = [system.state_from_bytes(data) for data in points]
    at_bounces = [i for i, state in enumerate(states) if state.time in bounces]
    assert at_bounces
    for i in sorted({*at_bounces, 0, len(states) // 2, len(states) - 1}):
        resumed = simulator_with_tangents(system, states[i], **options)
        resumed.advance_to(UNTIL)
        assert bytes_with_tangents(resumed) == end


def test_a_checkpoint_has_the_derivatives(system: cosim.System, tmp_path: Path) -> None:
    grid = {"output_interval": 0.1, "derivatives": BY}
    uninterrupted = cosim.simulate(system, until=UNTIL, **grid)
    path = tmp_path / "ball.state"
    cosim.simulate(system, until=0.6, checkpoint=path, **grid)
    rest = cosim.simulate(system, until=UNTIL, state=cosim.read_checkpoint(system, path), **grid)
    is_late = uninterrupted.time > 0.6
    assert is_late.sum() > 6
    for by in BY:
        derivatives = rest.derivative("b.height", by)[rest.time > 0.6]
        assert derivatives.tolist() == uninterrupted.derivative("b.height", by)[is_late].tolist()
        assert np.abs(derivatives).min() > 0.0


def test_a_derivative_by_a_parameter_without_effect_stays_zero(system: cosim.System, tmp_path: Path) -> None:
    path = tmp_path / "ball.state"
    grid = {"output_interval": 0.1, "derivatives": ["b.idle"]}
    cosim.simulate(system, until=0.6, checkpoint=path, **grid)
    rest = cosim.simulate(system, until=UNTIL, state=cosim.read_checkpoint(system, path), **grid)
    assert set(rest.derivative("b.height", "b.idle").tolist()) == {0.0}


def test_a_state_with_other_derivatives_is_refused(system: cosim.System, tmp_path: Path) -> None:
    path = tmp_path / "ball.state"
    cosim.simulate(system, until=0.6, checkpoint=path, derivatives=BY)
    state = cosim.read_checkpoint(system, path)
    with pytest.raises(cosim.ModelError, match=r"b\.e, b\.height"):
        cosim.simulate(system, until=UNTIL, state=state, derivatives=["b.e"])
    state["b.e"] = 0.7
    with pytest.raises(cosim.ModelError, match="changed"):
        cosim.simulate(system, until=UNTIL, state=state, derivatives=BY)

    state = cosim.read_checkpoint(system, path)
    with pytest.raises(cosim.StateError, match="another integrator"):
        cosim.simulate(system, until=UNTIL, state=state, derivatives=BY, integrator="integrators.radau5")
    state.carried = state.carried[:-8]
    with pytest.raises(cosim.StateError, match="damaged"):
        cosim.simulate(system, until=UNTIL, state=state, derivatives=BY)


def test_a_run_without_derivatives_removes_them_from_the_state(system: cosim.System, tmp_path: Path) -> None:
    path = tmp_path / "ball.state"
    cosim.simulate(system, until=0.6, checkpoint=path, derivatives=BY)
    state = cosim.read_checkpoint(system, path)
    assert state.copy().carried and state.carried in state.to_bytes()
    cosim.simulate(system, until=0.7, state=state)
    assert not state.carried


class Pieces(kit.ResultStream):
    """Keeps all pieces of a result."""

    def __init__(self) -> None:
        self.pieces: list[cosim.Result] = []

    def append(self, piece: cosim.Result) -> None:
        self.pieces.append(piece)

    def close(self, result: cosim.Result) -> None:
        self.end = result


def test_a_stream_has_the_derivatives(system: cosim.System, monkeypatch: pytest.MonkeyPatch) -> None:
    # a piece holds a few rows only
    monkeypatch.setattr("cosim.simulation.recorder.VALUES", 8)
    monkeypatch.setattr("cosim.simulation.recorder.ROWS", 8)
    monkeypatch.setattr("cosim.simulation.stride.FIRST_STRIDE", 1)
    monkeypatch.setattr("cosim.simulation.stride.next_stride", lambda *_: 1)
    grid = {"output_interval": 0.01, "derivatives": BY}
    expected = cosim.simulate(system, until=UNTIL, **grid).with_derivatives()
    stream = Pieces()
    first_and_last = cosim.simulate(system, until=UNTIL, stream=stream, **grid)
    assert len(stream.pieces) > 1
    for name in ("b.height", "d(b.height)/d(b.e)", "d(b.speed)/d(b.height)"):
        joined = np.concatenate([piece[name] for piece in stream.pieces])
        assert joined.tolist() == expected[name].tolist()
        assert stream.pieces[0].unit(name) == expected.unit(name)
        assert stream.end[name].tolist() == [expected[name][0], expected[name][-1]]
    assert first_and_last.derivative("b.height", "b.e").tolist() == stream.end["d(b.height)/d(b.e)"].tolist()


@pytest.mark.parametrize("limit, kept", [(0, 0), (1, 2), (2, 2)])
def test_a_limit_of_events_holds_in_a_run_with_derivatives(
    system: cosim.System, limit: int, kept: int
) -> None:
    """The tape of a run with derivatives has all events: with a limit of 0 none of them is kept."""
    expected = simulator_with_tangents(system, system.default_state())
    expected.advance_to(UNTIL)
    simulator = simulator_with_tangents(system, system.default_state(), event_limit=limit)
    simulator.advance_to(UNTIL)
    assert bytes_with_tangents(simulator) == bytes_with_tangents(expected)
    assert len(expected.events) == 2
    assert len(simulator.events) == kept and list(simulator.events) == list(expected.events)[:kept]
    assert (simulator.events.total, simulator.events.forgotten) == (2, 2 - kept)


def test_a_result_with_derivatives_may_have_no_events(system: cosim.System) -> None:
    expected = cosim.simulate(system, UNTIL, derivatives=BY)
    result = cosim.simulate(system, UNTIL, derivatives=BY, event_limit=0)
    assert len(expected.events) == 2 and len(result.events) == 0
    for name in expected.names:
        assert result[name].tobytes() == expected[name].tobytes(), name
