"""A table over time, from a file or from lists."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np

import cosim
from cosim.kit import common_resolution, data_file, quote, rational_time, text, tick_time
from cosim_signals.curves import derivatives, interval, monotone_slopes, spline_slopes, straight_slopes
from cosim_signals.curves import value as curve_value
from cosim_signals.series import read_series
from cosim_signals.source import Source

LINEAR, HELD, CUBIC, MONOTONE = 0.0, 1.0, 2.0, 3.0
"""Choices of `TimeTable.interpolation`, in their order, as kernel functions get them."""
KEPT, TANGENT, PERIODIC, ERROR = 0.0, 1.0, 2.0, 3.0
"""Choices of `TimeTable.extrapolation`, likewise."""


def checked_times(times: Any) -> Any:
    """The times of a table in s, from a list; ``ValueError`` where they fall. Else what is given."""
    if isinstance(times, (list, tuple, np.ndarray)):
        numbers = [cosim.parse_quantity(x, "s") if isinstance(x, str) else float(x) for x in times]
        for i in range(1, len(numbers)):
            if numbers[i] < numbers[i - 1]:
                raise ValueError(f"times decrease: {numbers[i]:g} s comes after {numbers[i - 1]:g} s")
        return numbers
    return times


def piece_at(t, times, interpolation, extrapolation, shift_time):
    """First and last point of the smooth piece at a time, and which repetition of the table it is in."""
    count = len(times)
    cycle = 0
    period = times[count - 1] - times[0]
    if extrapolation == PERIODIC and period > 0.0:
        cycle = math.floor((t - shift_time - times[0]) / period)
        while point_time(times, 0, shift_time, cycle + 1) <= t:
            cycle += 1
        while point_time(times, 0, shift_time, cycle) > t:
            cycle -= 1
    first = max(point_before(t, times, 0, count - 1, shift_time, cycle), 0)
    if interpolation != HELD:
        while first > 0 and times[first - 1] < times[first]:
            first -= 1
    return first, piece_end(times, first, interpolation), cycle


def cycle_start(times, shift_time, cycle):
    """When time 0 of the table comes in a repetition, s: without a sum in which rounding would grow."""
    return shift_time + cycle * (times[len(times) - 1] - times[0])


def point_time(times, point, shift_time, cycle):
    """When a point of the table comes in a repetition, s: the double nearest to the exact time.

    That is ``shift_time + times[point] + cycle * period`` in rational numbers: whole seconds, and a rest in
    units of 1 / `resolution` s.
    """
    if cycle == 0 and shift_time == 0.0:
        return times[point]
    shift, shift_rest, shift_resolution = rational_time(shift_time)
    at, at_rest, at_resolution = rational_time(times[point])
    begin, begin_rest, begin_resolution = rational_time(times[0])
    end, end_rest, end_resolution = rational_time(times[len(times) - 1])
    resolution = shared_resolution(
        shared_resolution(shift_resolution, at_resolution),
        shared_resolution(begin_resolution, end_resolution),
    )
    if resolution == 0:
        return cycle_start(times, shift_time, cycle) + times[point]
    shift_rest *= resolution // shift_resolution
    at_rest *= resolution // at_resolution
    whole = shift + at
    rest = shift_rest - (resolution - at_rest)  # one second less than the sum, which may exceed 64 bits
    if rest >= 0:
        whole += 1
    else:
        rest += resolution
    period = end - begin
    period_rest = end_rest * (resolution // end_resolution) - begin_rest * (resolution // begin_resolution)
    if period_rest < 0:
        period -= 1
        period_rest += resolution
    if cycle >= 0:
        return tick_time(cycle, whole, rest, period, period_rest, resolution)
    # `tick_time` takes no negative index: the time with both signs reversed
    if rest != 0:
        whole += 1
        rest = resolution - rest
    return -tick_time(-cycle, -whole, rest, period, period_rest, resolution)


def shared_resolution(a, b):
    """The least resolution in which times of both can be counted; 0 where there is none."""
    return 0 if a == 0 or b == 0 else common_resolution(a, b)


def point_before(t, times, first, last, shift_time, cycle):
    """The last point from `first` to `last` whose time has come at `t`; first - 1 where none has."""
    point = interval(times, first, last, t - cycle_start(times, shift_time, cycle))
    while point < last and point_time(times, point + 1, shift_time, cycle) <= t:
        point += 1
    while point >= first and point_time(times, point, shift_time, cycle) > t:
        point -= 1
    return point


def piece_end(times, first, interpolation):
    """The last point of the smooth piece that begins at a point."""
    last = first
    if interpolation != HELD:
        while last + 1 < len(times) and times[last + 1] > times[last]:
            last += 1
    return last


def jump_time(times, last, interpolation, extrapolation, shift_time, cycle):
    """When the smooth piece that ends at the point `last` gives way to the next; infinite if none follows."""
    count = len(times)
    if last + 1 < count:
        return point_time(times, last + 1 if interpolation == HELD else last, shift_time, cycle)
    if extrapolation == PERIODIC and times[count - 1] > times[0]:
        return point_time(times, 0, shift_time, cycle + 1)
    return math.inf


def next_piece(now, times, interpolation, extrapolation, shift_time, last, cycle):
    """First and last point, cycle and end of the next smooth piece that does not end at `now` already."""
    first = last
    jump_after = now
    while jump_after <= now:
        first = last + 1
        if first == len(times):
            first = 0
            cycle += 1
        last = piece_end(times, first, interpolation)
        jump_after = jump_time(times, last, interpolation, extrapolation, shift_time, cycle)
    return first, last, cycle, jump_after


class TimeTable(Source):
    """A table over time, from a file or from lists: measured signals, drive cycles, set points.

    Law: value = offset + T(t - shift_time). T goes through the points (times, samples): along straight lines
    ("linear"), keeping each value until the next time ("held"), along the cubic spline with two continuous
    derivatives ("cubic"), or along a cubic that does not overshoot ("monotone"). A time that comes twice is a
    jump: there T begins anew, and the value after it counts. Before the first and after the last time T
    keeps the value there ("kept"), goes on along its tangent, a straight line ("tangent"), begins again
    ("periodic", the period is from the first time to the last), or has no value, which ends a run that asks
    for one ("error"). Three derivatives are known.

    Every jump is an event of the cause Scheduled: no step goes across it. It is at the time that it has on
    paper, in every repetition, so it meets the ticks of periods. The times of the table, where
    higher derivatives jump, are announced: steps of an adaptive integrator end there.

    Parameters
    ----------
    file : path, optional
        CSV or Parquet with the time in its first column and units in its header (`cosim.read_result`), in
        place of times and samples.
    column : str, optional
        Which signal of the file; needed where there are several.
    times : array_like, shape (n,), s, not falling, n >= 1
    samples : array_like, shape (n,), in the unit of the value
    interpolation : "linear", "held", "cubic" or "monotone"
    extrapolation : "kept", "tangent", "periodic" or "error"
    unit, offset
        As for `Source`; the file's unit is taken where none is given.
    shift_time : float, s
        When the time 0 of the table is.

    Raises
    ------
    ModelError
        A file that cannot be read or has no such column, lists of different lengths, times that fall.

    References
    ----------
    Modelica Standard Library, block ``Sources.CombiTimeTable`` (table, smoothness, extrapolation, shiftTime).
    Drake, class ``TrajectorySource``.

    Examples
    --------
    >>> TimeTable(times=[0, "200 ms", 1], samples=["0 N", "3 kN", "0 N"]).times.tolist()
    [0.0, 0.2, 1.0]
    """

    known_as = ("table", "lookup", "lookup_table", "from_file", "csv")
    elementwise = False
    announces_kinks = True

    start_time = None
    file = data_file("CSV or Parquet with units in its header")
    column = text("which signal of the file")
    times = cosim.parameter(unit="s", shape="points", convert=checked_times, description="times, not falling")
    samples = cosim.parameter(unit="{value}", shape="points", description="value at each time")
    interpolation = cosim.option(
        "linear", choices=("linear", "held", "cubic", "monotone"), description="curve between the times"
    )
    extrapolation = cosim.option(
        "kept", choices=("kept", "tangent", "periodic", "error"), description="before and after the times"
    )
    shift_time = cosim.parameter(unit="s", default=0.0, description="when the time 0 of the table is")

    slopes = cosim.cache_slot(
        unit="{value}/s", shape="points", internal=True, description="slope of the curve at each time"
    )
    work = cosim.cache_slot(shape="points", internal=True, description="for the spline")
    smooth_until = cosim.cache_slot(unit="s", description="when the next time of the table comes")
    first = cosim.discrete(dtype=int, internal=True, description="where the smooth piece begins")
    last = cosim.discrete(dtype=int, start=-1, internal=True, description="where it ends; -1: found from t")
    cycle = cosim.discrete(dtype=int, internal=True, description="how often the table has been repeated")
    due = cosim.timer(description="when the next jump comes")

    def __init__(self, **values: Any) -> None:
        super().__init__(**_with_file(values))

    @cosim.kernel(refuses=["the times of the table fall: sort them"])
    def check(times):
        for i in range(1, len(times)):
            if times[i] < times[i - 1]:
                return 1.0
        return 0.0

    @cosim.kernel
    def prepare(times, samples, interpolation, slopes, work):
        count = len(times)
        begin = 0
        for i in range(count):
            slopes[i] = 0.0
            if i + 1 == count or times[i + 1] == times[i]:
                if interpolation == LINEAR:
                    straight_slopes(times, samples, begin, i, slopes)
                elif interpolation == CUBIC:
                    spline_slopes(times, samples, begin, i, slopes, work)
                elif interpolation == MONOTONE:
                    monotone_slopes(times, samples, begin, i, slopes)
                begin = i + 1

    @cosim.kernel
    def follow(s):
        start, end, repeated = s.first, s.last, s.cycle
        if s.last < 0:
            start, end, repeated = piece_at(s.t, s.times, s.interpolation, s.extrapolation, s.shift_time)
        final = len(s.times) - 1
        if s.extrapolation == ERROR and (
            s.t < point_time(s.times, 0, s.shift_time, 0) or s.t > point_time(s.times, final, s.shift_time, 0)
        ):
            raise ValueError(
                'the table does not cover this time: add times, or set extrapolation="kept" or "tangent"'
            )
        at = s.t - cycle_start(s.times, s.shift_time, repeated)
        # Within the table a time can lie beyond its piece by rounding alone: the end of the piece counts.
        is_bounded = s.extrapolation == PERIODIC or s.extrapolation == ERROR
        if start > 0 or is_bounded:
            at = max(at, s.times[start])
        if end < final or is_bounded:
            at = min(at, s.times[end])
        straight = s.interpolation == LINEAR
        is_before = at < s.times[start] and s.extrapolation != TANGENT
        is_after = at > s.times[end] and s.extrapolation != TANGENT
        if s.interpolation == HELD or is_before or is_after:
            s.value = s.offset + (s.samples[end] if is_after else s.samples[start])
            s.value_dot = 0.0
            s.value_dot2 = 0.0
            s.value_dot3 = 0.0
        else:
            s.value = s.offset + curve_value(at, s.times, s.samples, s.slopes, start, end, straight)
            # At the last time of all the curve has ended, at that of a jump it has not.
            has_ended = at == s.times[end] and end == final and s.extrapolation != TANGENT
            has_ended = has_ended and s.extrapolation != PERIODIC
            first, second, third = derivatives(at, s.times, s.samples, s.slopes, start, end, straight)
            s.value_dot = 0.0 if has_ended else first
            s.value_dot2 = 0.0 if has_ended else second
            s.value_dot3 = 0.0 if has_ended else third

    @cosim.kernel
    def find_next_break(t, times, interpolation, extrapolation, shift_time, first, last, cycle, smooth_until):
        smooth_until[0] = math.inf
        start, end, repeated = first, last, cycle
        if last < 0:
            start, end, repeated = piece_at(t, times, interpolation, extrapolation, shift_time)
        if interpolation != HELD:
            next_point = point_before(t, times, start, end, shift_time, repeated) + 1
            if next_point <= end:
                smooth_until[0] = point_time(times, next_point, shift_time, repeated)

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(
        t, times, interpolation, extrapolation, shift_time, first_next, last_next, cycle_next, due_next
    ):
        first, last, cycle = piece_at(t, times, interpolation, extrapolation, shift_time)
        jump_after = jump_time(times, last, interpolation, extrapolation, shift_time, cycle)
        if jump_after <= t:
            first, last, cycle, jump_after = next_piece(
                t, times, interpolation, extrapolation, shift_time, last, cycle
            )
        first_next[0] = first
        last_next[0] = last
        cycle_next[0] = cycle
        due_next[0] = jump_after

    @cosim.on(due, does="discrete")
    def jump(
        times,
        interpolation,
        extrapolation,
        shift_time,
        last,
        cycle,
        due,
        first_next,
        last_next,
        cycle_next,
        due_next,
    ):
        first, end, repeated, jump_after = next_piece(
            due, times, interpolation, extrapolation, shift_time, last, cycle
        )
        first_next[0] = first
        last_next[0] = end
        cycle_next[0] = repeated
        due_next[0] = jump_after


def _with_file(values: dict[str, Any]) -> dict[str, Any]:
    """The arguments with times, samples and unit of the file in place of its name.

    Raises
    ------
    ModelError
        File or column is not a text, the file lacks the column, or times or samples are also given.
    """
    values = dict(values)
    file, column = values.pop("file", ""), values.pop("column", "")
    if not isinstance(file, (str, Path)) or not isinstance(column, str):
        raise cosim.ModelError.of(
            "file",
            f"file is {quote(file)}, column {quote(column)}: both need a text; of a table in memory give "
            "columns, times=table['time'], samples=table['force']",
        )
    if not file:
        if column:
            raise cosim.ModelError.of("column", f"column is {column!r}, but there is no file: give one")
        return values
    both = [name for name in ("times", "samples") if name in values]
    if both:
        raise cosim.ModelError.of(
            "file", f"file is {file!r}, so {both[0]} must be omitted: values come from the file or from it"
        )
    signals = read_series(file)
    if not column and len(signals) == 1:
        (column,) = signals
    if column not in signals:
        hint = str(cosim.LookUpError("signal", column, signals)) if column else "there are several signals: "
        listed = "" if column else f"give column, one of {', '.join(signals)}"
        raise cosim.ModelError.of("column", f"{file}: {hint}{listed}")
    series = signals[column]
    unit = {} if series.unit == "1" else {"unit": series.unit}
    return {**unit, **values, "times": series.times.tolist(), "samples": series.values.tolist()}
