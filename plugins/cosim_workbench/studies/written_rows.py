"""The rows of a study, written to its folder every few seconds while its points end."""

from __future__ import annotations

import time as wall
from collections.abc import Sequence
from typing import Any

from cosim_workbench.studies.study_folder import StudyFolder

FAILED = "failed"
PART_TIME, SHARE = 1.0, 0.02
"""Rows are written after this time (s), or after this part of the study's time: a kill loses no more."""


class WrittenRows:
    """Collects rows, and writes them from time to time.

    Parameters
    ----------
    folder : StudyFolder
    names : sequence of str
        The names of the columns, "status" among them.
    rows_done : dict of int to list of str
        Rows by the number of their point; written rows are added.
    """

    def __init__(self, folder: StudyFolder, names: Sequence[str], rows_done: dict[int, list[str]]) -> None:
        self._folder, self._names, self._rows_done = folder, names, rows_done
        self._status = names.index("status")
        self._waiting: list[list[Any]] = []
        self._start = self._written = self._latest = wall.perf_counter()
        self.failed = sum(row[self._status] == FAILED for row in rows_done.values())

    def seconds_since_last(self) -> float:
        """The time since the last call, or since the beginning, s."""
        now = wall.perf_counter()
        seconds, self._latest = now - self._latest, now
        return seconds

    def add(self, rows: list[list[Any]]) -> None:
        """Add rows of points that have ended."""
        self.failed += sum(row[self._status] == FAILED for row in rows)
        self._waiting += rows
        if self._latest - self._written > max(PART_TIME, SHARE * (self._latest - self._start)):
            self.write()

    def write(self) -> None:
        """Write all rows that wait."""
        self._folder.add(self._names, self._waiting)
        self._rows_done.update({int(row[0]): [str(value) for value in row] for row in self._waiting})
        self._waiting.clear()
        self._written = wall.perf_counter()
