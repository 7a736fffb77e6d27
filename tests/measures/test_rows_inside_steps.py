"""Rows between the ends of steps show what memories were there, not what the end of the step made of them."""

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


class Rising(cosim.Component):
    """A wave that rises, which nothing integrates: steps are long."""

    y = cosim.output()

    @cosim.kernel
    def outputs(t, y):
        y[0] = math.sin(6.0 * t) + 0.2 * t


class Swing(cosim.Component):
    """The same wave as a state."""

    phase = cosim.auxiliary_state()
    y = cosim.output()

    @cosim.kernel
    def derivatives(phase_dot):
        phase_dot[0] = 6.0

    @cosim.kernel
    def outputs(phase, y):
        y[0] = math.sin(phase) + 0.2 / 6.0 * phase


@pytest.mark.by_turns
@pytest.mark.parametrize("kind", list(RUNNING))
@pytest.mark.parametrize(("source", "step"), [(Rising, None), (Swing, None), (Rising, 0.25), (Swing, 0.25)])
def test_an_extreme_stands_in_no_row_before_its_time(kind: str, source: type, step: float | None) -> None:
    model = cosim.Model("rows")
    model.add(source, "wave")
    model.add(f"measures.{kind}", "best", source="wave.y")
    options = {"integrator": "integrators.runge_kutta_4", "fixed_step": step} if step else {}
    result = model.simulate(until=UNTIL, accuracy=1e-6, output_interval=0.04, **options)
    expected = np.interp(result.time, TIMES, RUNNING[kind])
    assert np.abs(result["best"] - expected).max() < 2e-6
    assert (result["best.time"] <= result.time).all()
    when = np.sin(6.0 * result["best.time"]) + 0.2 * result["best.time"]
    sized = np.abs(when) if kind.endswith("abs") else when
    assert np.abs(sized - result["best"]).max() < 1e-5


class Counter(cosim.Measure):
    """How many steps have ended, and half of it, in a slot that follows from parameters otherwise."""

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


@pytest.mark.parametrize("integrator", ["runge_kutta_merson", "dormand_prince", "bdf"])
def test_updates_of_every_step_show_at_its_end(integrator: str) -> None:
    model = cosim.Model("counting")
    model.add(Swing, "wave")
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
    first = rows[0, 1] - np.searchsorted(ends, rows[0, 0], side="right")
    assert first in (0.0, 1.0)  # the start counts as a step, or not
    for time, *found in rows:
        ended = first + np.searchsorted(ends, time, side="right")
        assert found == [ended, ended, ended, 0.5 * ended], time
    assert len(rows) > 3 * len(ends)


class Buzz(cosim.Component):
    """Too fast for steps of a second; a state that moves slowly."""

    x = cosim.auxiliary_state(start=1.0)
    y = cosim.output()

    @cosim.kernel
    def derivatives(x, x_dot):
        x_dot[0] = -0.1 * x

    @cosim.kernel
    def outputs(t, y):
        y[0] = math.sin(3000.0 * t)


def test_what_fixed_steps_have_no_room_for_is_told() -> None:
    model = cosim.Model("buzz")
    model.add(Buzz, "buzz")
    model.add("measures.delay", "late", source="buzz.y", delay=1.0)
    result = model.simulate(until=1.0, integrator="integrators.runge_kutta_4", fixed_step=1.0, accuracy=1e-4)
    assert [(f.kind, f.witness) for f in result.findings] == [("not smooth", "late")]
