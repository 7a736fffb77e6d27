"""Several balls that start on their floors, or come to rest there: none falls through while others bounce."""

from __future__ import annotations

import random

import pytest
from how_many import many
from kernel_parts import system_of
from zero_parts import EitherWayBall, FloorBall

import cosim

METHODS = (
    *("bogacki_shampine", "dormand_prince", "dormand_prince_853", "esdirk43", "radau3", "radau5"),
    *("runge_kutta_3", "runge_kutta_merson", "tsitouras"),
)


class ReversingBall(FloorBall):
    """Its handler reverses the speed, whichever way it goes, and does not touch the height."""

    @cosim.witness(direction="falling")
    def floor(h, floor_height):
        return h - floor_height

    @cosim.on(floor, does="unrestricted")
    def bounce(v, restitution, bounces, v_next, bounces_next):
        v_next[0] = -restitution * v
        bounces_next[0] = bounces + 1


KINDS = (FloorBall, EitherWayBall, ReversingBall)


def settle(kinds, heights, drops, restitutions, method, accuracy=1e-6, until=1.0):
    """A simulator of balls that start at some heights above their floors and have come to rest on them."""
    parts = {
        f"ball{i}": kind(floor_height=height, restitution=restitution)
        for i, (kind, height, restitution) in enumerate(zip(kinds, heights, restitutions, strict=True))
    }
    system = system_of(**parts)
    state = system.default_state()
    for i, (height, drop) in enumerate(zip(heights, drops, strict=True)):
        state[f"ball{i}.h"] = height + drop
    simulator = cosim.Simulator(system, state, integrator=f"integrators.{method}", accuracy=accuracy)
    simulator.advance_to(until)
    for i, height in enumerate(heights):
        assert simulator.state[f"ball{i}.h"] == pytest.approx(height, abs=1e-6), (i, method)
    return simulator


@pytest.mark.by_turns
@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("count", [2, 3, 5])
def test_balls_that_start_on_their_floors_stay_there(method, count):
    """They fly by rounding only: an event of one ball lies in the middle of the flight of another one."""
    kinds = [EitherWayBall, FloorBall, EitherWayBall, ReversingBall, FloorBall][:count]
    simulator = settle(kinds, [0.75, 1.5, 0.4, 0.25, 0.0][:count], [0.0] * count, [0.8] * count, method)
    held = sorted(finding.witness for finding in simulator.findings if finding.kind == "held")
    assert held == [f"ball{i}.floor" for i in range(count)]
    events = [event for event in simulator.events if event.witness]
    assert len(events) < 25 * count


def test_random_balls_come_to_rest():
    """From rest and from small heights above floors at any height, with each method."""
    for seed in range(many(30)):
        draw = random.Random(seed)
        count = draw.randint(2, 5)
        settle(
            heights=[draw.choice((0.0, 0.25, 1.5, draw.uniform(-3.0, 3.0))) for _ in range(count)],
            kinds=[draw.choice(KINDS) for _ in range(count)],
            drops=[draw.choice((0.0, 0.0, draw.uniform(0.0, 1e-3), 0.01)) for _ in range(count)],
            restitutions=[draw.choice((0.0, 0.3, 0.8)) for _ in range(count)],
            method=METHODS[seed % len(METHODS)],
            accuracy=draw.choice((1e-4, 1e-6, 1e-8)),
        )


class Rising(cosim.Component):
    """Law: x' = rate (1 - 2 t): a level that leaves its threshold at 0 and comes back to it at 1 s."""

    x = cosim.auxiliary_state(start=0.7)
    rate = cosim.parameter(default=1.0)
    falls = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(t, rate, x_dot):
        x_dot[0] = rate * (1.0 - 2.0 * t)

    @cosim.witness(direction="falling")
    def low(x):
        return x - 0.7

    @cosim.on(low, does="discrete")
    def count(falls, falls_next):
        falls_next[0] = falls + 1


@pytest.mark.few(3)
@pytest.mark.parametrize("method", ["bdf", "runge_kutta_merson", "heun"])
@pytest.mark.parametrize("rate", [1e-14, 1e-12, 1e-3, 1.0])
def test_a_level_that_leaves_its_threshold_triggers_when_it_comes_back(method, rate):
    """However slowly it leaves: once, at 1 s; where it leaves by less than rounding perhaps not at all."""
    system = system_of(part=Rising(rate=rate))
    simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=1e-6, maximum_step=0.01)
    counts = []
    simulator.set_monitor(lambda state: counts.append((state["part.falls"], state.time)))
    simulator.advance_to(2.0)
    falls = simulator.state["part.falls"]
    is_above_rounding = rate > 1e-13  # the level is 0.7, whose spacing is 1e-16, and leaves it by rate / 4
    assert falls == 1 if is_above_rounding else falls <= 1
    assert all(time > 0.99 for count, time in counts if count)
