"""Points of a study as runs of a scenario, or of another subject, in processes or threads."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import BrokenExecutor, Executor
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_ensembles.kit import (
    Job,
    OwnProcesses,
    OwnThreads,
    available_processors,
    named_reduction,
    run_in_chunks,
    unit_of_reduction,
)
from cosim_workbench.contracts import StudySubject
from cosim_workbench.studies.objective import read_objectives
from cosim_workbench.studies.point_runner import PointRunner, Row, failed_row
from cosim_workbench.studies.series_parts import SeriesParts
from cosim_workbench.studies.waiting_rows import WaitingRows
from cosim_workbench.wording import unknown

PLACES = ("processes", "threads")


class SubjectRuns:
    """Runs of a subject, one after the other in each process; a run that ends its process has failed.

    Parameters
    ----------
    subject : StudySubject
    objectives : sequence or mapping, optional
        As `read_objectives` takes them; the last values of what is recorded unless given.
    threads : int, optional
        Processes; as many as there are processors unless given.
    keeps_series : bool
        Whether values over time are recorded.
    run_in : str
        "processes", or "threads" of one process if the subject allows that. If that process ends, the runs
        that were under way are repeated one by one, so that the faulty one is found.

    Attributes
    ----------
    message : str
        Why runs go through processes although threads were requested; else "".
    """

    def __init__(
        self,
        subject: StudySubject,
        objectives: Any,
        threads: int | None = None,
        run_in: str = "processes",
        *,
        keeps_series: bool = False,
    ) -> None:
        if run_in not in PLACES:
            raise cosim.ModelError.of("run_in", unknown("place", run_in, PLACES))
        self.subject, self._run_in, self.message = subject, run_in, ""
        if objectives is None:
            objectives = [f"last({name})" for name in subject.signals()]
        reductions, functions = read_objectives(objectives)
        self.objectives = [*reductions, *functions]
        self.units: dict[str, str] = {}
        signals: list[str] = []
        for name, spec in reductions.items():
            _, paths = named_reduction(name, spec)
            for path in paths:
                self.units[name] = unit_of_reduction(spec, subject.unit(path))
            signals += paths
        paths_of_runs = list(dict.fromkeys(signals + (subject.signals() if functions else [])))
        series = subject.signals() if keeps_series else []
        self._runner = PointRunner(subject, reductions, functions, paths_of_runs, series)
        self.workers = threads or available_processors()

    def unit(self, path: str) -> str:
        """Unit of a variable that may be varied."""
        return self.subject.unit(path)

    def kept_processes(self) -> AbstractContextManager[Any]:
        """The processes of several calls of `run`, as their executor."""
        return OwnProcesses(self.workers)

    def description(self) -> dict[str, Any]:
        """The facts that determine results."""
        return self.subject.description()

    def run(
        self,
        values: Mapping[str, NDArray[np.float64]],
        count: int,
        executor: Executor | None,
        progress: Callable[[int, int], Any],
        keep: Callable[[NDArray[np.int64], dict[str, Any], dict[int, str]], None],
        parts: SeriesParts | None = None,
    ) -> None:
        """Do points in the processes of an executor; as `ModelRuns.run`."""
        if executor is not None:
            self._run_in_executor(values, count, executor, progress, keep, parts)
            return
        if self._run_in == "threads":
            with OwnThreads(self.workers) as threads:
                self.message = self._why_not_parallel(threads)
                if not self.message:
                    self._run_in_executor(values, count, threads, progress, keep, parts)
                    return
        with OwnProcesses(self.workers) as pool:
            self._run_in_executor(values, count, pool, progress, keep, parts)

    def _run_in_executor(
        self,
        values: Mapping[str, NDArray[np.float64]],
        count: int,
        executor: Executor,
        progress: Callable[[int, int], Any],
        keep: Callable[[NDArray[np.int64], dict[str, Any], dict[int, str]], None],
        parts: SeriesParts | None,
    ) -> None:
        # in processes of our own each point is sent alone, so the one that ends its process is known
        chunk = 1 if isinstance(executor, (OwnProcesses, OwnThreads)) else None
        points_ended = 0
        waiting = WaitingRows(self.objectives, keep, parts)

        def arguments_of(first: int, last: int) -> tuple[Any, ...]:
            return ([{path: float(v[i]) for path, v in values.items()} for i in range(first, last)],)

        def add_rows(first: int, last: int, rows: list[Row]) -> None:
            nonlocal points_ended
            points_ended += len(rows)
            waiting.add(first, rows)

        def fail(run: int, reason: str) -> None:
            add_rows(run, run + 1, [failed_row(np.nan, reason)])

        def goes_on() -> bool:
            return progress(points_ended, count) is not False

        try:
            run_in_chunks(Job(self._runner, executor), count, arguments_of, add_rows, fail, goes_on, chunk)
        finally:
            waiting.pass_on()

    def _why_not_parallel(self, threads: OwnThreads) -> str:
        try:
            reason = threads.submit(self._runner.why_not_parallel).result()
        except (BrokenExecutor, cosim.CosimError) as error:
            reason = str(error)
        return f"runs go through processes: {reason}" if reason else ""
