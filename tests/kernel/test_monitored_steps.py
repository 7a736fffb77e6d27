"""A monitor that compiled steps call, against one step at a call."""

import math
import os
import signal
from collections.abc import Callable
from typing import Any

import pytest

import cosim
from cosim import EventStatus, SimulationError, Simulator, State


class Swing(cosim.Component):
    """A mass on a spring that is pushed now and then. Law: height'' = -stiffness height."""

    stiffness = cosim.parameter(unit="N/m", default=4.0)
    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    energy = cosim.output(unit="J")
    counts = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(stiffness, height, speed, height_dot, speed_dot, energy):  # type: ignore[no-untyped-def]
        height_dot[0] = speed
        speed_dot[0] = -stiffness * height
        energy[0] = 0.5 * (speed * speed + stiffness * height * height)

    @cosim.every(0.3, does="discrete")
    def count(counts, counts_next):  # type: ignore[no-untyped-def]
        counts_next[0] = counts + 1

    @cosim.witness(direction="falling")
    def low(height):  # type: ignore[no-untyped-def]
        return height

    @cosim.on(low, does="unrestricted")
    def push(speed, speed_next):  # type: ignore[no-untyped-def]
        speed_next[0] = 1.01 * speed


def built() -> cosim.System:
    model = cosim.Model("swing")
    model.add(Swing, "swing")
    model.add("measures.delay", "late", source="swing.height", delay=0.05)
    return model.build()


SYSTEM = built()
END = 4.0
METHODS = [{"integrator": "integrators.runge_kutta_4", "fixed_step": 0.01}, {"maximum_step": 0.05}]
Monitor = Callable[[Simulator, State], EventStatus | None]


def run(monitor: Monitor, singly: bool, options: dict[str, Any]) -> tuple[list[Any], Any, bytes, list[Any]]:
    """What the monitor saw, how the run ended, the State and the events."""
    simulator, seen = Simulator(SYSTEM, accuracy=1e-6, **options), list[Any]()

    def watch(state: State) -> EventStatus | None:
        names = ("swing.height", "swing.energy", "swing.counts", "late.value")
        seen.append((state.time, *(float(state[name]) for name in names)))
        return monitor(simulator, state)

    simulator.set_monitor(watch)
    ended: Any = ""
    try:
        simulator.initialize()
        while simulator.state.time < END and simulator.status.succeeded:
            if singly:
                simulator.step(END)
            else:
                simulator.advance_to(END)
    except (SimulationError, KeyboardInterrupt) as error:
        ended = type(error).__name__, str(error)
    status = simulator.status
    events = [(event.time, event.name) for event in simulator.events]
    how = ended, status.reason, status.return_time, status.message
    return seen, how, simulator.state.to_bytes(), events


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
def test_many_steps_are_as_single_ones(monitor: Monitor, options: dict[str, Any]) -> None:
    seen, how, state, events = run(monitor, False, options)
    assert len(seen) > 40
    assert (seen, how, state, events) == run(monitor, True, options)


def test_ctrl_c_in_a_monitor_ends_the_run_behind_its_step() -> None:
    def interrupt(simulator: Simulator, state: State) -> None:
        if state.time > 2.0:
            os.kill(os.getpid(), signal.SIGINT)
            interrupted.append(state.time)

    interrupted: list[float] = []
    seen, how, _, _ = run(interrupt, False, METHODS[0])
    assert how[0][0] == "KeyboardInterrupt" and len(interrupted) == 1
    assert how[2] == seen[-1][0] == interrupted[0]


def test_a_run_in_real_time_calls_the_monitor_step_by_step() -> None:
    def hurry(simulator: Simulator, state: State) -> None:
        simulator.target_realtime_rate = 1e9 if state.time > 2.0 else 0.0

    seen, how, _, _ = run(hurry, False, METHODS[0])
    assert how[2] == END and math.isclose(seen[-1][0], END)
