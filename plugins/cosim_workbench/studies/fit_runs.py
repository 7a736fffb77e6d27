"""The interface between a calibration and its runs; `ModelFitRuns` and `SubjectFitRuns` implement it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Sensitivities(NamedTuple):
    """Signals of one run at the measured times, and their derivatives by the fitted parameters.

    Attributes
    ----------
    signals : ndarray, shape (signals, times)
        NaN where the run has no value.
    derivatives : ndarray, shape (unknowns, signals, times)
        0 where the signal is NaN.
    """

    signals: NDArray[np.float64]
    derivatives: NDArray[np.float64]


class FitRuns(Protocol):
    """Makes the runs of a calibration; `prepare` comes before the first of them.

    Attributes
    ----------
    differences : str
        The reason why derivatives are taken as differences of runs; empty if they are exact.
    """

    differences: str

    @property
    def start_time(self) -> float:
        """The time at which runs begin, s."""

    def unit(self, path: str) -> str:
        """The unit of a signal or a fitted parameter; `CosimError` if there is none."""

    def check_unknown(self, path: str) -> None:
        """Refuse a path that cannot be fitted: a computed quantity, or several elements."""

    def start(self, path: str) -> float | None:
        """The start value of a fitted parameter; None if it is not known."""

    def prepare(self, signals: Sequence[str], times: Vector) -> None:
        """Set the signals and the times (s) at which each run is compared."""

    def run(self, values: Mapping[str, Vector], count: int) -> tuple[NDArray[np.float64], list[str]]:
        """Make `count` runs; the signals at the measured times, and for each run why it failed, or "".

        The signals have the shape (runs, signals, times); those of failed runs are NaN.

        Raises
        ------
        KeyboardInterrupt
            Ctrl-C; its `result` are the signals, NaN for runs that have not ended.
        """

    def differentiate(self, values: Mapping[str, float]) -> Sensitivities | None:
        """A run with its derivatives by these parameters; None if there are none: see `differences`."""

    def hold_processes(self) -> AbstractContextManager[Any]:
        """A context in which all runs share the same processes."""


def interpolate(times: Vector, series: NDArray[np.float64], new_times: Vector) -> NDArray[np.float64]:
    """Series at other times by monotone cubic pieces, shape (signals, new times); NaN if one has a NaN.

    Behind the last time they keep their last values.
    """
    from scipy.interpolate import PchipInterpolator

    if not np.isfinite(series).all():
        return np.full((len(series), len(new_times)), np.nan)
    values: NDArray[np.float64] = PchipInterpolator(times, series, axis=1)(np.minimum(new_times, times[-1]))
    return values
