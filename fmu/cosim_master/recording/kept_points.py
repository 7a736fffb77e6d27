"""The choice of communication points that a result shows."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

ROUNDING = 1e-9
"""A time that is closer than this part of a step to a communication point is that point."""


class KeptPoints(NamedTuple):
    """The choice of one communication point in each group of several.

    Rows between communication points, both rows of a jump, and the end are always kept.

    Attributes
    ----------
    start, step : float
        The start and the step of the communication points, s.
    group : int
        The number of points of which one is kept.

    Examples
    --------
    >>> KeptPoints(0.0, 0.5, 2).of(np.array([0.0, 0.5, 0.75, 1.0, 1.5]), ends=True).tolist()
    [True, False, True, True, True]
    """

    start: float
    step: float
    group: int

    def of(self, times: NDArray[np.float64], *, ends: bool) -> NDArray[np.bool_]:
        """Whether each row is kept.

        Parameters
        ----------
        times : ndarray, s
            The times of rows, in order.
        ends : bool
            Whether the last row is the end of the run.
        """
        number = np.rint((times - self.start) / self.step)
        is_point = np.abs(times - (self.start + number * self.step)) <= ROUNDING * self.step
        is_kept: NDArray[np.bool_] = ~is_point | (np.mod(number, self.group) == 0.0)
        jumps = np.diff(times) == 0.0
        is_kept[:-1] |= jumps
        is_kept[1:] |= jumps
        if ends:
            is_kept[-1:] = True
        return is_kept
