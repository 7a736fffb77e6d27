"""Until when a delayed signal is smooth."""

from __future__ import annotations

import math

SAME_TIME = 1e-14
LOOK_AHEAD = 64  # entries; a step that would cross more of them ends there, which does no harm


def time_of(past, ring, index):
    """Time of an entry of a history, s; an entry has four numbers, 0 is the oldest one."""
    return past[ring[0] + 4 * ((ring[2] + index) % ring[1])]


def smooth_until(past, ring, delay, t):
    """The first time after `t` at which the signal, delayed, begins, jumps or has a kink, s.

    Integrators end a step there: a method of high order is one of first order across a kink, and its
    error estimate may miss it.

    Parameters
    ----------
    past, ring : ndarray
        A history and where it lies (start, capacity, first, count, full).
    delay, t : float
        s.

    Returns
    -------
    float
        Infinite when nothing of the kind is remembered.
    """
    now = t - delay + SAME_TIME * max(1.0, abs(t))
    count = ring[3]
    if count == 0:
        return math.inf
    if now < time_of(past, ring, 0):
        return time_of(past, ring, 0) + delay
    low = 0
    high = count
    while high - low > 1:
        middle = (low + high) // 2
        if time_of(past, ring, middle) <= now:
            low = middle
        else:
            high = middle
    for index in range(high, min(count, high + LOOK_AHEAD)):
        if index > 0 and time_of(past, ring, index - 1) == time_of(past, ring, index):
            return time_of(past, ring, index) + delay
    if high + LOOK_AHEAD < count:
        return time_of(past, ring, high + LOOK_AHEAD) + delay
    return math.inf
