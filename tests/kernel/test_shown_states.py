"""Witnesses that return a state are read from the states: the same bytes as when their blocks are called."""

from __future__ import annotations

import pytest

import cosim
from cosim.preparation.witness_entry import list_witnesses, show_states
from cosim_compiler.sources.straight import shown_argument


class Dropped(cosim.Component):
    """A ball that falls onto a floor at zero, under a pull that changes four times a second."""

    height = cosim.position(start=0.5)
    speed = cosim.speed()
    pull = cosim.discrete(start=-9.81)
    restitution = cosim.parameter(default=0.5)

    @cosim.kernel
    def derivatives(speed, pull, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = pull

    @cosim.witness(direction="falling")
    def floor(height):
        """The height."""
        return height

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, restitution, speed_next):
        speed_next[0] = -restitution * speed

    @cosim.every(period=0.25, does="discrete")
    def change(pull, pull_next):
        pull_next[0] = -19.0 - pull


class ComputedWitness(Dropped):
    """The same, with a witness that computes its value: its block is called."""

    @cosim.witness(direction="falling")
    def floor(height):
        return 1.0 * height

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, restitution, speed_next):
        speed_next[0] = -restitution * speed


class Several(cosim.Component):
    """Witnesses of each kind."""

    angle = cosim.position(shape=2)
    speed = cosim.speed(shape=2)
    level = cosim.auxiliary_state(start=1.0)
    high = cosim.parameter(default=1.0)
    on = cosim.discrete(start=1.0)

    @cosim.kernel
    def derivatives(speed, level, angle_dot, speed_dot, level_dot):
        for m in range(2):
            angle_dot[m] = speed[m]
            speed_dot[m] = 0.0
        level_dot[0] = -level

    @cosim.witness
    def state(level):
        return level

    @cosim.witness
    def element(angle):
        return angle[1]

    @cosim.witness
    def negative(level):
        return -level

    @cosim.witness
    def renamed(level):
        same = level
        return same

    @cosim.witness
    def parameter(high):
        return high

    @cosim.witness
    def discrete(on):
        return on

    @cosim.witness
    def time(t):
        return t


def system_of(*classes: type[cosim.Component]) -> cosim.System:
    model = cosim.Model("balls")
    for i, cls in enumerate(classes):
        model.add(cls, f"part{i}")
    return model.build()


def outcome(system: cosim.System, method: str, through_bytes: bool) -> tuple[list[float], list[tuple]]:
    """The states at the end of a run of two seconds in 16 calls, and its events.

    `through_bytes`: each call resumes the bytes of the State after the call before.
    """
    options = {"integrator": f"integrators.{method}", "accuracy": 1e-6, "maximum_step": 0.125}
    state = system.default_state()
    for number in range(len(system.parts)):
        state[f"part{number}.height"] = 0.5 + 0.25 * number
    simulator = cosim.Simulator(system, state, **options)
    simulator.initialize()
    events: list[tuple] = []
    for i in range(16):
        if through_bytes:
            events += simulator.events
            state = system.state_from_bytes(simulator.state.to_bytes())
            simulator = cosim.Simulator(system, state, **options)
        simulator.advance_to(0.125 * (i + 1))
    assert "held" in {finding.kind for finding in simulator.findings} or through_bytes
    rows = [(event.time, event.handler, event.window) for event in (*events, *simulator.events)]
    return simulator.state.y.tolist(), rows


def test_which_witnesses_are_states() -> None:
    witnesses = list_witnesses(system_of(Several))
    shown = {w.path.removeprefix("part0."): w.shown_state for w in witnesses}
    others = ["element", "negative", "renamed", "parameter", "discrete", "time"]
    assert shown == {"state": 4, **dict.fromkeys(others, -1)}


def test_blocks_are_called_unless_all_witnesses_are_states() -> None:
    assert show_states(list_witnesses(system_of(Dropped, Dropped)))
    assert not show_states(list_witnesses(system_of(Dropped, ComputedWitness)))
    assert not show_states([])


def returned(x):
    """Only this docstring stands before the result."""
    return x


def assigned(x):
    x = 2.0
    return x


def outside(x):
    return GLOBAL


GLOBAL = 1.0


@pytest.mark.parametrize(("function", "name"), [(returned, "x"), (assigned, ""), (outside, "")])
def test_the_argument_that_a_function_shows(function, name: str) -> None:
    assert shown_argument(function) == name


METHODS = ["runge_kutta_merson", "dormand_prince_853", "bdf"]


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("balls", [1, 2])
def test_a_run_has_the_bytes_of_one_that_calls_blocks(method: str, balls: int) -> None:
    run, expected = (
        outcome(system_of(*[kind] * balls), method, False) for kind in (Dropped, ComputedWitness)
    )
    assert run == expected
    assert len(run[1]) > 10 * balls


@pytest.mark.parametrize("method", METHODS)
def test_a_run_with_a_ball_at_rest_is_resumed_to_the_same_bytes(method: str) -> None:
    """The pull changes while the ball is held: derivatives with the hold are not those from before."""
    system = system_of(Dropped)
    resumed, expected = (outcome(system, method, through_bytes) for through_bytes in (True, False))
    assert resumed == expected
    assert any("change" in event[1] for event in expected[1])
