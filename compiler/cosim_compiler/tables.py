"""Arrays of two axes, and arrays of a function's own: the compiler puts something else in their place."""

from __future__ import annotations

import numpy as np


def as_table(view, rows, columns):
    """The elements of a view as rows by columns; it shares their memory."""
    return view.reshape(rows, columns)


def zeros(shape):
    """An array of zeros for the time of a call: of a length, or of (rows, columns)."""
    return np.zeros(shape)
