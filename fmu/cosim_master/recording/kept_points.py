"""The choice of communication points that a result shows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

SAME = 1e-9
"""A time that is closer than this part of a step to a communication point is that point."""


class KeptPoints(NamedTuple):
    """The choice of one communication point in each group of several.

    Rows between communication points, both rows of a jump, and the end are kept in any case.

    Attributes
    ----------
    start, step : float
        The start and the step of the communication points, s.
    every : int

    Examples
    --------
    >>> KeptPoints(0.0, 0.5, 2).of(np.array([0.0, 0.5, 0.75, 1.0, 1.5]), ends=True).tolist()
    [True, False, True, True, True]
    """

    start: float
    step: float
    every: int

    def of(self, times: NDArray[np.float64], *, ends: bool) -> NDArray[np.bool_]:
        """Whether each of these rows is kept; with `ends` the last one is that of the end of the run.

        Parameters
        ----------
        times : ndarray, s
            The times of rows, in order.
        ends : bool
        """
        number = np.rint((times - self.start) / self.step)
        is_point = np.abs(times - (self.start + number * self.step)) <= SAME * self.step
        is_kept: NDArray[np.bool_] = ~is_point | (np.mod(number, self.every) == 0.0)
        jumps = np.diff(times) == 0.0
        is_kept[:-1] |= jumps
        is_kept[1:] |= jumps
        if ends:
            is_kept[-1:] = True
        return is_kept
