"""Scheduled events: when they come."""

from __future__ import annotations

import math
from typing import NamedTuple

from cosim.rational import common_resolution, compare_fractions
from cosim.rational_doubles import rational_time
from cosim.run_data.records.handlers import (
    IN_C,
    IN_D,
    IN_K,
    IN_NUMBERS,
    LISTED,
    PERIODIC,
    TIMED,
    Handler,
    TimeSetting,
)
from cosim.run_data.run import Run
from cosim.step.failures import PeriodLost, ResolutionLost, TimerInPast

DOUBLES_DIFFER = 2.0**51  # of times that differ by one over the product of two resolutions


class RationalTime(NamedTuple):
    """``whole + rest / resolution`` s, see `cosim.rational`; a resolution of 0: there is none."""

    whole: int
    rest: int
    resolution: int


def present_seconds(run: Run, setting: TimeSetting) -> float:
    """A period or an offset, s: a number, or the present value of a parameter."""
    if setting.array == IN_NUMBERS:
        return run.numbers[setting.at]
    if setting.array == IN_D:
        return run.d[setting.at]
    if setting.array == IN_K:
        return float(run.k[setting.at])
    if setting.array == IN_C:
        return run.c[setting.at]
    return run.p[setting.at]


def exact_value(run: Run, setting: TimeSetting, number: float) -> RationalTime:
    """The rational number that a period or an offset is: as it was given, as long as it has that value."""
    if number == run.numbers[setting.start_value_at]:
        return RationalTime(setting.whole, setting.rest, setting.resolution)
    return RationalTime(*rational_time(number))


def set_grid(run: Run, handler: Handler, period: float, offset: float) -> None:
    """Set the period and the offset that the next times of a periodic event are computed from."""
    exact_period = exact_value(run, run.setting(handler.period), period)
    exact_offset = exact_value(run, run.setting(handler.offset), offset)
    of_period = exact_period.resolution
    of_offset = exact_offset.resolution
    resolution = 0 if of_period == 0 or of_offset == 0 else common_resolution(of_period, of_offset)
    if not run.clock.time + period > run.clock.time:
        run.failure.handler = handler.number
        raise PeriodLost()
    if resolution == 0:
        run.failure.handler = handler.number
        raise ResolutionLost()
    timing = run.timings[handler.number]
    timing.period = period
    timing.offset = offset
    grid = run.grids[handler.number]
    grid.offset_whole = exact_offset.whole
    grid.offset_rest = exact_offset.rest * (resolution // of_offset)
    grid.period_whole = exact_period.whole
    grid.period_rest = exact_period.rest * (resolution // of_period)
    grid.resolution = resolution


def time_of(run: Run, handler: Handler, index: int) -> float:
    """Time of the `index`-th occurrence."""
    if handler.schedule == LISTED:
        return run.numbers[handler.times_at + index] if index < handler.times else math.inf
    return run.grids[handler.number].time(index)


def compare_ticks(run: Run, handler: Handler, other: Handler) -> int:
    """-1, 0 or 1: whether the next tick of a periodic event is before another's on paper, equal, later."""
    grid = run.grids[handler.number]
    other_grid = run.grids[other.number]
    whole, remainder = grid.tick(run.next_index[handler.number])
    other_whole, other_remainder = other_grid.tick(run.next_index[other.number])
    if whole != other_whole:
        return -1 if whole < other_whole else 1
    return compare_fractions(remainder, grid.resolution, other_remainder, other_grid.resolution)


def may_share_double(run: Run, handler: Handler, other: Handler) -> bool:
    """Whether the next ticks of two periodic events have one double and may differ for all that."""
    upcoming = run.timings[handler.number].next_time
    if upcoming != run.timings[other.number].next_time:
        return False
    resolution = float(run.grids[handler.number].resolution)
    other_resolution = float(run.grids[other.number].resolution)
    return resolution * other_resolution * abs(upcoming) >= DOUBLES_DIFFER


def first_due(run: Run) -> int:
    """Number of the periodic event that is due and first, on paper where doubles cannot tell; -1: none."""
    first = -1
    for handler in run.handlers:
        if handler.schedule != PERIODIC:
            continue
        upcoming = run.timings[handler.number].next_time
        if upcoming <= run.clock.time:
            earliest = run.timings[first].next_time if first >= 0 else math.inf
            if upcoming < earliest or is_before(run, handler, run.handlers[max(first, 0)]):
                first = handler.number
    return first


def is_before(run: Run, handler: Handler, other: Handler) -> bool:
    """Whether a periodic event comes before another on paper, where doubles cannot tell."""
    return may_share_double(run, handler, other) and compare_ticks(run, handler, other) < 0


def waits_for(run: Run, handler: Handler, first: int) -> bool:
    """Whether an event that is due comes after the `first` on paper: at another instant of the same time."""
    if handler.schedule != PERIODIC or handler.number == first or first < 0:
        return False
    return is_before(run, run.handlers[first], handler)


def await_index(run: Run, handler: Handler, index: int) -> None:
    """Make the `index`-th occurrence the next one; its time is NaN if the period is too short to add."""
    timing = run.timings[handler.number]
    time = run.clock.time
    is_lost = handler.schedule == PERIODIC and not time + timing.period > time
    run.next_index[handler.number] = index
    timing.next_time = math.nan if is_lost else time_of(run, handler, index)


def next_time(run: Run, handler: Handler) -> float:
    """The next time of a scheduled event, s; infinite if there is none, NaN if the period is lost."""
    timing = run.timings[handler.number]
    if handler.schedule == TIMED:
        timer = run.d[handler.flag]
        return math.inf if timer == timing.served else timer
    return timing.next_time


def next_event_time(run: Run) -> float:
    """The time of the next scheduled event, s; infinite without one, NaN if a period is lost."""
    first = math.inf
    for handler in run.handlers:
        if handler.schedule != 0:
            time = next_time(run, handler)
            if time != time:
                run.failure.handler = handler.number
                return time
            first = min(first, time)
    return first


def first_index(run: Run, handler: Handler, time: float) -> int:
    """Index of the first occurrence that is not before a time."""
    index = 0
    if handler.schedule != LISTED:
        first = time_of(run, handler, 0)
        if time > first:
            index = math.ceil((time - first) / run.timings[handler.number].period)
    while time_of(run, handler, index) < time:
        index += 1
    while index > 0 and time_of(run, handler, index - 1) >= time:  # the quotient is rounded
        index -= 1
    return index


def later_index(run: Run, handler: Handler) -> int:
    """Index of the first occurrence behind the present time."""
    time = run.clock.time
    index = first_index(run, handler, time)
    while time_of(run, handler, index) <= time:
        index += 1
    return index


def start_agenda(run: Run) -> None:
    """Begin a fresh agenda at the present time."""
    for handler in run.handlers:
        if handler.schedule == TIMED:
            timer = run.d[handler.flag]
            missed = timer < run.clock.time
            run.timings[handler.number].served = timer if missed else -math.inf
    for handler in run.handlers:
        if handler.schedule in (PERIODIC, LISTED):
            await_first(run, handler)


def reschedule_periods(run: Run) -> None:
    """Begin anew with events whose period or offset is a parameter, which the start may have changed."""
    for handler in run.handlers:
        if handler.schedule in (PERIODIC, LISTED) and handler.follows != 0:
            await_first(run, handler)


def await_first(run: Run, handler: Handler) -> None:
    """Let a periodic or listed event begin with its first occurrence that is not past."""
    if handler.schedule == PERIODIC:
        period = present_seconds(run, run.setting(handler.period))
        offset = present_seconds(run, run.setting(handler.offset))
        set_grid(run, handler, period, offset)
    await_index(run, handler, first_index(run, handler, run.clock.time))


def check_timers(run: Run) -> None:
    """Refuse timers that were set to the past."""
    for handler in run.handlers:
        if handler.schedule == TIMED:
            timer = run.d[handler.flag]
            was_served = timer == run.timings[handler.number].served
            if timer != timer or (timer < run.clock.time and not was_served):
                run.failure.handler = handler.number
                raise TimerInPast()


def follow_parameters(run: Run) -> None:
    """Go on on a new grid where a parameter that is a period or an offset has changed.

    What was due already is handled first.
    """
    for handler in run.handlers:
        if handler.follows == 0:
            continue
        timing = run.timings[handler.number]
        period = present_seconds(run, run.setting(handler.period))
        offset = present_seconds(run, run.setting(handler.offset))
        is_same = timing.period == period and timing.offset == offset
        if is_same or timing.next_time <= run.clock.time:
            continue
        set_grid(run, handler, period, offset)
        await_index(run, handler, later_index(run, handler))


def follow_clocks(run: Run) -> None:
    """Follow parameters and check timers, where there are such."""
    if run.plan.has_grids != 0:
        follow_parameters(run)
    if run.plan.has_timers != 0:
        check_timers(run)


def serve(run: Run, handler: Handler) -> None:
    """Move a scheduled event that was handled on to its next occurrence."""
    if handler.schedule == TIMED:
        run.timings[handler.number].served = run.timer_values[handler.number]
        return
    await_index(run, handler, run.next_index[handler.number] + 1)
    if next_time(run, handler) <= run.clock.time:
        await_index(run, handler, later_index(run, handler))
