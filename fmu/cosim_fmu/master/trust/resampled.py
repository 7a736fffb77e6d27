"""Samples of a coupling on an even grid."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cosim_fmu.master.trust.coupling_samples import Samples

Vector = NDArray[np.float64]


def resampled(samples: Samples, most: int) -> tuple[float, Vector, Vector, Vector]:
    """Outputs at the points of an even grid, and means of inputs and defects between them.

    Integrals are interpolated, so that a grid coarser than the exchanges loses nothing of them.

    Parameters
    ----------
    samples : Samples
    most : int
        Intervals of the grid; as many as there are samples, if these are fewer.

    Returns
    -------
    interval : float, s
    outputs : ndarray, shape (n + 1, outputs)
    inputs, defects : ndarray, shape (n, inputs)
    """
    from scipy.interpolate import CubicSpline

    times = samples.times
    count = min(most, times.size - 1)
    grid = np.linspace(times[0], times[-1], count + 1)
    interval = float(grid[1] - grid[0])
    if count == times.size - 1 and np.allclose(grid, times, rtol=0.0, atol=1e-9 * interval):
        found = samples.outputs, samples.inputs, samples.defects
    else:
        smooth = [CubicSpline(times, column)(grid) for column in (samples.outputs, samples.inputs)]
        straight = [np.interp(grid, times, column) for column in samples.defects.T]
        found = smooth[0], smooth[1], np.array(straight).reshape(-1, count + 1).T
    return interval, found[0], np.diff(found[1], axis=0) / interval, np.diff(found[2], axis=0) / interval
