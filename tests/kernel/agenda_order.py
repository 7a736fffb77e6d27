"""Runs the agenda of a run tick after tick beside integer arithmetic: functions that a test compiles."""

from __future__ import annotations

from cosim.kit import arrays_at, integers_at
from cosim.step.agenda import first_due, next_event_time, serve, waits_for

SIGNATURE = "iiii>i"


def go_through(head: int, numbers: int, entries: int, ticks: int) -> int:
    """Serve so many ticks; 0 if all were due in the right order, else the number of the first wrong one.

    Parameters
    ----------
    head : int
        The address of the arrays of a run.
    numbers : int
        The address of the next tick and the period of each handler, as integers of one resolution.
    entries : int
        The number of handlers.
    ticks : int
        The number of ticks.
    """
    a = arrays_at(head)
    next_and_period = integers_at(numbers, 2 * entries)
    served = 0
    while served < ticks:
        time = next_event_time(a)
        if time < a.clock.time:
            return served + 1
        a.clock.time = time
        first = first_due(a)
        earliest = next_and_period[0]
        for entry in range(1, entries):
            earliest = min(earliest, next_and_period[2 * entry])
        for entry in range(entries):
            is_due = a.timings[entry].next_time <= time and not waits_for(a, a.handlers[entry], first)
            a.due[entry] = 1 if is_due else 0
            if is_due != (next_and_period[2 * entry] == earliest):
                return served + 1
        for entry in range(entries):
            if a.due[entry] != 0:
                serve(a, a.handlers[entry])
                next_and_period[2 * entry] += next_and_period[2 * entry + 1]
                served += 1
    return 0
