"""Steps in which straight witnesses need no search end where the general search ends them."""

from __future__ import annotations

import math
import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest

import cosim
from cosim.preparation import witness_entry
from cosim.preparation.witness_entry import list_witnesses
from cosim_compiler.sources.straight import is_straight

OFFSET = 0.25


class Thrown(cosim.Component):
    """A mass that a moving floor turns round, and a relay. Law: height'' = pull + jerk t - k height."""

    height = cosim.position(start=1.0)
    speed = cosim.speed(start=0.5)
    level = cosim.auxiliary_state()
    on = cosim.discrete(start=1.0)
    pull = cosim.parameter(default=-9.81)
    jerk = cosim.parameter(default=0.0)
    stiffness = cosim.parameter(default=0.0)
    floor_rate = cosim.parameter(default=0.0)
    high = cosim.parameter(default=0.75)

    @cosim.kernel
    def derivatives(t, height, speed, level, on, pull, jerk, stiffness, height_dot, speed_dot, level_dot):
        height_dot[0] = speed
        speed_dot[0] = pull + jerk * t - stiffness * height
        level_dot[0] = 3.0 * (on - level)

    @cosim.witness(direction="falling")
    def floor(t, height, floor_rate):
        gap = height - floor_rate * t
        return gap + OFFSET

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, floor_rate, speed_next):
        speed_next[0] = floor_rate - 0.8 * (speed - floor_rate)

    @cosim.witness(direction="rising")
    def warm(level, high):
        return level - high

    @cosim.witness(direction="falling")
    def cold(level):
        return 2.0 * (level - OFFSET) / 3.0

    @cosim.on(warm, does="discrete")
    def stop(on_next):
        on_next[0] = 0.0

    @cosim.on(cold, does="discrete")
    def start(on_next):
        on_next[0] = 1.0

    @cosim.witness
    def passes(height, level):
        return height - level

    @cosim.on(passes, does="publish")
    def pass_by(height):
        pass


class Flight(cosim.Component):
    """A mass under a pull that grows. Law: height'' = pull + jerk t."""

    height = cosim.position()
    speed = cosim.speed()
    pull = cosim.parameter(default=0.0)
    jerk = cosim.parameter(default=0.0)
    touched = cosim.discrete(start=-1.0)

    @cosim.kernel
    def derivatives(t, speed, pull, jerk, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = pull + jerk * t

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="discrete")
    def touch(t, touched, touched_next):
        touched_next[0] = t if touched < 0.0 else touched


class Curved(cosim.Component):
    """Witnesses that are not straight, or not certain to be."""

    x = cosim.auxiliary_state(start=1.0)
    y = cosim.auxiliary_state(start=1.0)
    given = cosim.input()
    share = cosim.parameter(default=1.0)

    @cosim.kernel
    def derivatives(x, y, given, x_dot, y_dot):
        x_dot[0] = -x
        y_dot[0] = given - y

    @cosim.witness
    def product(x, y):
        return x * y - 1.0

    @cosim.witness
    def inverse(x, share):
        return share / x

    @cosim.witness
    def of_input(x, given):
        return x - given

    @cosim.witness
    def branching(x):
        if x > 0.5:
            return x - 0.6
        return x

    @cosim.witness
    def condition(x):
        return x > 0.5

    @cosim.witness
    def sine(t):
        return math.sin(t)

    @cosim.witness
    def straight(t, x, y, share):
        return -(x - 2.0 * y) / share + t


def system_of(cls: type[cosim.Component]) -> cosim.System:
    model = cosim.Model("one")
    model.add(cls, "part", **({"given": 0.0} if cls is Curved else {}))
    return model.build()


def test_what_is_straight() -> None:
    flags = {w.path: w.is_straight for w in list_witnesses(system_of(Thrown))}
    assert flags == dict.fromkeys(["part.floor", "part.warm", "part.cold", "part.passes"], True)
    flags = {w.path: w.is_straight for w in list_witnesses(system_of(Curved))}
    assert [path for path, flag in flags.items() if flag] == ["part.straight"]
    assert len(flags) == 7


def vector(x, k):
    return x[1] - k[0] * 2.0


def chosen(x, k):
    return x[k]


def without_result(x):
    x += 1.0


@pytest.mark.parametrize(
    ("function", "moving", "expected"),
    [
        (vector, "x", True),
        (vector, "xk", True),
        (chosen, "x", True),
        (chosen, "xk", False),
        (without_result, "x", False),
    ],
)
def test_functions_that_are_straight(function, moving: str, expected: bool) -> None:
    assert is_straight(function, frozenset(moving)) is expected


def run(system: cosim.System, values: dict[str, float], **how) -> tuple[bytes, list[cosim.EventRecord]]:
    state = system.default_state()
    for name, value in values.items():
        state[f"part.{name}"] = value
    simulator = cosim.Simulator(system, state, **how)
    simulator.initialize()
    for i in range(1, 9):
        simulator.advance_to(0.375 * i)
    return simulator.state.to_bytes(), list(simulator.events)


Runs = list[tuple[bytes, list[cosim.EventRecord]]]


def straight_and_general_runs(how: dict) -> tuple[Runs, Runs]:
    """Random runs with straight witnesses, and the same with all witnesses searched."""
    straight = system_of(Thrown)
    witness_class = witness_entry.WitnessEntry
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(witness_entry, "WitnessEntry", lambda *f: replace(witness_class(*f), is_straight=False))
        general = system_of(Thrown)
        cosim.Simulator(general, **how)  # the tables are made now
    random = np.random.default_rng(12)
    draws = [
        {
            "height": random.choice([0.0, -OFFSET, 1.0, random.uniform(0.0, 2.0)]),
            "speed": random.choice([0.0, random.normal()]),
            "pull": random.choice([0.0, -9.81, random.normal(scale=5.0)]),
            "jerk": random.choice([0.0, random.normal(scale=20.0)]),
            "stiffness": random.choice([0.0, random.uniform(0.0, 400.0)]),
            "floor_rate": random.choice([0.0, random.normal(scale=0.2)]),
            "high": random.choice([0.75, 1.0, random.uniform(0.3, 0.99)]),
        }
        for _ in range(25)
    ]
    expected = [run(general, values, **how) for values in draws]
    assert sum(len(events) for _, events in expected) > 100
    return [run(straight, values, **how) for values in draws], expected


@pytest.mark.parametrize(
    ("how", "window"),
    [
        ({"accuracy": 1e-6}, 1e-8),
        ({"accuracy": 1e-3, "relative_tolerance": 1e-3}, 1e-5),
        ({"accuracy": 1e-6, "fixed_step": 0.375}, 4e-9),
    ],
)
def test_events_are_those_of_the_general_search(how: dict, window: float) -> None:
    found, expected = straight_and_general_runs({"integrator": "integrators.runge_kutta_merson", **how})
    for (_, events), (_, searched) in zip(found, expected, strict=True):
        assert [event.handler for event in events] == [event.handler for event in searched]
        # bounces that pile up add the widths of their windows
        times = [event.time for event in searched]
        assert [event.time for event in events] == pytest.approx(times, rel=0.0, abs=20.0 * window)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "how",
    [
        {"integrator": "integrators.bogacki_shampine", "accuracy": 1e-6},
        {"integrator": "integrators.dormand_prince", "accuracy": 1e-6},
        {"integrator": "integrators.runge_kutta_4", "accuracy": 1e-6, "fixed_step": 0.0625},
        {"integrator": "integrators.bdf", "accuracy": 1e-4},
    ],
)
def test_dense_output_that_is_no_cubic_is_searched(how: dict) -> None:
    found, expected = straight_and_general_runs(how)
    bytes_found = [(state, list(map(str, events))) for state, events in found]
    assert bytes_found == [(state, list(map(str, events))) for state, events in expected]


ONE_STEP = {"integrator": "integrators.runge_kutta_merson", "accuracy": 1e-6, "fixed_step": 2.0}


def first_touch(roots: list[float], scale: float) -> float:
    """When a mass first falls through 0 that flies as scale (t - root) …, a product over all roots."""
    flight = np.polynomial.Polynomial.fromroots(roots) * scale
    state = system_of(Flight).default_state()
    rates = [flight(0.0), *(flight.deriv(order)(0.0) for order in (1, 2, 3))]
    for name, value in zip(("height", "speed", "pull", "jerk"), rates, strict=True):
        state[f"part.{name}"] = value
    simulator = cosim.Simulator(state.system, state, **ONE_STEP)
    simulator.initialize()
    simulator.advance_to(2.0)
    return float(simulator.state["part.touched"])


@pytest.mark.parametrize("width", [0.4, 0.1, 1e-3])
@pytest.mark.parametrize("middle", [0.25, 0.7, 1.0, 1.49, 1.8])
def test_dips_between_two_quarters_are_found(middle: float, width: float) -> None:
    assert first_touch([middle - width / 2, middle + width / 2], 10.0) == pytest.approx(
        middle - width / 2, abs=1e-7
    )


@pytest.mark.parametrize("width", [0.2, 0.02])
@pytest.mark.parametrize("middle", [0.25, 0.75, 1.25, 1.75])
def test_the_first_of_three_zeros_in_a_quarter_counts(middle: float, width: float) -> None:
    roots = [middle - width, middle, middle + width]
    assert first_touch(roots, -10.0) == pytest.approx(roots[0], abs=1e-7)


@pytest.mark.parametrize("flight", [1e-10, 1e-7, 1e-4, 1e-2, 1.0])
def test_flights_much_shorter_than_the_step_end_at_their_zero(flight: float) -> None:
    state = system_of(Flight).default_state()
    state["part.speed"], state["part.pull"] = 0.5 * flight, -1.0
    simulator = cosim.Simulator(state.system, state, **{**ONE_STEP, "accuracy": 1e-12})
    simulator.initialize()
    simulator.advance_to(2.0)
    assert simulator.statistics.events == 1
    assert float(simulator.state["part.touched"]) == pytest.approx(flight, rel=0.0, abs=3e-14)


COUNTING = """
import cosim, sys
from cosim.step import crossing, witnesses
from test_straight_witnesses import Thrown, system_of

points, searches = [], []
look, search = crossing.walk_watched, witnesses.first_crossing
crossing.walk_watched = lambda *given: points.append(1) or look(*given)
witnesses.first_crossing = lambda *given: searches.append(1) or search(*given)
for pull in map(float, sys.argv[1:]):
    state = system_of(Thrown).default_state()
    state["part.height"], state["part.level"], state["part.high"] = 5.0, 0.5, 2.0
    state["part.pull"] = pull
    points.clear()
    simulator = cosim.Simulator(state.system, state, accuracy=1e-6)
    simulator.initialize()
    simulator.advance_to(5.0)
    print(simulator.statistics.events, simulator.statistics.steps, len(points), len(searches))
"""


def test_a_step_takes_three_points_and_a_crossing_two() -> None:
    done = subprocess.run(
        [sys.executable, "-c", COUNTING, "0.0", "-9.81"],
        env={**os.environ, "COSIM_PLAIN": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    at_rest, bouncing = (list(map(int, line.split())) for line in done.stdout.splitlines())
    assert at_rest[0] <= 3 < bouncing[0]
    for events, steps, points, searches in (at_rest, bouncing):
        assert searches == 0
        assert 3 * steps <= points <= 3 * steps + 2 * events
