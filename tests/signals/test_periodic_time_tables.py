"""Periodic time tables: the times of their points are exact in every repetition."""

from __future__ import annotations

import math
import random
from fractions import Fraction

import pytest
from how_many import many
from time_tables import SAMPLES, TIMES, simulator_of_table, values_at

import cosim
from cosim_signals.time_table import HELD, PERIODIC, piece_at, point_time

REPEATED = [
    ([0.0, 0.1, 0.3], 0.0, ("0", "0.1", "0.3")),
    ([0.1, 0.4], 0.2, ("0.1", "0.4")),
    ([0.0, 1 / 3], 0.0, ("0", "1/3")),
    ([0.0, 0.05, 0.9], -0.7, ("0", "0.05", "0.9")),
]


class Ticking(cosim.Component):
    """Ticks every 300 ms."""

    ticks = cosim.discrete(dtype=int)

    @cosim.every("300 ms", does="discrete")
    def tick(ticks, ticks_next):
        ticks_next[0] = ticks + 1


@pytest.mark.few(5)
@pytest.mark.parametrize("interpolation", ["linear", "held", "cubic", "monotone"])
@pytest.mark.parametrize("start", [-2.3, 0.0, 0.35, 5.999])
def test_a_periodic_table_repeats_its_values(interpolation: str, start: float) -> None:
    once = simulator_of_table(interpolation=interpolation)
    model = cosim.Model("periodic")
    values = {"times": TIMES, "samples": SAMPLES, "interpolation": interpolation}
    model.add("signals.time_table", "table", **values, extrapolation="periodic", shift_time="100 ms")
    state = model.build().default_state()
    state.set_time(start)
    simulator = cosim.Simulator(state.system, state, accuracy=1e-6)
    times_in_table = [0.01, 0.2, 0.33, 0.81]
    times = [k + 0.1 + t for k in (6, 7, 8) for t in times_in_table]
    assert values_at(simulator, times) == pytest.approx(values_at(once, times_in_table) * 3, abs=1e-11)


@pytest.mark.parametrize(("times", "shift_time", "exact_times"), REPEATED)
def test_times_of_repeated_points_are_exact(
    times: list[float], shift_time: float, exact_times: tuple[str, ...]
) -> None:
    """The times are those of rational arithmetic, in a million repetitions before and after the first one."""
    exact = [Fraction(point) for point in exact_times]
    draw, last, wrong_products = random.Random(7), len(times) - 1, 0
    for _ in range(many(120)):
        cycle, point = draw.randint(-(10**6), 10**6), draw.randint(0, last)
        expected = float(Fraction(repr(shift_time)) + exact[point] + cycle * (exact[-1] - exact[0]))
        assert point_time(times, point, shift_time, cycle) == expected
        wrong_products += shift_time + cycle * (times[-1] - times[0]) + times[point] != expected
        from_here = (point, cycle) if point < last else (0, cycle + 1)
        before_here = (point - 1, cycle) if point > 0 else (last - 1, cycle - 1)
        before = math.nextafter(expected, -math.inf)
        for t, (first, repeated) in ((expected, from_here), (before, before_here)):
            assert piece_at(t, times, HELD, PERIODIC, shift_time)[::2] == (first, repeated)
    assert wrong_products > many(25), "products of doubles would pass this test"


def test_times_without_a_common_interval_are_products_of_doubles() -> None:
    times = [0.0, 1e-30, 0.3]
    assert point_time(times, 1, 0.1, 3) == 0.1 + 3 * 0.3 + 1e-30
    assert point_time(times, 2, 0.1, 3) == 1.3, "0.1 + 4 * 0.3 in rational arithmetic"


@pytest.mark.parametrize("interpolation", ["held", "linear"])
def test_jumps_and_ticks_at_one_time_are_one_instant(interpolation: str) -> None:
    """Jumps come every 100 ms, edges every 150 ms and ticks every 300 ms."""
    model = cosim.Model("clocks")
    model.add(Ticking, "clock")
    times = [0.0, 0.1, 0.1, 0.2, 0.2, 0.3] if interpolation == "linear" else [0.0, 0.1, 0.2, 0.3]
    model.add(
        "signals.time_table",
        "table",
        times=times,
        samples=list(range(len(times))),
        interpolation=interpolation,
        extrapolation="periodic",
        shift_time=0.7,
    )
    model.add("signals.pulse", "pulse", period=0.3, width=0.5)
    simulator = cosim.Simulator(model.build(), integrator="integrators.heun", accuracy=1e-2)
    simulator.advance_to(120.0)
    simulator.advance_pending_events()
    instants = sorted({event.time for event in simulator.events if event.time > 0.0})
    jumps, edges = ({k * Fraction(step) for k in range(1, n)} for step, n in (("0.1", 1201), ("0.15", 801)))
    assert instants == [float(time) for time in sorted(jumps | edges)]


def test_the_slope_at_a_jump_is_that_of_the_piece_before_it() -> None:
    """It does not depend on rounding of the time in the table: 0.7 + 0.1 - 0.7 is more than 0.1."""
    simulator = simulator_of_table(
        times=[0.0, 0.1, 0.1, 0.3], samples=[0.0, 1.0, 5.0, 7.0], extrapolation="periodic", shift_time=0.7
    )
    for cycle in range(1, 40):
        for offset, value, slope in ((0.1, 1.0, 10.0), (0.3, 7.0, 10.0)):
            simulator.advance_to(float(Fraction("0.7") + cycle * Fraction("0.3") + Fraction(repr(offset))))
            state = simulator.state.realize()
            assert state["table"] == pytest.approx(value, abs=1e-12), cycle
            assert state["table.value_dot"] == pytest.approx(slope), cycle
