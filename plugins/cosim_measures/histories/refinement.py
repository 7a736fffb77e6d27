"""What is remembered between the ends of steps, as far as the signal asks for it.

Points of a step at which a signal is not where the history would say it is. They are ends of pieces of
the polynomials like the ends of steps, and belong to the step like the points inside it.
"""

from __future__ import annotations

import math

from cosim.kit import append_to_history, entry_time, history_buffer
from cosim_measures.histories.lookup import SMALL, interpolate_history

find, entry_offset, write_entry = history_buffer.find, history_buffer.entry_offset, history_buffer.write_entry
CAPACITY, COUNT, FULL = history_buffer.CAPACITY, history_buffer.COUNT, history_buffer.FULL
BEGIN, END = history_buffer.BEGIN, history_buffer.END
VALUE, WIDTH = history_buffer.VALUE, history_buffer.WIDTH
REFINED, LOOKED = history_buffer.REFINED, history_buffer.LOOKED
ADDED, NO_VALUE = history_buffer.ADDED, history_buffer.NO_VALUE


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
