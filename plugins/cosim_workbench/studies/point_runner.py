"""Makes the points of a study of a scenario, or of another subject, in the process of a worker."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from time import perf_counter
from typing import Any

import numpy as np

import cosim
from cosim_ensembles.kit import named_reduction
from cosim_workbench.contracts import StudySubject
from cosim_workbench.studies.model_runs import OUTCOMES
from cosim_workbench.studies.objective import Functions, Reductions

Row = dict[str, Any]
"""The objectives, the outcome of the run, and its values over time if they are stored."""
VALUES = "values over time"
SECONDS = "seconds"
"""Wall-clock time of the run."""


class PointRunner:
    """Runs a subject, point after point.

    Parameters
    ----------
    subject : StudySubject
    reductions : mapping
    functions : mapping
        Objectives of the whole result.
    signals : sequence of str
        The signals that these objectives read.
    series : sequence of str
        The signals whose values over time belong to a row, too.
    """

    def __init__(
        self,
        subject: StudySubject,
        reductions: Reductions,
        functions: Functions,
        signals: Sequence[str],
        series: Sequence[str] = (),
    ) -> None:
        self.subject, self._series = subject, series
        self._signals = list(dict.fromkeys([*signals, *series]))
        self._reductions, self._functions = reductions, functions

    def why_not_parallel(self) -> str:
        """Why points cannot run in parallel, as the subject says; empty if they can."""
        return self.subject.why_not_parallel()

    def run_chunk(self, points: Sequence[Mapping[str, float]]) -> list[Row]:
        """The rows of some points."""
        return [self._timed_row(point) for point in points]

    def _timed_row(self, point: Mapping[str, float]) -> Row:
        start = perf_counter()
        row = self._row(point)
        return {**row, SECONDS: perf_counter() - start}

    def _row(self, point: Mapping[str, float]) -> Row:
        try:
            result = self.subject.run(point, self._signals)
        except cosim.SimulationError as error:
            return failed_row(error.time, error.reason)
        except cosim.CosimError as error:
            return failed_row(np.nan, str(error))
        row: Row = {}
        for name, spec in self._reductions.items():
            function, paths = named_reduction(name, spec)
            signals = [np.ascontiguousarray(result[path], dtype=np.float64) for path in paths]
            row[name] = float(function(result.time, np.concatenate(signals)))
        for name, objective in self._functions.items():
            try:
                row[name] = float(objective(result))
            except Exception as error:
                return failed_row(result.time[-1], f"objective {name}: {type(error).__name__}: {error}")
        if self._series:
            series = self.subject.kept(result)
            columns = {name: series[name] for name in self._series}
            row[VALUES] = cosim.Result(series.time, columns, {name: series.unit(name) for name in columns})
        return row | outcome_row(
            status="terminated" if result.message else "ok",
            end=float(result.time[-1]),
            steps=int(result.statistics.get("steps", 0)),
            events=len(result.events),
            reason=result.message,
        )


def outcome_row(*, status: str, end: float, steps: int, events: int, reason: str) -> Row:
    """The part of a row that says how the run ended, with the keys `OUTCOMES`."""
    return dict(zip(OUTCOMES, (status, end, steps, events, reason), strict=True))


def failed_row(time: float, reason: str) -> Row:
    """The row of a run that has failed."""
    outcome = outcome_row(status="failed", end=float(time), steps=0, events=0, reason=reason)
    return {**outcome, SECONDS: np.nan}
