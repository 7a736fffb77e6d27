"""Answers of handlers, monitor, real time: the behaviour cases 58 to 63 and 78."""

import math
import time

import pytest
from kernel_parts import Clock, system_of

import cosim
from cosim import EventStatus, Reason
from cosim.simulation.status import worst

EULER = "integrators.explicit_euler"
TERMINATION, FAILED = EventStatus.reached_termination, EventStatus.failed


def clock(step=0.125):
    return cosim.Simulator(system_of(clock=Clock), integrator=EULER, fixed_step=step)


def test_case_58_monitor():
    simulator, times = clock(), []
    simulator.set_monitor(lambda state: times.append(state.time))
    simulator.advance_to(1.0)
    assert times == [i * 0.125 for i in range(9)]
    assert simulator.statistics.steps == 8
    simulator.clear_monitor()
    simulator.advance_to(2.0)
    assert len(times) == 9
    simulator.set_monitor(lambda state: TERMINATION("All done.") if state.time >= 3.49 else None)
    status = simulator.advance_to(10.0)
    assert (status.reason, status.message) == (Reason.REACHED_TERMINATION, "All done.")
    assert status.return_time == simulator.state.time == 3.5
    assert simulator.advance_to(10.0).return_time == 3.625


def test_case_59_monitor_that_fails_and_going_on():
    simulator = clock()
    simulator.set_monitor(lambda state: FAILED("no oil") if state.time >= 5.99 else None)
    with pytest.raises(cosim.SimulationError, match="t = 6 s.*no oil"):
        simulator.advance_to(10.0)
    assert simulator.state.time == 6.0
    simulator.clear_monitor()
    assert simulator.advance_to(10.0).return_time == 10.0


def test_case_60_a_monitor_may_answer_nothing():
    simulator, times = clock(), []
    simulator.set_monitor(lambda state: times.append(state.time))
    assert simulator.initialize().succeeded
    assert times == [0.0]
    simulator.advance_pending_events()
    assert times == [0.0, 0.0]


def test_steps_of_length_zero_are_counted():
    """Case 14 counts AdvancePendingEvents, case 30 an AdvanceTo that goes nowhere, case 1 not Initialize."""
    simulator = clock()
    simulator.initialize()
    counts = [simulator.statistics.steps]
    for advance in (
        lambda: simulator.advance_to(1.0),
        simulator.advance_pending_events,
        simulator.advance_pending_events,
        lambda: simulator.advance_to(1.0),
    ):
        advance()
        counts.append(simulator.statistics.steps)
    assert counts == [0, 8, 9, 10, 11]
    result = cosim.simulate(system_of(clock=Clock), until=1.0, integrator=EULER, fixed_step=0.125)
    assert (result.statistics["steps"], result.statistics["integrator_steps"]) == (9, 8)


@pytest.mark.parametrize(
    ("answers", "expected"),
    [
        ([TERMINATION("first"), TERMINATION("second")], TERMINATION("first")),
        ([TERMINATION("t"), FAILED("f")], FAILED("f")),
        ([EventStatus.did_nothing(), EventStatus.succeeded()], EventStatus.succeeded()),
        ([FAILED("f"), EventStatus.succeeded()], FAILED("f")),
        ([], EventStatus.did_nothing()),
    ],
)
def test_case_61_merging(answers, expected):
    assert worst(answers) == expected


def test_case_63_without_end():
    simulator = clock(0.25)
    simulator.set_monitor(lambda state: TERMINATION("enough") if state.time >= 2.0 else None)
    status = simulator.advance_to(math.inf)
    assert (status.return_time, status.boundary_time) == (2.0, math.inf)
    assert simulator.statistics.steps == 8


def test_case_78_real_time():
    simulator = clock(0.02)
    simulator.target_realtime_rate = -3.0
    assert simulator.target_realtime_rate == 0.0
    simulator.target_realtime_rate = 1.0
    simulator.initialize()
    began = time.perf_counter()
    simulator.advance_to(0.1)
    assert time.perf_counter() - began >= 0.1 - 0.021
    assert simulator.actual_realtime_rate <= 1.3


def test_a_monitor_that_raises_says_when():
    simulator = clock()
    simulator.set_monitor(lambda state: 1 / 0)
    with pytest.raises(cosim.SimulationError, match=r"t = 0 s: monitor: ZeroDivisionError"):
        simulator.initialize()
