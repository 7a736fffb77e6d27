"""How far the events of runs agree, for known events: the first difference, the end, the order."""

import math

import numpy as np
from compared_courses import TIMES, call, compared, run_of

from cosim import EventCause
from cosim_workbench.event_agreement import Events, EventsOfRun, match_events


def matched(calls, other_calls):
    """The agreement of the events of two runs of 10 s, of which none is negligible."""
    runs = EventsOfRun("a", Events(calls)), EventsOfRun("b", Events(other_calls))
    return match_events(*runs, end=10.0, tolerance=1e-5, is_negligible=lambda event: False)


def test_the_first_event_that_differs_is_named():
    times = [1.0, 2.0, 3.0, 4.0]
    agreement = matched([call(t) for t in times], [call(t + 1e-7) for t in (1.0, 3.0, 4.0)])
    assert agreement.difference is not None
    assert (agreement.difference.time, agreement.difference.handler) == (2.0, "ball.bounce")
    assert str(agreement.difference) == (
        "ball.bounce happens 4 times in 'a' and 3 times in 'b'; the first that differs is at t = 2 s"
    )
    assert matched([], []).difference is None
    assert matched([call(t) for t in times], [call(t) for t in times]).difference is None
    only_in_b = matched([], [call(0.0)])
    assert "'b' and never in 'a'" in str(only_in_b.difference)


def test_an_event_at_the_very_end_may_be_missing():
    assert matched([call(1.0), call(10.0 - 1e-6)], [call(1.0)]).difference is None
    assert matched([call(1.0), call(10.0 - 1e-3)], [call(1.0)]).difference is not None


def test_events_with_negligible_changes_may_be_missing():
    speeds = np.array([5.0, -5.0] * 5 + [5.0])
    bounce = call(0.5, does="unrestricted", x=(-5.0, 4.0))

    def opinion_with(event):
        """About a run with another event, which the second run does not have."""
        return compared(run_of("a", speeds, events=[bounce, event]), run_of("b", speeds, events=[bounce]))

    assert opinion_with(call(0.61, does="unrestricted", x=(-1e-8, 8e-9))).is_confirmed
    opinion = opinion_with(call(0.61, does="unrestricted", x=(-1e-3, 8e-4)))
    assert opinion.outcome == "not confirmed"
    assert "at t = 0.61 s" in opinion.verdict
    assert not opinion_with(call(0.61, n=(3, 4))).is_confirmed  # a count


def test_between_the_times_of_one_event_values_are_not_compared():
    """At an output time of 0.5 s one run has jumped, and the other one jumps 2 ns later."""
    early, late = np.where(TIMES < 0.5, 1.5, 7.25), np.where(TIMES <= 0.5, 1.5, 7.25)
    run = run_of("a", early, events=[call(0.5 - 1e-9)])
    assert compared(run, run_of("b", late, events=[call(0.5 + 1e-9)])).is_confirmed
    assert not compared(run, run_of("b", late, events=[call(0.5 - 1e-9)])).is_confirmed
    opinion = compared(run, run_of("b", late, events=[call(0.5 + 1e-3)]))
    assert [a.signal for a in opinion.doubtful] == ["time of ball.bounce"]


def test_scheduled_events_whose_order_rounding_decides_are_sensitive():
    def opinion_about(slow, fast):
        """Two equal runs with ticks at these times."""
        ticks = [call(slow, "task.slow", EventCause.SCHEDULED), call(fast, "task.fast", EventCause.SCHEDULED)]
        return compared(run_of("a", TIMES, events=ticks), run_of("b", TIMES, events=ticks))

    opinion = opinion_about(0.9, 0.9 + math.ulp(0.9))
    assert opinion.outcome == "sensitive"
    assert "task.slow and task.fast are scheduled" in opinion.verdict
    assert opinion_about(0.9, 0.9).is_confirmed
    assert opinion_about(0.9, 0.9 + 1e-9).is_confirmed
