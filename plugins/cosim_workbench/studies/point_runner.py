"""What does the points of a study of a scenario, or of another subject, in the process of a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import cosim
from cosim_ensembles.kit import named_reduction
from cosim_workbench.contracts import StudySubject
from cosim_workbench.studies.objective import Functions, Reductions

Row = dict[str, Any]
"""Objectives, and how the run has ended."""


class PointRunner:
    """Runs a subject, point after point.

    Parameters
    ----------
    subject : StudySubject
    reductions : mapping
    functions : mapping
        Objectives of the whole result.
    signals : sequence of str
        What they read.
    """

    def __init__(
        self, subject: StudySubject, reductions: Reductions, functions: Functions, signals: Sequence[str]
    ) -> None:
        self.subject, self._signals = subject, signals
        self._reductions, self._functions = reductions, functions

    def why_not_beside(self) -> str:
        """As the subject says."""
        return self.subject.why_not_beside()

    def run_chunk(self, points: Sequence[Mapping[str, float]]) -> list[Row]:
        """The rows of some points."""
        return [self._row(point) for point in points]

    def _row(self, values: Mapping[str, float]) -> Row:
        try:
            result = self.subject.run(values, self._signals)
        except cosim.SimulationError as error:
            return failed_row(error.time, error.reason)
        except cosim.CosimError as error:
            return failed_row(np.nan, str(error))
        row: Row = {}
        for name, spec in self._reductions.items():
            function, paths = named_reduction(name, spec)
            columns = [np.ascontiguousarray(result[path], dtype=np.float64) for path in paths]
            row[name] = float(function(result.time, np.concatenate(columns)))
        for name, objective in self._functions.items():
            try:
                row[name] = float(objective(result))
            except Exception as error:
                return failed_row(result.time[-1], f"objective {name}: {type(error).__name__}: {error}")
        status = "terminated" if result.message else "ok"
        steps = int(result.statistics.get("steps", 0))
        how = {"status": status, "end": float(result.time[-1]), "steps": steps, "events": len(result.events)}
        return {**row, **how, "reason": result.message}


def failed_row(time: float, reason: str) -> Row:
    """Of a run that has failed."""
    return {"status": "failed", "end": float(time), "steps": 0, "events": 0, "reason": reason}
