"""Scheduled events: when they come."""

from __future__ import annotations

import math

from cosim.rational import common_resolution, compare_fractions, rational_time, tick, tick_time
from cosim.step import layout as ix
from cosim.step.arrays import Arrays
from cosim.step.codes import FAILED_PERIOD, FAILED_RESOLUTION, FAILED_TIMER

TOLD_APART = 2.0**51  # of times that differ by one over the product of two resolutions, doubles differ


def row_of(a: Arrays, entry: int) -> int:
    """Where the row of a handler starts in `program`."""
    return a.program[ix.ENTRIES_AT] + ix.ENTRY_WIDTH * entry


def numbers_of(entry: int) -> int:
    """Where in `clock` the numbers of a handler start."""
    return ix.CLOCK_HEADER + ix.ENTRY_NUMBERS * entry


def grid_of(a: Arrays, entry: int) -> int:
    """Where in `agenda` the grid of a handler starts."""
    return ix.FIRST_ENTRY + a.program[ix.ENTRIES] + ix.GRID_WIDTH * entry


def number_at(a: Arrays, row: int) -> float:
    """A period or an offset, s: a number, or the present value of a parameter."""
    array = a.program[row + ix.NUMBER_IN]
    at = a.program[row + ix.NUMBER_AT]
    if array == ix.IN_NUMBERS:
        return a.numbers[at]
    if array == ix.IN_D:
        return a.d[at]
    if array == ix.IN_K:
        return float(a.k[at])
    if array == ix.IN_C:
        return a.c[at]
    return a.p[at]


def exact_number(a: Arrays, row: int, number: float) -> tuple[int, int, int]:
    """The rational number that a period or an offset is: as it was given, as long as it has that value."""
    if number == a.numbers[a.program[row + ix.GIVEN_AT]]:
        return (
            a.program[row + ix.GIVEN_WHOLE],
            a.program[row + ix.GIVEN_REST],
            a.program[row + ix.GIVEN_RESOLUTION],
        )
    return rational_time(number)


def set_grid(a: Arrays, entry: int, period: float, offset: float) -> int:
    """Count the times of a periodic event from here on so; 0 or a code."""
    row = row_of(a, entry)
    whole, rest, of_period = exact_number(a, a.program[row + ix.PERIOD_ROW], period)
    begin, after, of_offset = exact_number(a, a.program[row + ix.OFFSET_ROW], offset)
    resolution = 0 if of_period == 0 or of_offset == 0 else common_resolution(of_period, of_offset)
    if not a.clock[ix.TIME] + period > a.clock[ix.TIME]:
        a.places[ix.ENTRY] = entry
        return FAILED_PERIOD
    if resolution == 0:
        a.places[ix.ENTRY] = entry
        return FAILED_RESOLUTION
    a.clock[numbers_of(entry) + ix.GRID_PERIOD] = period
    a.clock[numbers_of(entry) + ix.GRID_OFFSET] = offset
    grid = grid_of(a, entry)
    a.agenda[grid + ix.OFFSET_WHOLE] = begin
    a.agenda[grid + ix.OFFSET_REST] = after * (resolution // of_offset)
    a.agenda[grid + ix.PERIOD_WHOLE] = whole
    a.agenda[grid + ix.PERIOD_REST] = rest * (resolution // of_period)
    a.agenda[grid + ix.RESOLUTION] = resolution
    return 0


def time_of(a: Arrays, entry: int, index: int) -> float:
    """Time of the `index`-th occurrence, never an accumulated sum: the double nearest to it."""
    row = row_of(a, entry)
    if a.program[row + ix.SCHEDULE] == ix.LISTED:
        if index < a.program[row + ix.TIMES]:
            return a.numbers[a.program[row + ix.TIMES_AT] + index]
        return math.inf
    grid = grid_of(a, entry)
    return tick_time(
        index,
        a.agenda[grid + ix.OFFSET_WHOLE],
        a.agenda[grid + ix.OFFSET_REST],
        a.agenda[grid + ix.PERIOD_WHOLE],
        a.agenda[grid + ix.PERIOD_REST],
        a.agenda[grid + ix.RESOLUTION],
    )


def compare_ticks(a: Arrays, entry: int, other: int) -> int:
    """-1, 0 or 1: whether the next tick of a periodic event is before another's on paper, equal, later."""
    mine = grid_of(a, entry)
    theirs = grid_of(a, other)
    whole, rest = tick(
        a.agenda[ix.FIRST_ENTRY + entry],
        a.agenda[mine + ix.OFFSET_WHOLE],
        a.agenda[mine + ix.OFFSET_REST],
        a.agenda[mine + ix.PERIOD_WHOLE],
        a.agenda[mine + ix.PERIOD_REST],
        a.agenda[mine + ix.RESOLUTION],
    )
    other_whole, other_rest = tick(
        a.agenda[ix.FIRST_ENTRY + other],
        a.agenda[theirs + ix.OFFSET_WHOLE],
        a.agenda[theirs + ix.OFFSET_REST],
        a.agenda[theirs + ix.PERIOD_WHOLE],
        a.agenda[theirs + ix.PERIOD_REST],
        a.agenda[theirs + ix.RESOLUTION],
    )
    if whole != other_whole:
        return -1 if whole < other_whole else 1
    return compare_fractions(
        rest, a.agenda[mine + ix.RESOLUTION], other_rest, a.agenda[theirs + ix.RESOLUTION]
    )


def may_hide(a: Arrays, entry: int, other: int) -> bool:
    """Whether the next ticks of two periodic events have one double and may differ for all that."""
    comes = a.clock[numbers_of(entry) + ix.COMES]
    if comes != a.clock[numbers_of(other) + ix.COMES]:
        return False
    mine = float(a.agenda[grid_of(a, entry) + ix.RESOLUTION])
    theirs = float(a.agenda[grid_of(a, other) + ix.RESOLUTION])
    return mine * theirs * abs(comes) >= TOLD_APART


def first_due(a: Arrays) -> int:
    """The periodic event that is due and comes first, on paper where doubles cannot tell; -1: none."""
    first = -1
    for entry in range(a.program[ix.ENTRIES]):
        if a.program[row_of(a, entry) + ix.SCHEDULE] != ix.PERIODIC:
            continue
        comes = a.clock[numbers_of(entry) + ix.COMES]
        if comes <= a.clock[ix.TIME]:
            known = a.clock[numbers_of(first) + ix.COMES] if first >= 0 else math.inf
            if comes < known or (may_hide(a, entry, first) and compare_ticks(a, entry, first) < 0):
                first = entry
    return first


def waits_for(a: Arrays, entry: int, first: int) -> bool:
    """Whether an event that is due comes after `first` on paper: it is another instant at the same time."""
    if a.program[row_of(a, entry) + ix.SCHEDULE] != ix.PERIODIC or entry == first or first < 0:
        return False
    return may_hide(a, entry, first) and compare_ticks(a, entry, first) > 0


def await_index(a: Arrays, entry: int, index: int) -> None:
    """The `index`-th occurrence is the next one; its time is NaN where the period is lost beside the time."""
    numbers = numbers_of(entry)
    is_periodic = a.program[row_of(a, entry) + ix.SCHEDULE] == ix.PERIODIC
    is_lost = is_periodic and not a.clock[ix.TIME] + a.clock[numbers + ix.GRID_PERIOD] > a.clock[ix.TIME]
    a.agenda[ix.FIRST_ENTRY + entry] = index
    a.clock[numbers + ix.COMES] = math.nan if is_lost else time_of(a, entry, index)


def next_time(a: Arrays, entry: int) -> float:
    """When a scheduled event comes next; infinite when it does not, NaN where the period is none."""
    row = row_of(a, entry)
    if a.program[row + ix.SCHEDULE] == ix.TIMED:
        timer = a.d[a.program[row + ix.FLAG]]
        return math.inf if timer == a.clock[numbers_of(entry) + ix.SERVED] else timer
    return a.clock[numbers_of(entry) + ix.COMES]


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


def first_index(a: Arrays, entry: int, time: float) -> int:
    """Index of the first occurrence that is not before a time."""
    index = 0
    if a.program[row_of(a, entry) + ix.SCHEDULE] != ix.LISTED:
        first = time_of(a, entry, 0)
        if time > first:
            index = math.ceil((time - first) / a.clock[numbers_of(entry) + ix.GRID_PERIOD])
    while time_of(a, entry, index) < time:
        index += 1
    while index > 0 and time_of(a, entry, index - 1) >= time:  # the quotient is rounded
        index -= 1
    return index


def start_agenda(a: Arrays) -> int:
    """A fresh agenda at the present time; 0 or a code."""
    time = a.clock[ix.TIME]
    for entry in range(a.program[ix.ENTRIES]):
        row = row_of(a, entry)
        if a.program[row + ix.SCHEDULE] == ix.TIMED:
            timer = a.d[a.program[row + ix.FLAG]]
            missed = timer < time
            a.clock[numbers_of(entry) + ix.SERVED] = timer if missed else -math.inf
    return schedule_periods(a, 0)


def schedule_periods(a: Arrays, following: int) -> int:
    """At the start of a run: periodic and listed events begin with the first that is not past; 0 or a code.

    Where `following`, only those whose period or offset is a parameter.
    """
    for entry in range(a.program[ix.ENTRIES]):
        row = row_of(a, entry)
        kind = a.program[row + ix.SCHEDULE]
        if kind == 0 or kind == ix.TIMED or (following != 0 and a.program[row + ix.FOLLOWS] == 0):
            continue
        if kind == ix.PERIODIC:
            period = number_at(a, a.program[row + ix.PERIOD_ROW])
            code = set_grid(a, entry, period, number_at(a, a.program[row + ix.OFFSET_ROW]))
            if code != 0:
                return code
        await_index(a, entry, first_index(a, entry, a.clock[ix.TIME]))
    return 0


def later_index(a: Arrays, entry: int) -> int:
    """Index of the first occurrence behind the present time."""
    time = a.clock[ix.TIME]
    index = first_index(a, entry, time)
    while time_of(a, entry, index) <= time:
        index += 1
    return index


def check_timers(a: Arrays) -> int:
    """Refuse timers that were set to the past; 0 or a code."""
    for entry in range(a.program[ix.ENTRIES]):
        row = row_of(a, entry)
        if a.program[row + ix.SCHEDULE] == ix.TIMED:
            timer = a.d[a.program[row + ix.FLAG]]
            served = a.clock[numbers_of(entry) + ix.SERVED]
            if timer != timer or (timer < a.clock[ix.TIME] and timer != served):
                a.places[ix.ENTRY] = entry
                return FAILED_TIMER
    return 0


def follow_parameters(a: Arrays) -> int:
    """Where a parameter that is a period or an offset has changed, go on on the new grid; 0 or a code.

    What was due already is handled first.
    """
    for entry in range(a.program[ix.ENTRIES]):
        row = row_of(a, entry)
        if a.program[row + ix.FOLLOWS] == 0:
            continue
        numbers = numbers_of(entry)
        period = number_at(a, a.program[row + ix.PERIOD_ROW])
        offset = number_at(a, a.program[row + ix.OFFSET_ROW])
        if a.clock[numbers + ix.GRID_PERIOD] == period and a.clock[numbers + ix.GRID_OFFSET] == offset:
            continue
        if a.clock[numbers + ix.COMES] <= a.clock[ix.TIME]:
            continue
        code = set_grid(a, entry, period, offset)
        if code != 0:
            return code
        await_index(a, entry, later_index(a, entry))
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
        a.clock[numbers_of(entry) + ix.SERVED] = a.scratch[a.program[ix.TIMERS] + entry]
        return
    await_index(a, entry, a.agenda[ix.FIRST_ENTRY + entry] + 1)
    if next_time(a, entry) <= a.clock[ix.TIME]:
        await_index(a, entry, later_index(a, entry))
