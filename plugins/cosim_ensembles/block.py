"""The results of some runs of an ensemble, as arrays."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import numpy as np

from cosim.kit import FailedRun

NOT_RUN = -1
"""The code of a run that was not done."""


class Block:
    """Arrays for consecutive runs; threads write into them, each into the rows of its runs.

    Parameters
    ----------
    runs : int
    points, columns, reductions : int
    keeps_series : bool
        Whether values over time are kept.

    Attributes
    ----------
    series : ndarray, shape (runs, points, columns), or None
        Values over time; NaN at points that a run has not reached.
    final : ndarray, shape (runs, columns)
        Values at the end of each run; NaN where it failed.
    reduced : ndarray, shape (runs, reductions)
        The reductions of each run; NaN where it failed.
    codes : ndarray of int64, shape (runs,)
        How each run ended: one of `cosim.step.failures`, or `NOT_RUN`.
    ends : ndarray, shape (runs,), s
        The times at which the runs ended.
    counts : ndarray of int64, shape (runs, 2)
        Steps and events.
    failures : dict of int to FailedRun
        By row.
    parts : dict of int to str
        By first row, the names of files that have the values over time where they are not kept here.
    """

    def __init__(self, runs: int, points: int, columns: int, reductions: int, keeps_series: bool) -> None:
        self.runs = runs
        self.series: Any = np.full((runs, points, columns), np.nan) if keeps_series else None
        self.final = np.full((runs, columns), np.nan)
        self.reduced = np.full((runs, reductions), np.nan)
        self.codes = np.full(runs, NOT_RUN, dtype=np.int64)
        self.ends = np.full(runs, np.nan)
        self.counts = np.zeros((runs, 2), dtype=np.int64)
        self.failures: dict[int, FailedRun] = {}
        self.parts: dict[int, str] = {}

    @property
    def ended(self) -> int:
        """The number of runs that have ended."""
        return int((self.codes >= 0).sum())

    @classmethod
    def of(cls, fields: Mapping[str, Any]) -> Block:
        """The block that was given as `vars`."""
        block = cls(0, 0, 0, 0, False)
        vars(block).update(fields)
        return block

    def store(self, first: int, last: int, fields: Mapping[str, Any]) -> None:
        """Copy rows `first` … `last` - 1 from a block of their own, given as `vars`."""
        for name in ("series", "final", "reduced", "codes", "ends", "counts"):
            if getattr(self, name) is not None:
                getattr(self, name)[first:last] = fields[name]
        for run, failed in fields["failures"].items():
            self.failures[first + run] = replace(failed, run=first + run)
        self.parts |= {first + run: name for run, name in fields["parts"].items()}
