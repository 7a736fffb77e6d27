"""Lowered entry points of Model Exchange, driven by a host with an integration method of its own."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
from event_parts import Ball, Clockwork
from lowered_run import LoweredRun
from zero_parts import FloorBall, Mixture, Tank

import cosim
from cosim.run_data.records.evaluation import NOTHING
from cosim.step import failures

STEP = 0.002
"""The step size of the host, s."""


class Host:
    """Integrates with the classical Runge–Kutta method, and locates events by bisection."""

    def __init__(self, system: cosim.System) -> None:
        self.run = LoweredRun(system, "integrators.dormand_prince_853", accuracy=1e-9)
        assert self.run.call("initialize", 0.0) == failures.REACHED
        self.handle_events(0.0)

    def handle_events(self, t: float) -> None:
        assert self.run.call("event", t) == failures.REACHED

    def derivative(self, t: float, y: Any) -> Any:
        self.set(t, y)
        return self.run.arrays["c"][: y.size].copy()

    def set(self, t: float, y: Any) -> None:
        self.run.arrays["y"][:] = y
        self.run.memory.evaluation.stage = NOTHING
        assert self.run.call("evaluate", t) == failures.REACHED

    def indicators(self) -> Any:
        c, clock = self.run.arrays["c"], self.run.arrays["times"]
        return np.array([c[i] - clock[level] for i, level in self.run.program.indicators.values()])

    def step(self, t: float, y: Any, h: float) -> Any:
        f: Callable[[float, Any], Any] = self.derivative
        a = f(t, y)
        b = f(t + h / 2, y + h / 2 * a)
        c = f(t + h / 2, y + h / 2 * b)
        d = f(t + h, y + h * c)
        return y + h / 6 * (a + 2 * b + 2 * c + d)

    def advance(self, stop: float) -> None:
        t, y = self.run.time, self.run.arrays["y"].copy()
        while t < stop:
            due = float(self.run.memory.clock.next_event)
            end = min(t + STEP, stop, due)
            self.set(t, y)
            before = self.indicators()
            y_end = self.step(t, y, end - t)
            self.set(end, y_end)
            if np.any((before > 0) != (self.indicators() > 0)):  # an event: bisect its time
                low, high = t, end
                while high - low > 1e-13:
                    middle = 0.5 * (low + high)
                    self.set(middle, self.step(t, y, middle - t))
                    crossed = np.any((before > 0) != (self.indicators() > 0))
                    low, high = (low, middle) if crossed else (middle, high)
                end, y_end = high, self.step(t, y, high - t)
                self.set(end, y_end)
            code = self.run.call("completed", end)
            assert code in (failures.REACHED, failures.EVENT)
            if code == failures.EVENT or end >= due:
                self.handle_events(end)
            t, y = end, self.run.arrays["y"].copy()


def test_state_events_are_those_of_a_simulator() -> None:
    model = cosim.Model("ball")
    model.add(Ball, "ball")
    host = Host(model.build())
    host.advance(2.0)
    simulator = cosim.Simulator(model.build(), integrator="integrators.dormand_prince_853", accuracy=1e-9)
    simulator.advance_to(2.0)
    assert simulator.state["ball.bounces"] >= 3
    assert np.array_equal(simulator.state._arrays["k"], host.run.arrays["k"])
    np.testing.assert_allclose(host.run.arrays["y"], simulator.state.y, rtol=1e-6, atol=1e-6)


@pytest.mark.thorough
def test_a_level_that_stays_on_its_threshold_closes_its_valve_once() -> None:
    for part in (Tank, Mixture):
        model = cosim.Model("tank")
        model.add(part, "tank")
        host = Host(model.build())
        host.advance(2.0)
        assert host.run.arrays["k"].tolist() == [1]


def test_a_witness_that_starts_at_zero_and_falls_is_an_event() -> None:
    model = cosim.Model("ball")
    model.add(FloorBall(put_at=1e9), "ball")
    host = Host(model.build())
    host.run.arrays["y"][1] = -1.0
    host.advance(0.1)
    assert host.run.arrays["k"].tolist() == [1]
    assert host.run.arrays["y"][0] > 0.0


def test_the_times_of_the_next_time_events() -> None:
    model = cosim.Model("clock")
    model.add(Clockwork, "clockwork")
    host = Host(model.build())
    assert host.run.memory.clock.next_event == 0.05
    host.advance(0.12)
    assert host.run.memory.clock.next_event == 0.13


class TwoClocks(cosim.Component):
    """0.01 + 27 * 0.03 and 0.05 + 7 * 0.11 are both 0.82, and differ in the last bit."""

    fast = cosim.discrete(dtype=int)
    slow = cosim.discrete(dtype=int)

    @cosim.every(0.03, offset=0.01, does="discrete")
    def tick(fast, fast_next):
        fast_next[0] = fast + 1

    @cosim.every(0.11, offset=0.05, does="discrete")
    def tock(slow, slow_next):
        slow_next[0] = slow + 1


def test_two_ticks_that_differ_by_rounding_are_one_event() -> None:
    model = cosim.Model("clocks")
    model.add(TwoClocks, "clocks")
    host = Host(model.build())
    first = 0.01 + 27 * 0.03
    assert first < 0.05 + 7 * 0.11
    while (due := float(host.run.memory.clock.next_event)) < first:
        host.handle_events(due)
    host.handle_events(float(np.nextafter(first, 0.0)))  # the 0.82 that a host computes may be smaller still
    assert sorted(host.run.arrays["k"][-2:]) == [8, 28]
    assert host.run.memory.clock.next_event == 0.01 + 28 * 0.03


@pytest.mark.by_turns
@pytest.mark.parametrize("relative_error", [-4e-10, 0.0, 4e-10])
@pytest.mark.parametrize("completes_step", [False, True])
def test_a_tick_that_a_step_misses_by_rounding_is_handled_at_its_end(
    relative_error: float, completes_step: bool
) -> None:
    """Whether or not the host reports the completed step before it handles events."""
    model = cosim.Model("clocks")
    model.add(TwoClocks, "clocks")
    host = Host(model.build())
    for i in range(100):
        due = float(host.run.memory.clock.next_event)
        step_end = due + relative_error * (due - host.run.time)
        if completes_step:
            assert host.run.call("completed", step_end) in (failures.REACHED, failures.EVENT)
        host.handle_events(step_end)
        assert host.run.time == max(due, step_end)
        assert host.run.memory.clock.next_event > max(due, step_end), i


def test_a_saved_state_with_impossible_numbers_is_refused() -> None:
    model = cosim.Model("late")
    model.add(Ball, "ball")
    model.add("measures.delay", "late", source="ball.height", delay=0.1)
    run = LoweredRun(model.build(), "integrators.dormand_prince_853", accuracy=1e-6)
    run.call("initialize")
    assert run.call("check") == failures.REACHED
    ring = run.program.system.rings[0].offset
    # start, capacity, count and beginning of a history
    for place, value in ((0, 1 << 40), (1, 0), (3, 99), (5, 1 << 50)):
        saved_number = run.arrays["k"][ring + place]
        run.arrays["k"][ring + place] = value
        assert run.call("check") == failures.ForeignState.number
        run.arrays["k"][ring + place] = saved_number
    for name, value in (("memory", math.nan), ("memory", -1.0), ("y", math.inf)):
        saved_number = run.arrays[name][0]
        run.arrays[name][0] = value
        assert run.call("check") == failures.ForeignState.number
        run.arrays[name][0] = saved_number
    assert run.call("check") == failures.REACHED


def test_a_break_that_arrives_through_a_delay_restarts_the_integration_of_the_host() -> None:
    """A sample changes at 0.3 s and arrives 0.1 s later: the derivative of the area jumps, no state does."""
    model = cosim.Model("late")
    model.measure("measures.time", "now")
    model.measure("measures.sample_and_hold", "held", source="now", period=0.3)
    model.measure("measures.delay", "late", source="held", delay=0.1)
    model.measure("measures.integrate", "area", source="late")
    host = Host(model.build())
    states_changed: dict[float, float] = {}
    handle_events = host.handle_events

    def handle_and_note(t: float) -> None:
        handle_events(t)
        states_changed[round(t, 9)] = float(host.run.memory.clock.states_changed)

    host.handle_events = handle_and_note  # type: ignore[method-assign]
    host.advance(0.5)
    assert states_changed[0.4] == 1.0
    np.testing.assert_allclose(host.run.arrays["y"], [0.1 * 0.3], rtol=1e-9)


class Lift(cosim.Component):
    """Rises until a tick at 0.1 s stops it; the handler of its upper end changes nothing."""

    speed = cosim.discrete(start=1.0)
    arrivals = cosim.discrete(dtype=int)
    height = cosim.auxiliary_state(start=0.9)

    @cosim.kernel
    def law(speed, height_dot):
        height_dot[0] = speed

    @cosim.every(0.1, offset=0.1, does="discrete")
    @cosim.kernel
    def stop(speed_next):
        speed_next[0] = 0.0

    @cosim.witness(direction="rising")
    def end(height):
        return height - 1.0

    @cosim.on(end, does="discrete")
    @cosim.kernel
    def arrive(arrivals, arrivals_next):
        arrivals_next[0] = arrivals


@pytest.mark.parametrize(("height", "events"), [(1.0, 2), (1.0 - 2.0**-53, 2), (0.999, 1)])
def test_a_change_of_the_first_round_of_updates_is_reported_after_a_second_one_without_a_change(
    height: float, events: int
) -> None:
    """At its end, or just below, the stopped lift has arrived: that event is a second round of updates."""
    model = cosim.Model("lift")
    model.add(Lift, "lift")
    host = Host(model.build())
    host.set(0.1, [height])
    host.run.call("completed", 0.1)
    host.handle_events(0.1)
    assert host.run.arrays["d"].tolist() == [0.0]
    assert host.run.memory.counts.events == events
    assert host.run.memory.clock.states_changed == 1.0  # the derivative has jumped, no state has
