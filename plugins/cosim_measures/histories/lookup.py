"""Values of a signal in the past, and their error."""

from __future__ import annotations

import math

from cosim.kit import ORDINARY, is_same, margin
from cosim_measures.histories.polynomials import (
    cubic,
    half_hermite,
    hermite,
    hermite_through,
    linear,
    point,
    third_derivative,
)

HERMITE, LINEAR, DENSE = 0.0, 1.0, 2.0
"""Kinds of interpolation: cubics, lines, and the polynomial through all points of a step."""
PROMISED = 10.0
"""Between the ends of steps a small signal may have so many times the error that its largest value allows."""
SHORTEST = 0.02
"""Intervals shorter than this part of their neighbour show no curvature."""
FINEST = 1e-5
"""Steps shorter than this part of the delay are not made shorter."""
SHORTEST_STEP = 1e-9
"""Nor are steps shorter than this, relative to the present time."""
FARTHEST = 10.0
"""How far a cubic is trusted beyond the newest entry, in lengths of its interval."""
SAME_TIME = 1e-14
"""Relative difference of times that are the same."""


def interpolation_kind(s):
    """The kind of interpolation that the two options of a delay select."""
    if s.use_linear_interpolation_only != 0.0:
        return LINEAR
    return DENSE if s.interpolation == 1.0 else HERMITE


def time_beyond(past, t_delayed):
    """The time by which `t_delayed` lies after the newest entry of a history, s; 0 if it does not.

    Also 0 while a break lies between the piece of the history that contains the time and the newest entry.
    """
    if not past.is_open:
        return 0.0
    farther = t_delayed - past.newest_time
    return farther if farther > SAME_TIME * max(1.0, abs(t_delayed)) else 0.0


def interpolate_history(past, t_delayed, t, has_present, value, derivative, kind, nothing):
    """Value and derivative of the signal at `t_delayed`, from the entries of its history.

    Before the oldest entry the signal is constant. Between two entries it is the cubic Hermite polynomial if
    both derivatives are known; else the cubic through these entries and the two before; else (too few entries
    since the last break, or lines are selected) a line. Beyond the newest entry the same polynomial
    continues, for at most ten times its interval; farther away, and after a single entry, it is the tangent
    or a constant. At a break the value before it counts.

    Parameters
    ----------
    past : History
        ``s.past`` of a view; or its entries and its ring, as two arguments.
    t_delayed, t : float
        The delayed time and the present, s.
    has_present : bool or float
        Whether `value` and `derivative`, those of the signal at `t`, may be used as the newest entry.
    kind : bool or float
        0: cubics, 1: lines, 2: the polynomial through all points of a step.
    nothing : float
        The value if the history has no entries.

    Returns
    -------
    value, derivative : float
    """
    count = past.count
    if count == 0:
        return nothing, 0.0
    close = margin(t)
    if t_delayed < past.time(0) - close:
        return past.value(0), 0.0
    left = max(past.find(t_delayed), 0)
    # At a break, up to rounding: the value before it.
    if left + 1 < count and past.time(left + 1) - t_delayed <= close:
        left += 1
    while left > 0 and is_same(past.time(left - 1), past.time(left)):
        if t_delayed - past.time(left) > close:
            break
        left -= 1
    # Entries around this time without a break among them, as many as a polynomial may need.
    begin = left
    farthest = max(left - 4, 0)
    while begin > farthest and past.time(begin - 1) < past.time(begin):
        begin -= 1
    end = left
    farthest = min(left + 4, count - 1)
    while end < farthest and past.time(end + 1) > past.time(end):
        end += 1
    if has_present and end == count - 1 and past.time(end) < t:
        end += 1
    return in_piece(past, begin, end, t_delayed, t, value, derivative, kind)


def delayed_value(past, settled, t_delayed, t, has_present, value, derivative, kind, nothing, before):
    """Value and derivative at `t_delayed` on the piece that was chosen when the step began.

    Parameters
    ----------
    settled : bool
        Whether the piece was chosen for the present delay; otherwise it is found by the time.
    before : float
        The value before the start of the history; NaN for the value of the oldest entry. The derivative is
        NaN with a given value.
    others
        As `interpolate_history`.

    Raises
    ------
    ValueError
        The delayed time lies before the oldest entry.
    """
    if past.count == 0:
        return nothing, 0.0
    begin = past.piece_begin
    if begin >= 0 and t_delayed < past.time(begin) - margin(t):
        settled = False  # a time inside the last step, whose piece was chosen at the end of the step
    if not settled:
        begin = 0
        if t_delayed < past.time(0) - margin(t):
            if past.start_order < 0:
                raise ValueError(
                    "the delay became longer than the stored history: set longest_delay of the part"
                )
            begin = -1
    if begin < 0:
        if before == before:
            return before, math.nan
        return past.value(0), 0.0
    if not settled:
        return interpolate_history(past, t_delayed, t, has_present, value, derivative, kind, nothing)
    end = past.piece_end
    if past.is_open and has_present and past.time(end) < t:
        end += 1
    return in_piece(past, begin, end, t_delayed, t, value, derivative, kind)


def before_start(past, at):
    """Value and derivative before the history began, on the tangent at its oldest entry."""
    if past.count == 0:
        return math.nan, math.nan
    t0, v0, d0 = point(past, 0, at, 0.0, 0.0)
    return v0 + d0 * (at - t0), d0


def has_derivatives(past, begin, end):
    """Whether the derivatives at two entries are known."""
    _, _, first = point(past, begin, 0.0, 0.0, 0.0)
    _, _, last = point(past, end, 0.0, 0.0, 0.0)
    return first == first and last == last


def value_in_piece(past, begin, end, at, kind):
    """Value and derivative at `at` from the entries `begin` to `end`, among which there is no break.

    Without derivatives it is the parabola through the last three of them, or a line through two.
    """
    _, _, end_rate = point(past, end, at, 0.0, 0.0)
    if end_rate == end_rate or end - begin < 2:
        return in_piece(past, begin, end, at, at, 0.0, 0.0, kind)
    t0, v0, _ = point(past, end - 2, at, 0.0, 0.0)
    t1, v1, _ = point(past, end - 1, at, 0.0, 0.0)
    t2, v2, _ = point(past, end, at, 0.0, 0.0)
    f01 = (v1 - v0) / (t1 - t0)
    bend = ((v2 - v1) / (t2 - t1) - f01) / (t2 - t0)
    return v0 + (at - t0) * (f01 + (at - t1) * bend), f01 + (2.0 * at - t0 - t1) * bend


def in_piece(past, begin, end, at, t, value, derivative, kind):
    """Value and derivative at `at` from the entries `begin` … `end`, without a break among them.

    An index one past the newest entry stands for the present.
    """
    left = past.find_between(begin, end - 1, at)
    t0, v0, d0 = point(past, left, t, value, derivative)
    if begin == end:
        has_rate = d0 == d0 and kind != LINEAR
        return (v0 + d0 * (at - t0), d0) if has_rate else (v0, 0.0)
    t1, v1, d1 = point(past, left + 1, t, value, derivative)
    if kind == LINEAR:
        return linear(at, t0, v0, t1, v1)
    beyond = at - t1 > FARTHEST * (t1 - t0)
    if d0 == d0 and d1 == d1:
        if beyond:
            return v1 + d1 * (at - t1), d1
        if kind == DENSE:
            first = left
            while first > begin and past.is_inside(first):
                first -= 1
            last = left + 1
            while last < min(end, past.count - 1) and past.is_inside(last):
                last += 1
            if last - first > 1 and at - t1 <= t1 - past.time(first):
                return hermite_through(past, first, last, at, t, value, derivative)
        return hermite(at, t0, v0, d0, t1, v1, d1)
    if d0 == d0 and not beyond:
        earlier, ve, _ = point(past, max(left - 1, begin), t, value, derivative)
        return half_hermite(at, earlier, ve, t0, v0, d0, t1, v1)
    # Later entries are not used, so that values do not change when entries are appended.
    first = left - 2
    if first < begin or beyond:
        return linear(at, t0, v0, t1, v1)
    t0, v0, _ = point(past, first, t, value, derivative)
    t1, v1, _ = point(past, first + 1, t, value, derivative)
    t2, v2, _ = point(past, first + 2, t, value, derivative)
    t3, v3, _ = point(past, first + 3, t, value, derivative)
    return cubic(at, t0, v0, t1, v1, t2, v2, t3, v3)


def extrapolation_error(past, t_delayed, t, has_present, value, derivative, kind):
    """The estimated error of values from this history, at the end of a step at `t`.

    It is the larger of two errors: the difference between an extrapolated value and the value that can be
    interpolated now, and the error of the cubic over this step, from its fourth derivative. The error of
    lines, and of cubics without derivatives, is not estimated; a history with dense output is as accurate as
    the step.

    Returns
    -------
    float
        Relative to the magnitude of the value; if that is below 1e-3, relative to the largest magnitude so
        far, at most 1e-3, and then a tenth of the error of the cubic. 0 if nothing was extrapolated.
    """
    newest = past.count - 1
    ahead = False  # whether the history already has an entry at the end of this step
    while newest >= 0 and past.time(newest) >= t:
        newest -= 1
        ahead = True
    while newest > 0 and past.kind(newest) < 0.0:
        newest -= 1
    if newest < 0:
        return 0.0
    # At a jump that is not an event no step is short enough; a hundred-thousandth of the delay resolves it.
    if t - past.time(newest) <= max(FINEST * (t - t_delayed), SHORTEST_STEP * max(1.0, abs(t))):
        return 0.0
    error = 0.0
    if not has_present and not ahead and past.is_open and t_delayed > past.time(newest):
        extrapolated, _ = in_piece(past, past.piece_begin, newest, t_delayed, t, 0.0, 0.0, kind)
        interpolated, _ = in_piece(past, past.piece_begin, newest + 1, t_delayed, t, value, derivative, kind)
        difference, size = abs(extrapolated - interpolated), abs(interpolated)
        error = max(difference / max(ORDINARY, size), past.error_of_small(difference, size))
    before_it = newest - 1
    while before_it > 0 and (past.kind(before_it) < 0.0 or is_same(past.time(before_it), past.time(newest))):
        before_it -= 1  # across a break: an error that is too large is better than none
    if before_it >= 0 and kind == HERMITE:
        t0, v0, d0 = point(past, before_it, t, value, derivative)
        t1, v1, d1 = point(past, newest, t, value, derivative)
        before, step = t1 - t0, t - t1
        if before > SHORTEST * step and d0 == d0 and d1 == d1 and derivative == derivative:
            change = third_derivative(step, v1, d1, value, derivative) - third_derivative(
                before, v0, d0, v1, d1
            )
            bend = step * step * step * step * change / (192.0 * (before + step))
            error = max(error, abs(bend) / max(ORDINARY, abs(value)))
            error = max(error, past.error_of_small(abs(bend), abs(value)) / PROMISED)
    return error
