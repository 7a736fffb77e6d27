"""What is remembered between the ends of steps, as far as the signal asks for it.

Points of a step at which a signal is not where the history would say it is. They are ends of pieces of
the polynomials like the ends of steps, and belong to the step like the points inside it.
"""

from __future__ import annotations

import math

from cosim.system.history_buffer import (
    BEGIN,
    CAPACITY,
    COUNT,
    END,
    FULL,
    INSIDE,
    KIND,
    LOOKED,
    REFINED,
    VALUE,
    WIDTH,
    append_to_history,
    entry_offset,
    entry_time,
    find,
    write_entry,
)
from cosim.system.history_lookup import SMALL, interpolate_history

ADDED, NO_VALUE = 2, 4  # what a check leaves in ``ring[FULL]``, for the one who asked


def entry_after(past, ring, t):
    """Time of the oldest entry after `t`, s; infinite when there is none."""
    index = find(past, ring, t) + 1
    return entry_time(past, ring, index) if index < ring[COUNT] else math.inf


def piece_start(past, ring, t):
    """Where the polynomial begins that ends at the entry at `t`, s."""
    index = find(past, ring, t) - 1
    while index > 0 and past[entry_offset(ring, index) + KIND] == INSIDE:
        index -= 1
    return entry_time(past, ring, max(index, 0))


def refine_history(past, ring, t, side, tolerance, value, derivative, kind):
    """Append the end of a step (`side` 0), or add a time inside it where the history is not good there.

    With `side` -1/4 it is only said whether one would be added, without the derivative.

    Parameters
    ----------
    tolerance : float
        How far the history may be off, relative to the values around, or to 1e-3 where they are smaller.
    kind : float
        Of the interpolation.
    others
        As `append_to_history`.
    """
    if side == 0.0:
        append_to_history(past, ring, t, side, math.inf, value, derivative)
        return
    if value - value != 0.0:
        ring[FULL] |= NO_VALUE
        return
    count = ring[COUNT]
    index = find(past, ring, t)
    if index < 0 or index + 1 >= count or entry_time(past, ring, index) == t or count == ring[CAPACITY]:
        return
    found, _ = interpolate_history(past, ring, t, t, False, 0.0, 0.0, kind, value)
    before = abs(past[entry_offset(ring, index) + VALUE])
    after = abs(past[entry_offset(ring, index + 1) + VALUE])
    if abs(found - value) <= tolerance * max(max(before, after), max(abs(value), SMALL)):
        return
    if side == LOOKED:
        ring[FULL] |= ADDED
        return
    for i in range(count, index + 1, -1):
        source = entry_offset(ring, i - 1)
        target = entry_offset(ring, i)
        for m in range(WIDTH):
            past[target + m] = past[source + m]
    write_entry(past, entry_offset(ring, index + 1), t, REFINED, value, derivative)
    ring[COUNT] = count + 1
    if ring[BEGIN] > index:
        ring[BEGIN] += 1
    if ring[END] > index:
        ring[END] += 1
    ring[FULL] |= ADDED
