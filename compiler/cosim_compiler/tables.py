"""Arrays of two axes, and arrays of a function's own: the compiler puts something else in their place."""

from __future__ import annotations

import numpy as np


def as_table(view, rows, columns):
    """The elements of a view as rows by columns; it shares their memory."""
    return view.reshape(rows, columns)


def in_lanes(view, lanes):
    """A view of reals as numbers for so many lanes, a real for each; machine code alone has lanes."""
    raise TypeError("only compiled code computes in lanes")


def out_of_lanes(view):
    """The reals of a view of numbers for each lane."""
    raise TypeError("only compiled code computes in lanes")


def zeros_in_lanes(shape, lanes):
    """As `zeros`, of numbers for so many lanes, or for as many as a number has."""
    raise TypeError("only compiled code computes in lanes")


def agreed(condition):
    """A condition that holds for each lane or for none; compiled code raises where lanes disagree."""
    raise TypeError("only compiled code computes in lanes")


def zeros(shape):
    """An array of zeros for the time of a call: of a length, or of (rows, columns)."""
    return np.zeros(shape)
