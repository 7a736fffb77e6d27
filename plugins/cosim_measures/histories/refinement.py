"""Entries of a history between the ends of steps, as many as the signal needs.

They are added where the signal differs from the interpolated history. Like the ends of steps they are ends of
polynomial pieces; like the points inside a step they belong to it.
"""

from __future__ import annotations

import math

from cosim.kit import LOOKED, is_same
from cosim_measures.histories.lookup import SMALL, interpolate_history


def refine_history(past, t, side, tolerance, value, derivative, kind):
    """Append the end of a step (`side` 0), or insert a time inside it if the history is inexact there.

    With `side` -1/4 nothing is inserted: the history only reports whether an entry would be.

    Parameters
    ----------
    tolerance : float
        The allowed error of the history, relative to the values around, or to 1e-3 where they are smaller.
    kind : float
        The kind of interpolation.
    others
        As `append_to_history`.
    """
    if side == 0.0:
        past.append(t, side, math.inf, value, derivative)
        return
    if value - value != 0.0:
        past.report_no_value()
        return
    index = past.find(t)
    if index < 0 or index + 1 >= past.count or is_same(past.time(index), t) or past.is_full:
        return
    interpolated, _ = interpolate_history(past, t, t, False, 0.0, 0.0, kind, value)
    before = abs(past.value(index))
    after = abs(past.value(index + 1))
    if abs(interpolated - value) <= tolerance * max(max(before, after), max(abs(value), SMALL)):
        return
    if side != LOOKED:
        past.insert(index + 1, t, value, derivative)
    past.report_added()
