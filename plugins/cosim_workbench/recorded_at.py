"""The rows of a run that were recorded at given times."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Reals = NDArray[np.float64]
ONE_TIME = 1e-12
"""Times that differ by a smaller part of the latest time are equal: a step that ends at an output time, but
for rounding is recorded at its own time."""


def recorded_rows(times: Reals, wanted: Reals) -> tuple[NDArray[np.int64], NDArray[np.bool_]]:
    """The recorded row closest to each time, and whether its time is equal except for rounding.

    If several rows have that time it is the last one, after the events of that instant.

    Parameters
    ----------
    times : ndarray, shape (n,), s
        The times of the rows, in order.
    wanted : ndarray, shape (m,), s

    Returns
    -------
    (ndarray of int, ndarray of bool), each of shape (m,)
    """
    if not times.size:
        return np.zeros(wanted.shape, dtype=np.int64), np.zeros(wanted.shape, dtype=np.bool_)
    following = np.minimum(np.searchsorted(times, wanted, side="right"), times.size - 1)
    before = np.maximum(following - 1, 0)
    is_closer = np.abs(times[following] - wanted) < np.abs(times[before] - wanted)
    closest = times[np.where(is_closer, following, before)]
    rows = np.searchsorted(times, closest, side="right") - 1
    return rows, np.abs(closest - wanted) <= ONE_TIME * np.abs(times).max()
