"""Scheduled events: when they come."""

from __future__ import annotations

import math

from cosim.rational import common_resolution, compare_fractions, rational_time
from cosim.step import layout as ix
from cosim.step.arrays import Arrays
from cosim.step.codes import FAILED_PERIOD, FAILED_RESOLUTION, FAILED_TIMER
from cosim.step.records import GivenTime, Handler

TOLD_APART = 2.0**51  # of times that differ by one over the product of two resolutions, doubles differ


def present_value(run: Arrays, given: GivenTime) -> float:
    """A period or an offset, s: a number, or the present value of a parameter."""
    if given.array == ix.IN_NUMBERS:
        return run.numbers[given.at]
    if given.array == ix.IN_D:
        return run.d[given.at]
    if given.array == ix.IN_K:
        return float(run.k[given.at])
    if given.array == ix.IN_C:
        return run.c[given.at]
    return run.p[given.at]


def exact_value(run: Arrays, given: GivenTime, number: float) -> tuple[int, int, int]:
    """The rational number that a period or an offset is: as it was given, as long as it has that value."""
    if number == run.numbers[given.given_at]:
        return given.whole, given.rest, given.resolution
    return rational_time(number)


def set_grid(run: Arrays, handler: Handler, period: float, offset: float) -> int:
    """Count the times of a periodic event from here on so; 0 or a code."""
    whole, rest, of_period = exact_value(run, run.time_given(handler.period), period)
    begin, after, of_offset = exact_value(run, run.time_given(handler.offset), offset)
    resolution = 0 if of_period == 0 or of_offset == 0 else common_resolution(of_period, of_offset)
    if not run.clock[ix.TIME] + period > run.clock[ix.TIME]:
        run.places[ix.ENTRY] = handler.number
        return FAILED_PERIOD
    if resolution == 0:
        run.places[ix.ENTRY] = handler.number
        return FAILED_RESOLUTION
    timing = run.timings[handler.number]
    timing.period = period
    timing.offset = offset
    grid = run.grids[handler.number]
    grid.offset_whole = begin
    grid.offset_rest = after * (resolution // of_offset)
    grid.period_whole = whole
    grid.period_rest = rest * (resolution // of_period)
    grid.resolution = resolution
    return 0


def time_of(run: Arrays, handler: Handler, index: int) -> float:
    """Time of the `index`-th occurrence."""
    if handler.schedule == ix.LISTED:
        return run.numbers[handler.times_at + index] if index < handler.times else math.inf
    return run.grids[handler.number].time(index)


def compare_ticks(run: Arrays, handler: Handler, other: Handler) -> int:
    """-1, 0 or 1: whether the next tick of a periodic event is before another's on paper, equal, later."""
    mine = run.grids[handler.number]
    theirs = run.grids[other.number]
    whole, rest = mine.tick(run.next_index[handler.number])
    other_whole, other_rest = theirs.tick(run.next_index[other.number])
    if whole != other_whole:
        return -1 if whole < other_whole else 1
    return compare_fractions(rest, mine.resolution, other_rest, theirs.resolution)


def may_hide(run: Arrays, handler: Handler, other: Handler) -> bool:
    """Whether the next ticks of two periodic events have one double and may differ for all that."""
    comes = run.timings[handler.number].comes
    if comes != run.timings[other.number].comes:
        return False
    mine = float(run.grids[handler.number].resolution)
    theirs = float(run.grids[other.number].resolution)
    return mine * theirs * abs(comes) >= TOLD_APART


def first_due(run: Arrays) -> int:
    """Number of the periodic event that is due and first, on paper where doubles cannot tell; -1: none."""
    first = -1
    for handler in run.handlers:
        if handler.schedule != ix.PERIODIC:
            continue
        comes = run.timings[handler.number].comes
        if comes <= run.clock[ix.TIME]:
            known = run.timings[first].comes if first >= 0 else math.inf
            if comes < known or is_before(run, handler, run.handlers[max(first, 0)]):
                first = handler.number
    return first


def is_before(run: Arrays, handler: Handler, other: Handler) -> bool:
    """Whether a periodic event comes before another on paper, where doubles cannot tell."""
    return may_hide(run, handler, other) and compare_ticks(run, handler, other) < 0


def waits_for(run: Arrays, handler: Handler, first: int) -> bool:
    """Whether an event that is due comes after the `first` on paper: at another instant of the same time."""
    if handler.schedule != ix.PERIODIC or handler.number == first or first < 0:
        return False
    return is_before(run, run.handlers[first], handler)


def await_index(run: Arrays, handler: Handler, index: int) -> None:
    """The `index`-th occurrence is the next one; its time is NaN where the period is lost beside the time."""
    timing = run.timings[handler.number]
    time = run.clock[ix.TIME]
    is_lost = handler.schedule == ix.PERIODIC and not time + timing.period > time
    run.next_index[handler.number] = index
    timing.comes = math.nan if is_lost else time_of(run, handler, index)


def next_time(run: Arrays, handler: Handler) -> float:
    """When a scheduled event comes next; infinite when it does not, NaN where the period is none."""
    timing = run.timings[handler.number]
    if handler.schedule == ix.TIMED:
        timer = run.d[handler.flag]
        return math.inf if timer == timing.served else timer
    return timing.comes


def next_event_time(run: Arrays) -> float:
    """When the next scheduled event comes; NaN where a period is none."""
    first = math.inf
    for handler in run.handlers:
        if handler.schedule != 0:
            time = next_time(run, handler)
            if time != time:
                run.places[ix.ENTRY] = handler.number
                return time
            first = min(first, time)
    return first


def first_index(run: Arrays, handler: Handler, time: float) -> int:
    """Index of the first occurrence that is not before a time."""
    index = 0
    if handler.schedule != ix.LISTED:
        first = time_of(run, handler, 0)
        if time > first:
            index = math.ceil((time - first) / run.timings[handler.number].period)
    while time_of(run, handler, index) < time:
        index += 1
    while index > 0 and time_of(run, handler, index - 1) >= time:  # the quotient is rounded
        index -= 1
    return index


def later_index(run: Arrays, handler: Handler) -> int:
    """Index of the first occurrence behind the present time."""
    time = run.clock[ix.TIME]
    index = first_index(run, handler, time)
    while time_of(run, handler, index) <= time:
        index += 1
    return index


def start_agenda(run: Arrays) -> int:
    """A fresh agenda at the present time; 0 or a code."""
    for handler in run.handlers:
        if handler.schedule == ix.TIMED:
            timer = run.d[handler.flag]
            missed = timer < run.clock[ix.TIME]
            run.timings[handler.number].served = timer if missed else -math.inf
    return schedule_periods(run, 0)


def schedule_periods(run: Arrays, following: int) -> int:
    """At the start of a run: periodic and listed events begin with the first that is not past; 0 or a code.

    Where `following`, only those whose period or offset is a parameter.
    """
    for handler in run.handlers:
        if handler.schedule not in (ix.PERIODIC, ix.LISTED) or (following != 0 and handler.follows == 0):
            continue
        if handler.schedule == ix.PERIODIC:
            period = present_value(run, run.time_given(handler.period))
            offset = present_value(run, run.time_given(handler.offset))
            code = set_grid(run, handler, period, offset)
            if code != 0:
                return code
        await_index(run, handler, first_index(run, handler, run.clock[ix.TIME]))
    return 0


def check_timers(run: Arrays) -> int:
    """Refuse timers that were set to the past; 0 or a code."""
    for handler in run.handlers:
        if handler.schedule == ix.TIMED:
            timer = run.d[handler.flag]
            was_served = timer == run.timings[handler.number].served
            if timer != timer or (timer < run.clock[ix.TIME] and not was_served):
                run.places[ix.ENTRY] = handler.number
                return FAILED_TIMER
    return 0


def follow_parameters(run: Arrays) -> int:
    """Where a parameter that is a period or an offset has changed, go on on the new grid; 0 or a code.

    What was due already is handled first.
    """
    for handler in run.handlers:
        if handler.follows == 0:
            continue
        timing = run.timings[handler.number]
        period = present_value(run, run.time_given(handler.period))
        offset = present_value(run, run.time_given(handler.offset))
        is_same = timing.period == period and timing.offset == offset
        if is_same or timing.comes <= run.clock[ix.TIME]:
            continue
        code = set_grid(run, handler, period, offset)
        if code != 0:
            return code
        await_index(run, handler, later_index(run, handler))
    return 0


def follow_clocks(run: Arrays) -> int:
    """Both of the above, where there are such parameters and timers; 0 or a code."""
    code = follow_parameters(run) if run.program[ix.HAS_GRIDS] != 0 else 0
    if code == 0 and run.program[ix.HAS_TIMERS] != 0:
        code = check_timers(run)
    return code


def serve(run: Arrays, handler: Handler) -> None:
    """A scheduled event was handled: on to the next one."""
    if handler.schedule == ix.TIMED:
        run.timings[handler.number].served = run.scratch[run.program[ix.TIMERS] + handler.number]
        return
    await_index(run, handler, run.next_index[handler.number] + 1)
    if next_time(run, handler) <= run.clock[ix.TIME]:
        await_index(run, handler, later_index(run, handler))
