"""Scheduled events: when they come."""

from __future__ import annotations

import math

from cosim.step import layout as ix
from cosim.step.arrays import Arrays, part
from cosim.step.codes import FAILED_PERIOD, FAILED_TIMER


def row_of(a: Arrays, entry: int) -> int:
    """Where the row of a handler starts in `program`."""
    return a.program[ix.ENTRIES_AT] + ix.ENTRY_WIDTH * entry


def number_at(a: Arrays, array: int, at: int) -> float:
    """A period or an offset: a number, or the present value of a parameter."""
    if array == ix.IN_NUMBERS:
        return a.numbers[at]
    if array == ix.IN_D:
        return a.d[at]
    if array == ix.IN_K:
        return float(a.k[at])
    if array == ix.IN_C:
        return a.c[at]
    return a.p[at]


def time_of(a: Arrays, row: int, index: int) -> float:
    """Time of the `index`-th occurrence, never an accumulated sum; NaN where the period is none."""
    if a.program[row + ix.SCHEDULE] == ix.LISTED:
        if index < a.program[row + ix.TIMES]:
            return a.numbers[a.program[row + ix.TIMES_AT] + index]
        return math.inf
    period = number_at(a, a.program[row + ix.PERIOD_IN], a.program[row + ix.PERIOD_AT])
    if not a.clock[ix.TIME] + period > a.clock[ix.TIME]:
        return math.nan
    return number_at(a, a.program[row + ix.OFFSET_IN], a.program[row + ix.OFFSET_AT]) + index * period


@part("Ai>f")
def next_time(a: Arrays, entry: int) -> float:
    """When a scheduled event comes next; infinite when it does not, NaN where the period is none."""
    row = row_of(a, entry)
    if a.program[row + ix.SCHEDULE] == ix.TIMED:
        timer = a.d[a.program[row + ix.FLAG]]
        return math.inf if timer == a.clock[ix.CLOCK_HEADER + ix.ENTRY_NUMBERS * entry + ix.SERVED] else timer
    return time_of(a, row, a.agenda[ix.FIRST_ENTRY + entry])


@part("A>f", needed_for="schedule")
def next_event_time(a: Arrays) -> float:
    """When the next scheduled event comes; NaN where a period is none."""
    first = math.inf
    for entry in range(a.program[ix.ENTRIES]):
        if a.program[row_of(a, entry) + ix.SCHEDULE] != 0:
            time = next_time(a, entry)
            if time != time:
                a.places[ix.ENTRY] = entry
                return time
            first = min(first, time)
    return first


@part("Aif>i")
def first_index(a: Arrays, row: int, time: float) -> int:
    """Index of the first occurrence that is not before a time."""
    index = 0
    if a.program[row + ix.SCHEDULE] != ix.LISTED:
        first = time_of(a, row, 0)
        if time > first:
            second = time_of(a, row, 1)
            index = max(0, math.ceil((time - first) / (second - first)) - 1)
    while time_of(a, row, index) < time:
        index += 1
    return index


@part("A>i", needed_for="schedule")
def start_agenda(a: Arrays) -> int:
    """A fresh agenda at the present time; 0 or a code."""
    time = a.clock[ix.TIME]
    for entry in range(a.program[ix.ENTRIES]):
        row = row_of(a, entry)
        if a.program[row + ix.SCHEDULE] == ix.TIMED:
            timer = a.d[a.program[row + ix.FLAG]]
            missed = timer < time
            a.clock[ix.CLOCK_HEADER + ix.ENTRY_NUMBERS * entry + ix.SERVED] = timer if missed else -math.inf
    return schedule_periods(a, 0)


@part("Ai>i", needed_for="schedule")
def schedule_periods(a: Arrays, following: int) -> int:
    """At the start of a run: periodic and listed events begin with the first that is not past; 0 or a code.

    Where `following`, only those whose period or offset is a parameter.
    """
    for entry in range(a.program[ix.ENTRIES]):
        row = row_of(a, entry)
        kind = a.program[row + ix.SCHEDULE]
        if kind == 0 or kind == ix.TIMED or (following != 0 and a.program[row + ix.FOLLOWS] == 0):
            continue
        start = time_of(a, row, 0)
        if start != start:
            a.places[ix.ENTRY] = entry
            return FAILED_PERIOD
        a.agenda[ix.FIRST_ENTRY + entry] = first_index(a, row, a.clock[ix.TIME])
        if a.program[row + ix.FOLLOWS] != 0:
            numbers = ix.CLOCK_HEADER + ix.ENTRY_NUMBERS * entry
            a.clock[numbers + ix.GRID_PERIOD] = number_at(
                a, a.program[row + ix.PERIOD_IN], a.program[row + ix.PERIOD_AT]
            )
            a.clock[numbers + ix.GRID_OFFSET] = number_at(
                a, a.program[row + ix.OFFSET_IN], a.program[row + ix.OFFSET_AT]
            )
    return 0


def later_index(a: Arrays, row: int) -> int:
    """Index of the first occurrence behind the present time."""
    time = a.clock[ix.TIME]
    index = first_index(a, row, time)
    while time_of(a, row, index) <= time:
        index += 1
    return index


@part("A>i", needed_for="schedule")
def check_timers(a: Arrays) -> int:
    """Refuse timers that were set to the past; 0 or a code."""
    for entry in range(a.program[ix.ENTRIES]):
        row = row_of(a, entry)
        if a.program[row + ix.SCHEDULE] == ix.TIMED:
            timer = a.d[a.program[row + ix.FLAG]]
            served = a.clock[ix.CLOCK_HEADER + ix.ENTRY_NUMBERS * entry + ix.SERVED]
            if timer != timer or (timer < a.clock[ix.TIME] and timer != served):
                a.places[ix.ENTRY] = entry
                return FAILED_TIMER
    return 0


@part("A>i", needed_for="schedule")
def follow_parameters(a: Arrays) -> int:
    """Where a parameter that is a period or an offset has changed, go on on the new grid; 0 or a code.

    What was due already stays due.
    """
    for entry in range(a.program[ix.ENTRIES]):
        row = row_of(a, entry)
        if a.program[row + ix.FOLLOWS] == 0:
            continue
        numbers = ix.CLOCK_HEADER + ix.ENTRY_NUMBERS * entry
        period = number_at(a, a.program[row + ix.PERIOD_IN], a.program[row + ix.PERIOD_AT])
        offset = number_at(a, a.program[row + ix.OFFSET_IN], a.program[row + ix.OFFSET_AT])
        if not a.clock[ix.TIME] + period > a.clock[ix.TIME]:
            a.places[ix.ENTRY] = entry
            return FAILED_PERIOD
        if a.clock[numbers + ix.GRID_PERIOD] == period and a.clock[numbers + ix.GRID_OFFSET] == offset:
            continue
        known = (
            a.clock[numbers + ix.GRID_OFFSET]
            + a.agenda[ix.FIRST_ENTRY + entry] * a.clock[numbers + ix.GRID_PERIOD]
        )
        index = later_index(a, row)
        if known <= a.clock[ix.TIME]:
            index = max(0, index - 1)
        a.agenda[ix.FIRST_ENTRY + entry] = index
        a.clock[numbers + ix.GRID_PERIOD] = period
        a.clock[numbers + ix.GRID_OFFSET] = offset
    return 0


def follow_clocks(a: Arrays) -> int:
    """Both of the above, where there are such parameters and timers; 0 or a code."""
    code = follow_parameters(a) if a.program[ix.HAS_GRIDS] != 0 else 0
    if code == 0 and a.program[ix.HAS_TIMERS] != 0:
        code = check_timers(a)
    return code


def serve(a: Arrays, entry: int) -> None:
    """A scheduled event was handled: on to the next one."""
    if a.program[row_of(a, entry) + ix.SCHEDULE] == ix.TIMED:
        a.clock[ix.CLOCK_HEADER + ix.ENTRY_NUMBERS * entry + ix.SERVED] = a.scratch[
            a.program[ix.TIMERS] + entry
        ]
        return
    a.agenda[ix.FIRST_ENTRY + entry] += 1
    if next_time(a, entry) <= a.clock[ix.TIME]:
        a.agenda[ix.FIRST_ENTRY + entry] = later_index(a, row_of(a, entry))
