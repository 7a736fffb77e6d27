"""The agenda of a run by itself, tick after tick, against integers: functions that are compiled."""

from __future__ import annotations

from cosim.kit import arrays_at, integers_at
from cosim.step.agenda import first_due, next_event_time, serve, waits_for

SIGNATURE = "iiii>i"


def go_through(head: int, numbers: int, entries: int, ticks: int) -> int:
    """Go on by so many ticks; 0, or how many were right before the first wrong one, from 1 on.

    At `numbers` stand for each handler its next tick and its period, as integers of one resolution.
    """
    a = arrays_at(head)
    exact = integers_at(numbers, 2 * entries)
    done = 0
    while done < ticks:
        time = next_event_time(a)
        if time < a.clock.time:
            return done + 1
        a.clock.time = time
        first = first_due(a)
        least = exact[0]
        for entry in range(1, entries):
            least = min(least, exact[2 * entry])
        for entry in range(entries):
            is_due = a.timings[entry].next_time <= time and not waits_for(a, a.handlers[entry], first)
            a.due[entry] = 1 if is_due else 0
            if is_due != (exact[2 * entry] == least):
                return done + 1
        for entry in range(entries):
            if a.due[entry] != 0:
                serve(a, a.handlers[entry])
                exact[2 * entry] += exact[2 * entry + 1]
                done += 1
    return 0
