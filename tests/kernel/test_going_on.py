"""Continuing a run after a call that failed, was stopped or interrupted, and what users do in between."""

import os
import signal

import pytest
from falling_ball import FallingBall

import cosim
from cosim import EventCause, EventStatus, Reason


def simulator_of(part, **options):
    """A simulator of one part, ``part``."""
    model = cosim.Model("m")
    model.add(part, "part")
    return cosim.Simulator(model.build(), accuracy=1e-6, **options)


class Mover(cosim.Component):
    """Law: x' = 1."""

    x = cosim.auxiliary_state()
    count = cosim.discrete(dtype=int)

    @cosim.kernel
    def derivatives(x_dot):
        x_dot[0] = 1.0


class EveryStep(Mover):
    """Counts the updates that run at every step."""

    @cosim.on(EventCause.TIME_ADVANCED, does="discrete")
    def passed(self, state, next_state):
        next_state["part.count"] = state["part.count"] + 1


@pytest.mark.parametrize("fails", [False, True])
def test_a_monitor_that_fails_in_initialize_does_not_cost_an_update(fails):
    simulator = simulator_of(EveryStep, fixed_step=0.25)
    answers = iter([EventStatus.failed("not yet")] if fails else [])
    simulator.set_monitor(lambda state: next(answers, None))
    if fails:
        with pytest.raises(cosim.SimulationError, match="not yet"):
            simulator.initialize()
    simulator.advance_to(1.0)
    assert simulator.state["part.count"] == 4


class Halted(Mover):
    """Asks to stop at 0.5 s, from an update; its witness is its input less 0.5."""

    drive = cosim.input()

    @cosim.witness(direction="rising")
    def level(drive):
        return drive - 0.5

    @cosim.on(level, does="discrete")
    def hit(self, state, next_state):
        next_state["part.count"] = state["part.count"] + 1

    @cosim.at([0.5], does="discrete")
    def halt(self, state, next_state):
        return EventStatus.reached_termination()


def test_an_input_written_after_a_stop_triggers_at_the_time_of_the_stop():
    simulator = simulator_of(Halted)
    assert simulator.advance_to(1.0).return_time == 0.5
    simulator.state["part.drive"] = 1.0
    simulator.advance_to(1.0)
    assert [(e.handler, e.time) for e in simulator.events] == [("part.halt", 0.5), ("part.hit", 0.5)]


class Misbehaving(Mover):
    """Does at 0.5 s what is next in `DEEDS`."""

    @cosim.at([0.5], does="discrete")
    def misbehave(self, state, next_state):
        return DEEDS.pop()(next_state)


DEEDS = []
"""Functions of the next state, the last one first."""


@pytest.mark.parametrize(
    "deed, text",
    [
        (lambda state: 1 / 0, "ZeroDivisionError: division by zero"),
        (lambda state: EventStatus.failed("no"), "no"),
        (lambda state: state.set_time(3.0), "a handler cannot change time"),
        (lambda state: state.__setitem__("part.x", 2.0), "a discrete handler changed part.x"),
        (lambda state: 3, "a handler must return None or an EventStatus, not 3"),
    ],
)
def test_the_status_names_the_handler_that_failed_and_the_boundary_of_the_call(deed, text):
    simulator = simulator_of(Misbehaving)
    DEEDS[:] = [lambda state: None, deed]
    with pytest.raises(cosim.SimulationError):
        simulator.advance_to(1.0)
    status = simulator.status
    assert (status.reason, status.source) == (Reason.EVENT_HANDLER_FAILED, "part.misbehave")
    assert (status.return_time, status.boundary_time) == (0.5, 1.0)
    assert status.message.startswith(text) and simulator.events[-1].message == status.message
    assert simulator.advance_to(1.0).succeeded


@pytest.mark.parametrize(
    "deed, text",
    [
        (lambda simulator, state: 1 / 0, "ZeroDivisionError"),
        (lambda simulator, state: 3, "must return None or an EventStatus"),
        (lambda simulator, state: state.set_time(0.1), "a monitor cannot change time"),
        (lambda simulator, state: state.set_time(0.1) or 1 / 0, "ZeroDivisionError"),
        (lambda simulator, state: simulator.advance_to(5.0), "in the middle of a step"),
        (lambda simulator, state: simulator.replace_state(state.copy()), "in the middle of a step"),
    ],
)
def test_a_monitor_that_breaks_a_rule_fails_and_the_run_goes_on(deed, text):
    simulator = simulator_of(Mover, fixed_step=0.25)
    simulator.set_monitor(lambda state: deed(simulator, state) if state.time == 0.5 else None)
    with pytest.raises(cosim.SimulationError, match=text):
        simulator.advance_to(1.0)
    status = simulator.status
    assert (status.reason, status.source) == (Reason.EVENT_HANDLER_FAILED, "monitor")
    assert simulator.state.time == 0.5 and simulator.advance_to(1.0).succeeded


@pytest.mark.parametrize("call", [cosim.Simulator.advance_to, cosim.Simulator.step])
def test_ctrl_c_in_the_last_step_of_a_call_is_not_swallowed(call):
    simulator = simulator_of(Mover, fixed_step=0.25)

    simulator.advance_to(0.25)
    simulator.set_monitor(lambda state: os.kill(os.getpid(), signal.SIGINT) if state.time == 0.5 else None)
    with pytest.raises(KeyboardInterrupt):
        call(simulator, 0.5)
    assert (simulator.status.reason, simulator.status.return_time) == (Reason.INTERRUPTED, 0.5)
    simulator.clear_monitor()
    assert simulator.advance_to(1.0).succeeded


class CheckedBall(FallingBall):
    """A ball with impacts that pile up; a second handler of the impact fails every other time."""

    @cosim.on(FallingBall.floor, does="unrestricted")
    def bounce(speed, speed_next):
        speed_next[0] = -0.1 * speed

    @cosim.on(FallingBall.floor, does="discrete")
    def check(self, state, next_state):
        CALLS.append(state.time)
        return EventStatus.failed("not now") if len(CALLS) % 2 else None


CALLS = []


def test_a_failure_after_an_impact_does_not_let_the_ball_fall_through():
    simulator = simulator_of(CheckedBall)
    CALLS.clear()
    failures = 0
    while simulator.state.time < 2.0:
        try:
            simulator.advance_to(2.0)
        except cosim.SimulationError as error:
            assert "not now" in str(error)
            failures += 1
    bounces = [event.time for event in simulator.events if event.handler == "part.bounce"]
    assert len(bounces) == failures > 10
    assert abs(simulator.state["part.height"]) < 1e-6


class TwoPublishes(Mover):
    """One publish writes, one writes the value that is there already, and the last one reads an output."""

    double = cosim.output()

    @cosim.kernel
    def report(x, double):
        double[0] = 2.0 * x

    @cosim.at([0.5], does="publish")
    def bad(self, state):
        state["part.x"] = 7.0

    @cosim.at([0.5], does="publish")
    def idle(self, state):
        state["part.count"] = state["part.count"]

    @cosim.at([0.5], does="publish")
    def good(self, state):
        CALLS.append(state["part.double"])


def test_a_publish_that_writes_does_not_change_the_state_for_the_others():
    simulator = simulator_of(TwoPublishes)
    CALLS.clear()
    with pytest.raises(cosim.SimulationError, match=r"part\.bad failed: the handler"):
        simulator.advance_to(1.0)
    assert pytest.approx([1.0]) == CALLS


class Farewell(Mover):
    """Fails when the run ends."""

    @cosim.on(EventCause.TERMINATION, does="publish")
    def fall(self, state):
        raise ValueError("at the end")


def test_the_status_names_a_handler_that_fails_at_termination():
    simulator = simulator_of(Farewell, final_time=1.0)
    with pytest.raises(cosim.SimulationError, match="at the end"):
        simulator.advance_to(2.0)
    assert simulator.status.source == "part.fall"


def test_the_window_of_an_event_begins_at_the_time_of_a_replaced_state():
    first = simulator_of(Halted)
    assert not first.has_pending_updates  # this may be asked before the first step
    second = cosim.Simulator(first.system, accuracy=1e-6)
    for simulator, time in ((first, 0.1), (second, 0.3)):
        simulator.advance_to(time)
        simulator.state["part.drive"] = 1.0
    first.step(0.2)
    state = second.state
    second.release_state()
    first.replace_state(state)
    first.step(0.4)
    assert first.events[-1].window == (0.3, 0.3)


class Flag(Mover):
    """A signal without a handler."""

    flag = cosim.signal()


def test_a_signal_without_a_handler_is_cleared():
    simulator = simulator_of(Flag)
    simulator.advance_to(0.5)
    simulator.state["part.flag"] = 1
    simulator.advance_to(1.0)
    assert simulator.state["part.flag"] == 0
