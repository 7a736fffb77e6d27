"""Straight witnesses need no search in a step; their steps end where the general search ends them."""

from __future__ import annotations

import os
import subprocess
import sys
from dataclasses import replace

import numpy as np
import pytest
from thrown_parts import OFFSET, Thrown, system_of

import cosim
from cosim.preparation import witness_entry


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


Run = tuple[bytes, list[cosim.EventRecord]]


def run(system: cosim.System, values: dict[str, float], **options) -> Run:
    """The bytes of the State after a run in eight calls, and its events."""
    state = system.default_state()
    for name, value in values.items():
        state[f"part.{name}"] = value
    simulator = cosim.Simulator(system, state, **options)
    simulator.initialize()
    for i in range(1, 9):
        simulator.advance_to(0.375 * i)
    return simulator.state.to_bytes(), list(simulator.events)


def straight_and_general_runs(options: dict) -> tuple[list[Run], list[Run]]:
    """Random runs with straight witnesses, and the same with all witnesses searched."""
    straight = system_of(Thrown)
    witness_class = witness_entry.WitnessEntry
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(
            witness_entry, "WitnessEntry", lambda *fields: replace(witness_class(*fields), is_straight=False)
        )
        general = system_of(Thrown)
        cosim.Simulator(general, **options)  # which makes the tables of witnesses
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
    expected = [run(general, values, **options) for values in draws]
    assert sum(len(events) for _, events in expected) > 100
    return [run(straight, values, **options) for values in draws], expected


@pytest.mark.parametrize(
    ("options", "window"),
    [
        ({"accuracy": 1e-6}, 1e-8),
        ({"accuracy": 1e-3, "relative_tolerance": 1e-3}, 1e-5),
        ({"accuracy": 1e-6, "fixed_step": 0.375}, 4e-9),
    ],
)
def test_events_are_those_of_the_general_search(options: dict, window: float) -> None:
    runs, expected = straight_and_general_runs({"integrator": "integrators.runge_kutta_merson", **options})
    for (_, events), (_, expected_events) in zip(runs, expected, strict=True):
        assert [event.handler for event in events] == [event.handler for event in expected_events]
        # bounces that pile up add the widths of their windows
        times = [event.time for event in expected_events]
        assert [event.time for event in events] == pytest.approx(times, rel=0.0, abs=20.0 * window)


@pytest.mark.few(2)
@pytest.mark.parametrize(
    "options",
    [
        {"integrator": "integrators.bogacki_shampine", "accuracy": 1e-6},
        {"integrator": "integrators.dormand_prince", "accuracy": 1e-6},
        {"integrator": "integrators.runge_kutta_4", "accuracy": 1e-6, "fixed_step": 0.0625},
        {"integrator": "integrators.bdf", "accuracy": 1e-4},
    ],
)
def test_dense_output_that_is_no_cubic_is_searched(options: dict) -> None:
    """Straight or not, the runs are the same to the byte."""
    runs, expected = (
        [(state, list(map(str, events))) for state, events in runs]
        for runs in straight_and_general_runs(options)
    )
    assert runs == expected


ONE_STEP = {"integrator": "integrators.runge_kutta_merson", "accuracy": 1e-6, "fixed_step": 2.0}


def first_touch(roots: list[float], scale: float) -> float:
    """When a mass of the height scale (t - root1) (t - root2) … first falls through 0."""
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
def test_a_dip_below_zero_is_found_anywhere_in_a_step(middle: float, width: float) -> None:
    assert first_touch([middle - width / 2, middle + width / 2], 10.0) == pytest.approx(
        middle - width / 2, abs=1e-7
    )


@pytest.mark.parametrize("width", [0.2, 0.02])
@pytest.mark.parametrize("middle", [0.25, 0.75, 1.25, 1.75])
def test_the_first_of_three_close_zeros_counts(middle: float, width: float) -> None:
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
from thrown_parts import Thrown, system_of

points, searches = [], []
look, search = crossing.walk_watched, witnesses.first_crossing
crossing.walk_watched = lambda *arguments: points.append(1) or look(*arguments)
witnesses.first_crossing = lambda *arguments: searches.append(1) or search(*arguments)
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
    """Counted in plain Python, for a mass that is at rest and for one that bounces: there is no search."""
    process = subprocess.run(
        [sys.executable, "-c", COUNTING, "0.0", "-9.81"],
        env={**os.environ, "COSIM_PLAIN": "1", "PYTHONPATH": os.pathsep.join(filter(None, sys.path))},
        capture_output=True,
        text=True,
        check=False,
    )
    assert process.returncode == 0, process.stderr
    at_rest, bouncing = (list(map(int, line.split())) for line in process.stdout.splitlines())
    assert at_rest[0] <= 3 < bouncing[0]
    for events, steps, points, searches in (at_rest, bouncing):
        assert searches == 0
        assert 3 * steps <= points <= 3 * steps + 2 * events
