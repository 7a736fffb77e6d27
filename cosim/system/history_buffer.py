"""The past of a signal, kept in the State: kernel helpers for delays, and growing.

An entry is four doubles in the array `past`: time, side, value, derivative (NaN when unknown). The
side is 0 for the values before the events of an instant and 1 for those after; a jump is two entries
at one time, and nothing is ever interpolated across it. Where the entries lie is said by `ring`, five
integers: where the stretch starts in `past`, its capacity in entries, which entry is the oldest, how
many there are, and a flag that an entry was refused because the stretch is full.

The helpers allocate nothing; `grow` is called between steps, from Python.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

WIDTH = 4
START, CAPACITY, FIRST, COUNT, FULL = 0, 1, 2, 3, 4
KEPT = 4  # what a cubic through values needs
SAME_TIME = 1e-14  # times closer than this, relative to the present, are one instant
SMALL = 1e-3  # a signal below that is compared with it instead of with itself
SHORTEST = 0.02  # an interval shorter than this part of its neighbour says nothing about bends
FINEST = 1e-5  # steps shorter than this part of the delay are not made shorter for its sake
SHORTEST_STEP = 1e-9  # nor those shorter than this, relative to the present
FARTHEST = 10.0  # intervals that a cubic is trusted beyond the newest entry


def entry_offset(ring, index):
    """Where the entry with this index (0 is the oldest) starts in `past`."""
    return ring[0] + 4 * ((ring[2] + index) % ring[1])


def entry_time(past, ring, index):
    """Time of an entry, s."""
    return past[ring[0] + 4 * ((ring[2] + index) % ring[1])]


def append_to_history(past, ring, t, side, value, derivative):
    """Remember a value; again for the same time and side it replaces the newest entry.

    Entries that are later (of a run that was taken back) are dropped. An entry after events that
    differs in nothing from the one before them is not a jump and is not kept. When there is no room,
    ``ring[4]`` is set and nothing else changes.
    """
    count = ring[3]
    while count > 0:
        at = ring[0] + 4 * ((ring[2] + count - 1) % ring[1])
        if past[at] < t or (past[at] == t and past[at + 1] < side):
            break
        count -= 1
    if count > 0 and side > 0.0:
        at = ring[0] + 4 * ((ring[2] + count - 1) % ring[1])
        same_derivative = past[at + 3] == derivative or (
            past[at + 3] != past[at + 3] and derivative != derivative
        )
        if past[at] == t and past[at + 2] == value and same_derivative:
            ring[3] = count
            return
    if count == ring[1]:
        ring[4] = 1
        return
    at = ring[0] + 4 * ((ring[2] + count) % ring[1])
    past[at] = t
    past[at + 1] = side
    past[at + 2] = value
    past[at + 3] = derivative
    ring[3] = count + 1


def trim_history(past, ring, t, t_delayed):
    """Forget what is not needed for times from `t_delayed` on, seen from the present `t`.

    Two entries up to `t_delayed`, and four in all, are kept for a cubic. Once `t_delayed` has reached a
    jump, everything before it goes: from then on the value is the one after it.
    """
    now = t_delayed + SAME_TIME * max(1.0, abs(t))
    jump = 0
    index = 1
    while index < ring[3] and entry_time(past, ring, index) <= now:
        if entry_time(past, ring, index - 1) == entry_time(past, ring, index):
            jump = index
        index += 1
    drop = max(jump, min(index - 2, ring[3] - KEPT))
    if drop > 0:
        ring[2] = (ring[2] + drop) % ring[1]
        ring[3] -= drop


def find(past, ring, t):
    """Index of the newest entry that is not later than `t`; -1 when all are later."""
    low = -1
    high = ring[3] - 1
    while low < high:
        middle = (low + high + 1) // 2
        if entry_time(past, ring, middle) <= t:
            low = middle
        else:
            high = middle - 1
    return low


def hermite(t, t0, v0, d0, t1, v1, d1):
    """Value and derivative at `t` of the cubic with these values and derivatives at two times."""
    step = t1 - t0
    s = (t - t0) / step
    r = 1.0 - s
    slope = (v1 - v0) / step
    value = v0 + s * (v1 - v0) + s * r * step * (r * (d0 - slope) - s * (d1 - slope))
    derivative = slope + (r - s) * (r * (d0 - slope) - s * (d1 - slope)) - s * r * (d0 - slope + d1 - slope)
    return value, derivative


def linear(t, t0, v0, t1, v1):
    """Value and derivative at `t` of the line through two points, written as a weighted mean."""
    s = (t - t0) / (t1 - t0)
    return v0 + s * (v1 - v0), (v1 - v0) / (t1 - t0)


def cubic(t, t0, v0, t1, v1, t2, v2, t3, v3):
    """Value and derivative at `t` of the cubic through four points (Newton's divided differences)."""
    f01 = (v1 - v0) / (t1 - t0)
    f12 = (v2 - v1) / (t2 - t1)
    f23 = (v3 - v2) / (t3 - t2)
    f012 = (f12 - f01) / (t2 - t0)
    f123 = (f23 - f12) / (t3 - t1)
    f0123 = (f123 - f012) / (t3 - t0)
    a = t - t0
    b = t - t1
    e = t - t2
    value = v0 + a * (f01 + b * (f012 + e * f0123))
    derivative = f01 + (a + b) * f012 + (a * b + a * e + b * e) * f0123
    return value, derivative


def point(past, ring, index, t, value, derivative):
    """Time, value and derivative of an entry; of the present when the index is one past the newest."""
    if index == ring[3]:
        return t, value, derivative
    at = ring[0] + 4 * ((ring[2] + index) % ring[1])
    return past[at], past[at + 2], past[at + 3]


def interpolate_history(past, ring, t_delayed, t, has_present, value, derivative, linear_only, nothing):
    """Value and derivative of the signal at `t_delayed`, from what is remembered.

    Before the oldest entry the signal is constant. Between two entries: the cubic Hermite polynomial
    where both derivatives are known, else the cubic through four entries around, else (too few
    entries on this side of a jump, or `linear_only`) a line. Beyond the newest entry the same
    polynomial goes on, for at most ten times its interval; then, and after a lone entry, the tangent
    or a constant. At a jump itself it is the value before it: a step that ends there then sees one
    smooth signal, and `trim_history` changes over to the other side.

    Parameters
    ----------
    past, ring : ndarray
        See the module.
    t_delayed, t : float
        The time that is asked for and the present, s.
    has_present : bool or float
        Whether `value` and `derivative`, those of the signal at `t`, may be used as the newest entry.
    linear_only : bool or float
        Lines instead of cubics.
    nothing : float
        The value when nothing is remembered.

    Returns
    -------
    value, derivative : float
    """
    count = ring[3]
    if count == 0:
        return nothing, 0.0
    margin = SAME_TIME * max(1.0, abs(t))
    last = count - 1
    if has_present and entry_time(past, ring, last) < t:
        last = count
    if t_delayed < entry_time(past, ring, 0) - margin:
        return past[entry_offset(ring, 0) + 2], 0.0
    left = max(find(past, ring, t_delayed), 0)
    # A jump within rounding of this time: stay on the side before it.
    if left + 1 < count and entry_time(past, ring, left + 1) - t_delayed <= margin:
        left += 1
    while left > 0 and entry_time(past, ring, left - 1) == entry_time(past, ring, left):
        if t_delayed - entry_time(past, ring, left) > margin:
            break
        left -= 1
    # The piece between two jumps, as far as a cubic may need it.
    begin = left
    while (
        begin > 0 and begin > left - 3 and entry_time(past, ring, begin - 1) < entry_time(past, ring, begin)
    ):
        begin -= 1
    end = left
    while end < last and end < left + 3:
        if end + 1 < count and entry_time(past, ring, end + 1) == entry_time(past, ring, end):
            break
        end += 1
    if left == end:
        left = max(end - 1, begin)
    t0, v0, d0 = point(past, ring, left, t, value, derivative)
    if begin == end:
        known = d0 == d0 and not linear_only
        return (v0 + d0 * (t_delayed - t0), d0) if known else (v0, 0.0)
    t1, v1, d1 = point(past, ring, left + 1, t, value, derivative)
    beyond = t_delayed - t1 > FARTHEST * (t1 - t0)
    if linear_only:
        return linear(t_delayed, t0, v0, t1, v1)
    if d0 == d0 and d1 == d1:
        if beyond:
            return v1 + d1 * (t_delayed - t1), d1
        return hermite(t_delayed, t0, v0, d0, t1, v1, d1)
    if end - begin < 3 or beyond:
        return linear(t_delayed, t0, v0, t1, v1)
    first = min(max(left - 1, begin), end - 3)
    t0, v0, _ = point(past, ring, first, t, value, derivative)
    t1, v1, _ = point(past, ring, first + 1, t, value, derivative)
    t2, v2, _ = point(past, ring, first + 2, t, value, derivative)
    t3, v3, _ = point(past, ring, first + 3, t, value, derivative)
    return cubic(t_delayed, t0, v0, t1, v1, t2, v2, t3, v3)


def extrapolation_error(past, ring, t_delayed, t, has_present, value, derivative, linear_only):
    """How far off values from this history are, as far as the end of a step at `t` can tell.

    The larger one of two: the difference between a value that was extrapolated and the one that is
    known now that the present of the signal is; and the error of the cubic over this step, by its
    fourth derivative. Lines, and cubics without derivatives, are as good as they are.

    Returns
    -------
    float
        Relative to the magnitude of the value (to 1e-3 where that is smaller); 0 when all is known.
    """
    count = ring[3]
    if count == 0:
        return 0.0
    # At a jump that is no event no step is short enough; a hundred-thousandth of the delay resolves it.
    if t - entry_time(past, ring, count - 1) <= max(
        FINEST * (t - t_delayed), SHORTEST_STEP * max(1.0, abs(t))
    ):
        return 0.0
    error = 0.0
    if not has_present and t_delayed > entry_time(past, ring, count - 1):
        guessed, _ = interpolate_history(past, ring, t_delayed, t, 0.0, 0.0, 0.0, linear_only, 0.0)
        known, _ = interpolate_history(past, ring, t_delayed, t, 1.0, value, derivative, linear_only, 0.0)
        error = abs(guessed - known) / max(SMALL, abs(known))
    if count > 1 and not linear_only:
        t0, v0, d0 = point(past, ring, count - 2, t, value, derivative)
        t1, v1, d1 = point(past, ring, count - 1, t, value, derivative)
        before, step = t1 - t0, t - t1
        if before > SHORTEST * step and d0 == d0 and d1 == d1 and derivative == derivative:
            change = third_derivative(step, v1, d1, value, derivative) - third_derivative(
                before, v0, d0, v1, d1
            )
            bend = step * step * step * step * change / (192.0 * (before + step))
            error = max(error, abs(bend) / max(SMALL, abs(value)))
    return error


def third_derivative(step, v0, d0, v1, d1):
    """Third derivative of the cubic with these values and derivatives at both ends."""
    return 6.0 * (d0 + d1 - 2.0 * (v1 - v0) / step) / (step * step)


def grow(
    h: NDArray[np.float64], k: NDArray[np.int64], offset: int, rings: Sequence[int] = ()
) -> NDArray[np.float64]:
    """Double the capacity of one history.

    Parameters
    ----------
    h : ndarray
        All histories of a State.
    k : ndarray of int64
        Its integers; the rings in it are changed.
    offset : int
        Where the ring of the full history starts in `k`.
    rings : sequence of int
        Where all rings start in `k`: the stretches behind the one that grows move up.

    Returns
    -------
    ndarray
        The histories with more room, the entries of the one that grew in order from its start.
    """
    ring = k[offset : offset + 5]
    start, capacity, count = int(ring[START]), int(ring[CAPACITY]), int(ring[COUNT])
    stop = start + WIDTH * capacity
    entries = h[start:stop].reshape(capacity, WIDTH)
    grown = np.zeros((max(2 * capacity, 2 * KEPT), WIDTH))
    if count:
        grown[:count] = entries[(int(ring[FIRST]) + np.arange(count)) % capacity]
    added = grown.size - (stop - start)
    for other in rings:
        if other != offset and k[other + START] >= stop:
            k[other + START] += added
    ring[:] = (start, len(grown), 0, count, 0)
    return np.concatenate([h[:start], grown.ravel(), h[stop:]])
