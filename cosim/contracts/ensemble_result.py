"""The results of the runs of an ensemble."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Sequence
from os import PathLike
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.attributes import FixedAttributes
from cosim.contracts.failed_run import FailedRun


class EnsembleResult(FixedAttributes):
    """Arrays over runs; made by `Ensemble.run`.

    Attributes
    ----------
    time : ndarray, shape (times,), s
        The common grid.
    inputs : dict of str to ndarray
        What differed, in SI.
    units : dict of str to str
        Of reductions and recorded signals.
    ends : ndarray, shape (runs,), s
        Where each run ended.
    steps, events : ndarray of int64, shape (runs,)
    failures : list of FailedRun
        In order of the runs.
    message : str
        Why the ensemble ended before its end, or was not run in threads; empty where neither.
    parts : dict of int to str
        By the first run in it, the names of the files with values over time, where these are not kept here.
    """

    time: NDArray[np.float64]
    inputs: dict[str, NDArray[np.float64]]
    units: dict[str, str]
    ends: NDArray[np.float64]
    steps: NDArray[np.int64]
    events: NDArray[np.int64]
    failures: list[FailedRun]
    message: str
    parts: dict[int, str]

    @abstractmethod
    def __len__(self) -> int:
        """The number of runs."""

    @property
    @abstractmethod
    def names(self) -> list[str]:
        """Reductions and recorded signals."""

    @property
    @abstractmethod
    def signals(self) -> list[str]:
        """Paths of what was recorded over time; empty where reductions were kept alone."""

    @property
    @abstractmethod
    def is_done(self) -> NDArray[np.bool_]:
        """Whether each run has reached its end, shape (runs,)."""

    @property
    @abstractmethod
    def status(self) -> NDArray[np.str_]:
        """The outcome of each run: "ok", "terminated" (a handler asked to stop), "failed", "not run"."""

    @property
    @abstractmethod
    def values(self) -> NDArray[np.float64]:
        """All recorded numbers, shape (runs, times, columns); NaN where a run has not got."""

    @abstractmethod
    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """A reduction, shape (runs,); a signal, (runs, times) or (runs, times, size); an input, (runs, …).

        Raises
        ------
        LookUpError
            With the nearest name.
        """

    @abstractmethod
    def last(self, name: str) -> NDArray[np.float64]:
        """A signal at the end of each run, shape (runs,) or (runs, size); NaN where a run failed."""

    @abstractmethod
    def quantiles(self, name: str, shares: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> NDArray[Any]:
        """Quantiles over the runs that have reached their end, linear between two of them.

        Of values over time that are in files, those at some times are read for all runs, then those at the
        next ones: at most 128 MB at once, or what all runs have at one time.

        Returns
        -------
        ndarray, shape (shares,) of a reduction, (shares, times, …) of a signal
        """

    @abstractmethod
    def run(self, number: int) -> Any:
        """One run as a `Result`, up to where it got."""

    @abstractmethod
    def table(self) -> dict[str, NDArray[Any]]:
        """A column for each input, each reduction (or last value), and how each run ended.

        ``pandas.DataFrame(result.table())`` makes a table of it.
        """

    @abstractmethod
    def plot(self, *names: str, path: str | PathLike[str] | None = None) -> Any:
        """Draw signals over time as fan charts: the median of all runs, and bands of quantiles.

        Parameters
        ----------
        *names : str
            Signals; the first ones that move unless given.
        path : path_like, optional
            Where to write the picture; without it the figure is returned.
        """
