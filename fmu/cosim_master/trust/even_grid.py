"""The samples of a run on an even grid."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.recording.coupling_samples import Samples

Vector = NDArray[np.float64]
SAME_GRID = 1e-9
"""Times this close to the grid, as a share of its interval, need no interpolation."""


class Resampled(NamedTuple):
    """Samples on an even grid of n intervals.

    Attributes
    ----------
    interval : float, s
    outputs : ndarray, shape (n + 1, outputs)
    inputs, defects : ndarray, shape (n, inputs)
        Means over the intervals.
    ends, end_defects : ndarray, shape (n + 1, inputs)
        The last values of the inputs before each point, and these less the outputs that feed them.
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


def resample(samples: Samples, sources: NDArray[np.intp], most_intervals: int) -> Resampled:
    """Outputs at the points of an even grid, and means of inputs and defects between them.

    The integrals are interpolated, so that the means stay exact on a grid coarser than the exchanges.

    Parameters
    ----------
    samples : Samples
    sources : ndarray of int, shape (inputs,)
        The output that feeds each input.
    most_intervals : int
        The number of intervals of the grid, or that of the samples if it is smaller.
    """
    times = samples.times
    count = min(most_intervals, times.size - 1)
    grid = np.linspace(times[0], times[-1], count + 1)
    interval = float(grid[1] - grid[0])
    end_defects = samples.ends - samples.outputs[:, sources]
    end_defects[0] = end_defects[1]  # before the first point no input has a value
    is_even = count == times.size - 1 and np.allclose(grid, times, rtol=0.0, atol=SAME_GRID * interval)
    if is_even:
        outputs, inputs, defects, teeth = samples.outputs, samples.inputs, samples.defects, samples.teeth
    else:
        from scipy.interpolate import CubicSpline

        outputs, inputs = (CubicSpline(times, column)(grid) for column in (samples.outputs, samples.inputs))
        defects, end_defects, teeth = (
            _interpolate_linearly(grid, times, columns)
            for columns in (samples.defects, end_defects, samples.teeth)
        )
    mean_inputs, mean_defects, mean_teeth = (
        np.diff(integral, axis=0) / interval for integral in (inputs, defects, teeth)
    )
    return Resampled(
        interval=interval,
        outputs=outputs,
        inputs=mean_inputs,
        defects=mean_defects,
        ends=outputs[:, sources] + end_defects,
        end_defects=end_defects,
        teeth=mean_teeth,
    )


def _interpolate_linearly(grid: Vector, times: Vector, columns: Vector) -> Vector:
    """Each column at the times of `grid`."""
    return np.array([np.interp(grid, times, column) for column in columns.T]).reshape(-1, grid.size).T
