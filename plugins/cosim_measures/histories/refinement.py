"""Entries of a history between the ends of steps, as many as the signal needs.

Points of a step at which a signal is not where the history would say it is. They are ends of pieces of
the polynomials like the ends of steps, and belong to the step like the points inside it.
"""

from __future__ import annotations

import math

from cosim.kit import LOOKED, MOVED, ORDINARY, is_same
from cosim_measures.histories.lookup import interpolate_history

MARGIN = 16.0  # what a few evaluations show of a floor is less than the whole


def refine_history(past, t, side, tolerance, value, derivative, kind):
    """Append the end of a step (`side` 0), or add a time inside it where the history is not good there.

    With `side` -1/4 it is only said whether one would be added, without the derivative; with -1/8 the
    floor is measured, at the end of the step.

    Parameters
    ----------
    tolerance : float
        How far the history may be off, relative to the values around; where they are below 1e-3, to the
        largest value so far, but to no more than 1e-3.
    kind : float
        Of the interpolation.
    others
        As `append_to_history`.
    """
    if side == 0.0:
        past.append(t, side, math.inf, value, derivative)
        return
    if side == MOVED:
        past.raise_floor(MARGIN * abs(value - past.value(past.count - 1)))
        return
    if value - value != 0.0:
        past.report_no_value()
        return
    index = past.find(t)
    if index < 0 or index + 1 >= past.count or is_same(past.time(index), t) or past.is_full:
        return
    interpolated, _ = interpolate_history(past, t, t, False, 0.0, 0.0, kind, value)
    difference = abs(interpolated - value)
    size = max(max(abs(past.value(index)), abs(past.value(index + 1))), abs(value))
    if difference <= tolerance * max(size, ORDINARY) and past.error_of_small(difference, size) <= tolerance:
        return
    if side != LOOKED:
        past.insert(index + 1, t, value, derivative)
    past.report_added()
