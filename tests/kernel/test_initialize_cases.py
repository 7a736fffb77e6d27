"""Initialization: the numbered cases 1 to 9 and 11 of the Simulator's behavior."""

import pytest
from event_table import Recorder, names

import cosim
from cosim import EventStatus, Reason

TERMINATION, FAILED = EventStatus.reached_termination, EventStatus.failed


def test_case_1_order_and_counts():
    run = Recorder(time=0.125)
    status = run.simulator.initialize()
    order, times = run.take_log()
    assert order == names("iu id ip tp monitor")
    assert set(times) == {0.125}
    assert run.counts == (1, 1, 1, 0)
    assert status.reason is Reason.REACHED_BOUNDARY_TIME
    assert (status.return_time, status.boundary_time, run.simulator.state.time) == (0.125, 0.125, 0.125)


def test_case_2_handlers_that_did_nothing_are_not_counted():
    run = Recorder(time=0.125)
    run.answer_nothing()
    status = run.simulator.initialize()
    assert run.take_log()[0] == names("iu id ip tp monitor")
    assert run.counts == (0, 0, 0, 0)
    assert status.succeeded


@pytest.mark.parametrize(("failing", "ran"), [("iu1", "iu0 iu1"), ("iu0", "iu0")])
def test_case_3_failed_initialization(failing, ran):
    run = Recorder(time=0.125)
    run.answers[failing] = FAILED("no oil")
    before = run.simulator.state.copy()
    with pytest.raises(cosim.SimulationError, match=r"0\.125.*no oil") as caught:
        run.simulator.initialize()
    assert run.take_log()[0] == names(ran)
    assert run.counts == (0, 0, 0, 0)
    assert caught.value.time == 0.125
    assert run.simulator.state.time == before.time


def test_case_4_termination_from_an_update():
    run = Recorder(time=0.125)
    run.answers["iu1"] = TERMINATION("enough")
    status = run.simulator.initialize()
    assert run.take_log()[0] == names("iu id")
    assert run.counts == (1, 1, 0, 0)
    assert status.reason is Reason.REACHED_TERMINATION
    assert (status.message, status.return_time) == ("enough", 0.125)


def test_case_5_failure_after_termination():
    run = Recorder(time=0.125)
    run.answers.update(iu1=TERMINATION("enough"), id0=FAILED("no oil"))
    with pytest.raises(cosim.SimulationError, match="no oil"):
        run.simulator.initialize()
    assert run.take_log()[0] == names("iu id0")
    assert run.counts[:2] == (1, 0)


def test_case_6_termination_from_a_publish():
    run = Recorder(time=0.125, monitored=False)
    run.answers["ip0"] = TERMINATION("publish 0")
    status = run.simulator.initialize()
    assert run.take_log()[0] == names("iu id ip tp")
    assert run.counts[2] == 1
    assert (status.reason, status.message) == (Reason.REACHED_TERMINATION, "publish 0")


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (FAILED("a"), None, "a"),
        (FAILED("a"), FAILED("b"), "a"),
        (TERMINATION("a"), FAILED("b"), "b"),
    ],
)
def test_case_6_failure_of_a_publish(first, second, message):
    run = Recorder(time=0.125, monitored=False)
    run.answers.update(ip0=first, ip1=second)
    with pytest.raises(cosim.SimulationError, match=f"failed: {message}$") as caught:
        run.simulator.initialize()
    assert run.take_log()[0] == names("iu id ip tp")
    assert run.counts[2] == 0
    assert caught.value.status.message == message


def test_case_6_the_first_termination_is_reported():
    run = Recorder(time=0.125, monitored=False)
    run.answers.update(ip0=TERMINATION("a"), ip1=TERMINATION("b"))
    assert run.simulator.initialize().message == "a"


def test_case_7_start_at_a_periodic_instant():
    run = Recorder(monitored=False)
    run.simulator.initialize()
    assert run.take_log() == (names("iu id ip sp tp"), [0.0] * 10)
    assert run.counts == (1, 1, 1, 0)
    run.simulator.advance_to(0.25)
    assert run.take_log() == (names("su sd tp"), [0.0] * 4 + [0.25] * 2)
    assert run.counts == (2, 2, 2, 1)


def test_case_8_without_initialization_events():
    run = Recorder(period=0.1, monitored=False)
    run.simulator.advance_to(0.05)
    run.take_log()
    run.simulator.state.set_time(0.0)
    run.simulator.initialize(suppress_initialization_events=True)
    assert run.take_log() == (names("sp tp"), [0.0] * 4)
    run.simulator.advance_to(0.05)
    assert run.take_log() == (names("su sd tp"), [0.0] * 4 + [0.05] * 2)


def test_case_9_a_time_in_the_past_is_refused():
    run = Recorder(monitored=False)
    simulator = run.simulator
    simulator.advance_to(1.0)
    saved = simulator.state.to_bytes()
    with pytest.raises(cosim.SimulationError, match="past"):
        simulator.advance_to(0.5)
    assert simulator.state.to_bytes() == saved
    simulator.state.set_time(0.25)
    with pytest.raises(cosim.SimulationError, match=r"time.*has changed.*initialize"):
        simulator.advance_to(2.0)
    simulator.initialize()
    assert simulator.advance_to(2.0).return_time == 2.0


def test_case_11_first_advance_initializes_and_initialize_zeroes_the_counts():
    run = Recorder(monitored=False)
    run.simulator.advance_to(0.25)
    assert run.take_log()[0][:6] == names("iu id ip")
    assert run.counts[3] == 1
    run.simulator.initialize()
    assert run.counts == (1, 1, 1, 0)
