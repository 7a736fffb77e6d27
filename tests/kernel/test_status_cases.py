"""What handlers and monitors answer, and runs in real time: the behaviour cases 58 to 63 and 78."""

import math
import time

import pytest
from kernel_parts import Clock, system_of

import cosim
from cosim import EventStatus, Reason
from cosim.simulation.status import worst

EULER = "integrators.explicit_euler"
STEP = 0.125
"""The length of fixed steps, s: a double, so that the ends of steps are exact."""
TERMINATION, FAILED = EventStatus.reached_termination, EventStatus.failed


def clock_simulator(step=STEP):
    """A simulator that takes fixed steps of this length (s)."""
    return cosim.Simulator(system_of(clock=Clock), integrator=EULER, fixed_step=step)


def answer_from(first_time, answer):
    """A monitor that gives an answer at the end of each step from a time on, and None before."""
    return lambda state: answer if state.time >= first_time else None


def test_case_58_a_monitor_is_called_at_the_start_and_at_the_end_of_each_step():
    simulator, times = clock_simulator(), []
    simulator.set_monitor(lambda state: times.append(state.time))
    simulator.advance_to(1.0)
    assert times == [i * STEP for i in range(9)]
    assert simulator.statistics.steps == 8
    simulator.clear_monitor()
    simulator.advance_to(2.0)
    assert len(times) == 9


def test_case_58_a_monitor_that_asks_to_terminate_ends_the_call_behind_its_step():
    """The next call takes one step, behind which the monitor asks again."""
    simulator = clock_simulator()
    simulator.set_monitor(answer_from(3.5, TERMINATION("All done.")))
    status = simulator.advance_to(10.0)
    assert (status.reason, status.message) == (Reason.REACHED_TERMINATION, "All done.")
    assert status.return_time == simulator.state.time == 3.5
    assert simulator.advance_to(10.0).return_time == 3.5 + STEP


def test_case_59_a_run_goes_on_after_a_monitor_that_failed():
    simulator = clock_simulator()
    simulator.set_monitor(answer_from(6.0, FAILED("no oil")))
    with pytest.raises(cosim.SimulationError, match="t = 6 s.*no oil"):
        simulator.advance_to(10.0)
    assert simulator.state.time == 6.0
    simulator.clear_monitor()
    assert simulator.advance_to(10.0).return_time == 10.0


def test_case_60_a_monitor_may_answer_nothing():
    simulator, times = clock_simulator(), []
    simulator.set_monitor(lambda state: times.append(state.time))
    assert simulator.initialize().succeeded
    assert times == [0.0]
    simulator.advance_pending_events()
    assert times == [0.0, 0.0]


def test_steps_of_length_zero_are_counted():
    """Case 14 counts AdvancePendingEvents, case 30 an AdvanceTo that goes nowhere, case 1 not Initialize."""
    simulator = clock_simulator()
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


def test_a_result_counts_the_step_of_length_zero_at_the_end_but_not_as_one_of_the_integrator():
    result = cosim.simulate(system_of(clock=Clock), until=1.0, integrator=EULER, fixed_step=STEP)
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
def test_case_61_the_first_of_the_worst_answers_counts(answers, expected):
    assert worst(answers) == expected


def test_case_63_a_run_without_end_goes_on_until_a_monitor_asks_to_terminate():
    simulator = clock_simulator(0.25)
    simulator.set_monitor(answer_from(2.0, TERMINATION("enough")))
    status = simulator.advance_to(math.inf)
    assert (status.return_time, status.boundary_time) == (2.0, math.inf)
    assert simulator.statistics.steps == 8


def test_case_78_in_real_time_a_run_takes_as_long_as_it_simulates():
    step, until = 0.02, 0.1
    simulator = clock_simulator(step)
    simulator.target_realtime_rate = -3.0
    assert simulator.target_realtime_rate == 0.0
    simulator.target_realtime_rate = 1.0
    simulator.initialize()
    start = time.perf_counter()
    simulator.advance_to(until)
    # it waits before each step, not behind the last one; 1 ms for the clock
    assert time.perf_counter() - start >= until - step - 1e-3
    # five steps may take the time of four, which is a rate of 1.25
    assert simulator.actual_realtime_rate <= 1.3


def test_an_error_of_a_monitor_says_when_it_was_raised():
    simulator = clock_simulator()
    simulator.set_monitor(lambda state: 1 / 0)
    with pytest.raises(cosim.SimulationError, match=r"t = 0 s: monitor: ZeroDivisionError"):
        simulator.initialize()
