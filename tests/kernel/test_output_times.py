"""Output times are the doubles nearest to the times on paper, and meet ticks of the same times."""

from __future__ import annotations

import math
from fractions import Fraction
from typing import Any

import numpy as np
import pytest

import cosim
from cosim.simulation.output_interval import counted_grid, output_times
from cosim.simulation.simulate import simulate


class Counter(cosim.Component):
    """Counts its ticks."""

    x = cosim.auxiliary_state()
    ticks = cosim.discrete(dtype=int)
    period = cosim.parameter(unit="s", default=1000.0)

    @cosim.kernel
    def derivatives(x_dot):
        x_dot[0] = 1.0

    @cosim.every("period", does="discrete")
    def tick(ticks, ticks_next):
        ticks_next[0] = ticks + 1


def model_of_a_counter(**values: Any) -> cosim.Model:
    model = cosim.Model("m")
    model.add(Counter, "p", **values)
    return model


@pytest.mark.parametrize(
    ("period", "interval", "until"),
    [
        (0.3, 0.1, 30.0),
        ("900 ms", "300 ms", 90.0),
        ("1/3 s", "1/9 s", 20.0),
        ("1/7 s", "1/7 s", 10.0),
        (0.7, 0.7, 70.0),
    ],
)
def test_output_times_and_ticks_that_meet_are_one_instant(period: Any, interval: Any, until: float) -> None:
    """Each output time is the double nearest to the one on paper, and its last row is that after the tick."""
    result = model_of_a_counter(period=period).simulate(until=until, output_interval=interval)
    spacing, tick = (cosim.kit.exact_quantity(time, "s") for time in (interval, period))
    times = np.asarray(result["time"])
    for i in range(int(Fraction(until) / spacing)):
        rows = np.flatnonzero(times == float(i * spacing))
        assert rows.size == (2 if (i * spacing) % tick == 0 else 1)
        assert np.asarray(result["p.ticks"])[rows[-1]] == i * spacing // tick + 1
    distances = np.diff(times)
    assert not np.any((distances > 0.0) & (distances < 1e-9))


@pytest.mark.parametrize("start", [0.3, 0.7, 1.2])
def test_a_run_that_goes_on_from_an_output_time_has_it_once(start: float) -> None:
    system = model_of_a_counter().build()
    simulator = cosim.Simulator(system, accuracy=1e-6)
    simulator.advance_to(start)
    result = simulate(system, until=2.0, output_interval=0.1, accuracy=1e-6, state=simulator.state)
    first_index = round(start * 10)
    assert np.asarray(result["time"]).tolist() == [i / 10 for i in range(first_index, 21)]


def test_runs_of_an_ensemble_have_the_same_output_times() -> None:
    settings = {"until": 3.0, "output_interval": 0.1}
    times = cosim.Ensemble(model_of_a_counter().build(), **settings).run({"p.x": [0.0, 1.0]}).time
    assert times.tolist() == [i / 10 for i in range(31)]
    result = model_of_a_counter().simulate(**settings)
    assert np.unique(np.asarray(result["time"])).tolist() == times.tolist()


def test_output_times_that_cannot_be_counted_are_products() -> None:
    """A resolution of 0 says so: the interval or the start is too fine, or the interval has no end."""
    assert counted_grid(0.0, 1e-300)["resolution"] == 0.0
    assert counted_grid(2.0**-50, 0.1)["resolution"] == 5 * 2.0**50
    assert counted_grid(2.0**-52, 0.1)["resolution"] == 0.0
    assert counted_grid(0.0, math.inf)["resolution"] == 0.0
    assert output_times(0.0, 1e-300, np.arange(3)).tolist() == [0.0, 1e-300, 2e-300]
    assert output_times(-0.5, 0.1, np.array([0, 3, 7])).tolist() == [-0.5, -0.2, 0.2]
    last = 2**53 // 3 + 1  # here the count leaves the integers that are doubles
    assert output_times(0.0, 0.3, np.array([last - 2, last])).tolist() == [(last - 2) * 3 / 10, last * 0.3]
