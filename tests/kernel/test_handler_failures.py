"""Handlers and monitors that raise, ask to stop or write what they must not, and how the run goes on."""

import math

import pytest
from mover_parts import WINDOW, Crosser, Mover, simulator_of

import cosim


class Stopping(Crosser):
    """Asks to stop when x reaches the level."""

    @cosim.on(Crosser.above, does="unrestricted")
    def stop(self, state, next_state):
        return cosim.EventStatus.reached_termination("enough")


def test_a_run_that_a_located_event_has_stopped_goes_on_without_repeating_it():
    simulator = simulator_of(Stopping(level=0.5))
    status = simulator.advance_to(1.0)
    assert status.reason is cosim.Reason.REACHED_TERMINATION
    assert "enough" in status.format_message()
    assert simulator.state.time == pytest.approx(0.5, abs=WINDOW)
    assert simulator.state["part.hits"] == 1
    simulator.advance_to(1.0)
    assert (simulator.state.time, simulator.state["part.hits"]) == (1.0, 1)


def test_a_run_goes_on_after_a_monitor_has_raised():
    errors = [ZeroDivisionError("oops")]

    def monitor(state):
        if state.time >= 0.3 and errors:
            raise errors.pop()

    simulator = simulator_of(Crosser)
    simulator.set_monitor(monitor)
    with pytest.raises(cosim.SimulationError, match="monitor.*oops"):
        simulator.advance_to(2.0)
    simulator.advance_to(2.0)
    assert (simulator.state.time, simulator.state["part.hits"]) == (2.0, 1)


INTERRUPTS: list[BaseException] = []
"""What handlers raise once; each test fills it."""


class InterruptedPublish(Crosser):
    """The interrupt comes in a publish."""

    @cosim.on(Crosser.above, does="publish")
    def show(self, state):
        if INTERRUPTS:
            raise INTERRUPTS.pop()


def test_an_interrupt_in_a_publish_keeps_the_update_before_it():
    INTERRUPTS[:] = [KeyboardInterrupt()]
    simulator = simulator_of(InterruptedPublish(level=0.5))
    with pytest.raises(KeyboardInterrupt):
        simulator.advance_to(1.0)
    assert simulator.state.time <= 0.5 + WINDOW
    simulator.advance_to(1.0)
    assert (simulator.state.time, simulator.state["part.hits"]) == (1.0, 1)


class InterruptedUpdate(Crosser):
    """The interrupt comes in the update, after it has written."""

    @cosim.on(Crosser.above, does="unrestricted")
    def hit(self, state, next_state):
        next_state["part.hits"] = state["part.hits"] + 1
        if INTERRUPTS:
            raise INTERRUPTS.pop()


def test_an_update_that_is_interrupted_is_discarded_and_done_by_the_next_call():
    INTERRUPTS[:] = [KeyboardInterrupt()]
    simulator = simulator_of(InterruptedUpdate(level=0.5))
    with pytest.raises(KeyboardInterrupt):
        simulator.advance_to(1.0)
    assert simulator.state["part.hits"] == 0
    simulator.advance_to(1.0)
    assert (simulator.state.time, simulator.state["part.hits"]) == (1.0, 1)


class Raising(Mover):
    """Raises after it has written, at each try."""

    count = cosim.discrete(dtype=int)

    @cosim.at([0.5], does="discrete")
    def bad(self, state, next_state):
        next_state["part.count"] = 7
        raise ValueError("bad thing")


def test_a_handler_that_raises_is_the_cause_and_what_it_wrote_is_discarded():
    simulator = simulator_of(Raising)
    with pytest.raises(cosim.SimulationError, match="part.bad.*bad thing") as caught:
        simulator.advance_to(1.0)
    assert isinstance(caught.value.__cause__, ValueError)
    assert (simulator.state.time, simulator.state["part.count"]) == (0.5, 0)
    with pytest.raises(cosim.SimulationError):  # the event is still to be handled
        simulator.advance_to(1.0)
    assert simulator.state.time == 0.5


class ShiftingTime(Mover):
    """Sets the time."""

    @cosim.at([0.5], does="unrestricted")
    def shift(self, state, next_state):
        next_state.set_time(3.0)


def test_a_handler_cannot_change_the_time():
    simulator = simulator_of(ShiftingTime)
    with pytest.raises(cosim.SimulationError, match="time"):
        simulator.advance_to(1.0)
    assert simulator.state.time == 0.5


class WritingPublish(Mover):
    """A publish that writes."""

    @cosim.at([0.5], does="publish")
    def cheat(self, state):
        state["part.x"] = 99.0


def test_a_publish_cannot_write():
    simulator = simulator_of(WritingPublish)
    with pytest.raises(cosim.SimulationError, match="part.cheat"):
        simulator.advance_to(1.0)
    assert simulator.state["part.x"] == pytest.approx(0.5, abs=1e-9)


class Infinite(Mover):
    """Writes infinity into a state."""

    @cosim.at([0.5], does="unrestricted")
    def spoil(x_next):
        x_next[0] = math.inf


def test_a_compiled_handler_that_writes_infinity_is_refused():
    simulator = simulator_of(Infinite)
    with pytest.raises(cosim.SimulationError, match=r"= 0\.5.*part\.spoil: part\.x became .inf."):
        simulator.advance_to(1.0)
    assert simulator.state["part.x"] == pytest.approx(0.5)
