"""A monitor sees and may do the same in `advance_to`, whose steps are compiled, as in single steps."""

import math
import os
import signal
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import pytest
from swing_parts import delayed_swing

from cosim import EventStatus, SimulationError, Simulator, State

SYSTEM = delayed_swing()
END = 4.0
METHODS = [{"integrator": "integrators.runge_kutta_4", "fixed_step": 0.01}, {"maximum_step": 0.05}]
Monitor = Callable[[Simulator, State], EventStatus | None]


@dataclass(frozen=True)
class Outcome:
    """What a monitor saw of a run, and what came of it."""

    points: list[tuple[float, ...]]
    """The time and some values, at each call of the monitor."""
    error: tuple[str, str] | None
    reason: Any
    return_time: float
    message: str
    state: bytes
    events: list[tuple[float, str]]


def run(monitor: Monitor, singly: bool, options: dict[str, Any]) -> Outcome:
    """A run until `END` in single steps, or in as few calls as the monitor allows."""
    simulator, points, raised = Simulator(SYSTEM, accuracy=1e-6, **options), list[Any](), None

    def watch(state: State) -> EventStatus | None:
        names = ("swing.height", "swing.energy", "swing.counts", "late.value")
        points.append((state.time, *(float(state[name]) for name in names)))
        return monitor(simulator, state)

    simulator.set_monitor(watch)
    advance = simulator.step if singly else simulator.advance_to
    try:
        simulator.initialize()
        while simulator.state.time < END and simulator.status.succeeded:
            advance(END)
    except (SimulationError, KeyboardInterrupt) as error:
        raised = type(error).__name__, str(error)
    status = simulator.status
    events = [(event.time, event.name) for event in simulator.events]
    return Outcome(
        points, raised, status.reason, status.return_time, status.message, simulator.state.to_bytes(), events
    )


def only_watch(simulator: Simulator, state: State) -> None:
    return None


def write(simulator: Simulator, state: State) -> None:
    if 1.0 < state.time < 1.1:
        state["swing.stiffness"] = 3.0 + state.time


def stop(simulator: Simulator, state: State) -> EventStatus | None:
    return EventStatus.reached_termination("enough") if state.time > 2.0 else EventStatus.did_nothing()


def fail(simulator: Simulator, state: State) -> EventStatus | None:
    return EventStatus.failed("no more") if state.time > 2.0 else None


def raise_error(simulator: Simulator, state: State) -> None:
    if state.time > 2.0:
        raise ValueError("no more")


def tighten(simulator: Simulator, state: State) -> None:
    if state.time > 2.0:
        state.accuracy = 1e-9


def leave(simulator: Simulator, state: State) -> None:
    if state.time > 2.0:
        simulator.clear_monitor()


def change_time(simulator: Simulator, state: State) -> None:
    if state.time > 2.0:
        state.set_time(1.0)


def step_again(simulator: Simulator, state: State) -> None:
    if state.time > 2.0:
        simulator.step()


CASES = [only_watch, write, stop, fail, raise_error, tighten, leave, change_time, step_again]


@pytest.mark.by_turns
@pytest.mark.parametrize("options", METHODS)
@pytest.mark.parametrize("monitor", CASES)
def test_a_run_in_few_calls_is_that_in_single_steps(monitor: Monitor, options: dict[str, Any]) -> None:
    outcome = run(monitor, False, options)
    assert len(outcome.points) > 40
    assert outcome == run(monitor, True, options)


def test_ctrl_c_in_a_monitor_ends_the_run_behind_its_step() -> None:
    def interrupt(simulator: Simulator, state: State) -> None:
        if state.time > 2.0:
            os.kill(os.getpid(), signal.SIGINT)
            interrupt_times.append(state.time)

    interrupt_times: list[float] = []
    outcome = run(interrupt, False, METHODS[0])
    assert outcome.error is not None and outcome.error[0] == "KeyboardInterrupt"
    assert interrupt_times == [outcome.return_time] == [outcome.points[-1][0]]


def test_a_monitor_may_switch_real_time_on() -> None:
    """From then on the monitor is called between single steps."""

    def hurry(simulator: Simulator, state: State) -> None:
        simulator.target_realtime_rate = 1e9 if state.time > 2.0 else 0.0

    outcome = run(hurry, False, METHODS[0])
    assert outcome.return_time == END and math.isclose(outcome.points[-1][0], END)
