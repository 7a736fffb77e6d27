"""Samples of a coupling on an even grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.samples.coupling_samples import Samples

Vector = NDArray[np.float64]


class Resampled(NamedTuple):
    """A course on an even grid of n intervals.

    Attributes
    ----------
    interval : float, s
    outputs : ndarray, shape (n + 1, outputs)
    inputs, defects : ndarray, shape (n, inputs)
        Means over the intervals.
    ends, end_defects : ndarray, shape (n + 1, inputs)
        What inputs were given last before each point, and by how much it missed their outputs there.
    teeth : ndarray, shape (n, inputs)
        Means of the defects' first moments over the intervals.
    """

    interval: float
    outputs: Vector
    inputs: Vector
    defects: Vector
    ends: Vector
    end_defects: Vector
    teeth: Vector


def resampled(samples: Samples, sources: NDArray[np.intp], most: int) -> Resampled:
    """Outputs at the points of an even grid, and means of inputs and defects between them.

    Integrals are interpolated, so that a grid coarser than the exchanges loses nothing of them.

    Parameters
    ----------
    samples : Samples
    sources : ndarray of int, shape (inputs,)
        The output that each input stands for.
    most : int
        Intervals of the grid; as many as there are samples, if these are fewer.
    """
    times = samples.times
    count = min(most, times.size - 1)
    grid = np.linspace(times[0], times[-1], count + 1)
    interval = float(grid[1] - grid[0])
    missed = samples.ends - samples.outputs[:, sources]
    missed[0] = missed[1]  # nothing was given before the first
    if count == times.size - 1 and np.allclose(grid, times, rtol=0.0, atol=1e-9 * interval):
        outputs, inputs, defects, teeth = samples.outputs, samples.inputs, samples.defects, samples.teeth
    else:
        from scipy.interpolate import CubicSpline

        outputs, inputs = (CubicSpline(times, column)(grid) for column in (samples.outputs, samples.inputs))
        straight = [
            np.array([np.interp(grid, times, column) for column in columns.T]).reshape(-1, count + 1).T
            for columns in (samples.defects, missed, samples.teeth)
        ]
        defects, missed, teeth = straight
    means, mean_defects, mean_teeth = (
        np.diff(integral, axis=0) / interval for integral in (inputs, defects, teeth)
    )
    ends = outputs[:, sources] + missed
    return Resampled(interval, outputs, means, mean_defects, ends, missed, mean_teeth)
