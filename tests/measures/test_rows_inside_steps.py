"""Rows inside a step show the values of memories at their time, not those after the end of the step."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim

UNTIL = 2.0
TIMES = np.linspace(0.0, UNTIL, 20_001)
SIGNAL = np.sin(6.0 * TIMES) + 0.2 * TIMES
RUNNING = {
    "maximum": np.maximum.accumulate(SIGNAL),
    "minimum": np.minimum.accumulate(SIGNAL),
    "max_abs": np.maximum.accumulate(np.abs(SIGNAL)),
    "min_abs": np.minimum.accumulate(np.abs(SIGNAL)),
}


class RisingWave(cosim.Component):
    """A rising wave without a state, so steps are long."""

    y = cosim.output()

    @cosim.kernel
    def outputs(t, y):
        y[0] = math.sin(6.0 * t) + 0.2 * t


class IntegratedWave(cosim.Component):
    """The same wave, as a function of a state."""

    phase = cosim.auxiliary_state()
    y = cosim.output()

    @cosim.kernel
    def derivatives(phase_dot):
        phase_dot[0] = 6.0

    @cosim.kernel
    def outputs(phase, y):
        y[0] = math.sin(phase) + 0.2 / 6.0 * phase


class Counter(cosim.Measure):
    """The number of steps that have ended, and half of it in a slot of stage Instance."""

    source = cosim.source()
    count = cosim.discrete(dtype=int, invalidates=cosim.Stage.REPORT)
    size = cosim.discrete(invalidates=cosim.Stage.INSTANCE)
    half = cosim.cache_slot()

    @cosim.kernel
    def halve(size, half):
        half[0] = 0.5 * size

    @cosim.kernel
    def value(count, source, value):
        value[0] = count + 0.0 * source

    @cosim.update
    def step_ends(count, count_next, size, size_next):
        count_next[0] = count + 1
        size_next[0] = size + 1.0


class Buzz(cosim.Component):
    """An output too fast for steps of 1 s, and a slow state."""

    x = cosim.auxiliary_state(start=1.0)
    y = cosim.output()

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -0.1 * x

    @cosim.kernel
    def outputs(t, y):
        y[0] = math.sin(3000.0 * t)


@pytest.mark.by_turns
@pytest.mark.parametrize("kind", list(RUNNING))
@pytest.mark.parametrize(
    ("source", "step"),
    [(RisingWave, None), (IntegratedWave, None), (RisingWave, 0.25), (IntegratedWave, 0.25)],
)
def test_no_row_shows_an_extreme_before_its_time(kind: str, source: type, step: float | None) -> None:
    model = cosim.Model("rows")
    model.add(source, "wave")
    model.add(f"measures.{kind}", "best", source="wave.y")
    options = {"integrator": "integrators.runge_kutta_4", "fixed_step": step} if step else {}
    result = model.simulate(until=UNTIL, accuracy=1e-6, output_interval=0.04, **options)
    expected = np.interp(result.time, TIMES, RUNNING[kind])
    assert np.abs(result["best"] - expected).max() < 2e-6
    assert (result["best.time"] <= result.time).all()
    signal = np.sin(6.0 * result["best.time"]) + 0.2 * result["best.time"]
    value = np.abs(signal) if kind.endswith("abs") else signal
    assert np.abs(value - result["best"]).max() < 1e-5


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "dormand_prince", "bdf"])
def test_rows_show_updates_from_the_end_of_their_step_on(integrator: str) -> None:
    model = cosim.Model("counting")
    model.add(IntegratedWave, "wave")
    model.add(Counter, "steps", source="wave.y")
    simulator = cosim.Simulator(
        model.build(), integrator=f"integrators.{integrator}", accuracy=1e-4, maximum_step=0.3
    )
    ends: list[float] = []
    simulator.set_monitor(lambda state: ends.append(state.time))
    paths = ["steps", "steps.count", "steps.size", "steps.half"]
    simulator.record(paths, "grid", interval=0.0173, until=2.0)
    simulator.advance_to(2.0)
    rows = simulator.take_rows()
    count_at_start = rows[0, 1] - np.searchsorted(ends, rows[0, 0], side="right")
    assert count_at_start in (0.0, 1.0)  # updates may run at the start, too
    for time, *values in rows:
        ended = count_at_start + np.searchsorted(ends, time, side="right")
        assert values == [ended, ended, ended, 0.5 * ended], time
    assert len(rows) > 3 * len(ends)


def test_a_signal_too_fast_for_fixed_steps_is_a_finding() -> None:
    model = cosim.Model("buzz")
    model.add(Buzz, "buzz")
    model.add("measures.delay", "late", source="buzz.y", delay=1.0)
    result = model.simulate(until=1.0, integrator="integrators.runge_kutta_4", fixed_step=1.0, accuracy=1e-4)
    assert [(f.kind, f.witness) for f in result.findings] == [("not smooth", "late")]
