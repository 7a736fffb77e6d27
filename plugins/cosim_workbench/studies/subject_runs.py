"""Points of a study as runs of a scenario, or of another subject, in processes."""

from __future__ import annotations

import multiprocessing
import os
import signal
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import BrokenExecutor, Executor, ProcessPoolExecutor, as_completed
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import StudySubject, end_with_parent, named_reduction
from cosim_workbench.studies.objective import read_objectives

LOST = "its process ended without an answer"


class SubjectRuns:
    """Runs of a subject, one after the other in each process; a run that ends its process has failed.

    Parameters
    ----------
    subject : StudySubject
    objectives : sequence or mapping, optional
        As `read_objectives` takes them; the last values of what is recorded unless given.
    threads : int, optional
        Processes; as many as there are processors unless given.
    """

    def __init__(self, subject: StudySubject, objectives: Any, threads: int | None = None) -> None:
        self.subject = subject
        if objectives is None:
            objectives = [f"last({name})" for name in subject.signals()]
        self._reductions, self._of_results = read_objectives(objectives)
        self.objectives = [*self._reductions, *self._of_results]
        self.units: dict[str, str] = {}
        signals: list[str] = []
        for name, spec in self._reductions.items():
            _, paths = named_reduction(name, spec)
            for path in paths:
                unit = subject.unit(path)
                if isinstance(spec, str) and "integral" not in spec:
                    self.units[name] = unit
            signals += paths
        self._signals = list(dict.fromkeys(signals + (subject.signals() if self._of_results else [])))
        self.workers = threads or len(os.sched_getaffinity(0))
        self.numbers_of_a_run = 0

    def unit(self, path: str) -> str:
        """Unit of a variable that may be varied."""
        return self.subject.unit(path)

    def description(self) -> dict[str, Any]:
        """What makes results the same."""
        return self.subject.description()

    def run(
        self,
        values: Mapping[str, NDArray[np.float64]],
        count: int,
        executor: Executor | None,
        progress: Callable[[int, int], Any],
    ) -> tuple[dict[str, Any], Any, BaseException | None]:
        """Objectives and outcomes of points, nothing over time, and what ended it early."""
        points = [{path: float(column[i]) for path, column in values.items()} for i in range(count)]
        rows: dict[int, dict[str, Any]] = {}
        ended: BaseException | None = None
        try:
            self._do(points, rows, executor, progress)
        except (KeyboardInterrupt, cosim.CosimError) as error:
            error.result = rows  # type: ignore[union-attr]
            ended = error
        empty = {"status": "not run", "end": np.nan, "steps": 0, "events": 0, "reason": ""}
        listed = [rows.get(i, empty) for i in range(count)]
        names = (*self.objectives, *empty)
        return {name: [row.get(name, np.nan) for row in listed] for name in names}, None, ended

    def _do(
        self,
        points: Sequence[Mapping[str, float]],
        rows: dict[int, dict[str, Any]],
        executor: Executor | None,
        progress: Callable[[int, int], Any],
    ) -> None:
        """Every point; those whose process is lost once more, each in one of its own."""
        own = executor is None
        pool: Executor = _processes(self.workers) if executor is None else executor
        try:
            futures = {pool.submit(self.point, point): i for i, point in enumerate(points)}
            for future in as_completed(futures):
                try:
                    rows[futures[future]] = future.result()
                except Exception as error:
                    if not own:
                        raise cosim.CosimError(f"the executor takes no more work: {error}") from error
                    if not isinstance(error, BrokenExecutor):
                        raise
                progress(len(rows), len(points))
        finally:
            if own:
                pool.shutdown(cancel_futures=True)
        for i, point in enumerate(points):
            if i not in rows:
                with _processes(1) as alone:
                    try:
                        rows[i] = alone.submit(self.point, point).result()
                    except BrokenExecutor:
                        rows[i] = _failed(np.nan, LOST)
                progress(len(rows), len(points))

    def point(self, values: Mapping[str, float]) -> dict[str, Any]:
        """One point, in whatever process this is called."""
        try:
            result = self.subject.run(values, self._signals)
        except cosim.SimulationError as error:
            return _failed(error.time, error.reason)
        except cosim.CosimError as error:
            return _failed(np.nan, str(error))
        row: dict[str, Any] = {}
        for name, spec in self._reductions.items():
            function, paths = named_reduction(name, spec)
            columns = [np.ascontiguousarray(result[path], dtype=np.float64) for path in paths]
            row[name] = float(function(result.time, np.concatenate(columns)))
        for name, objective in self._of_results.items():
            try:
                row[name] = float(objective(result))
            except Exception as error:
                return _failed(result.time[-1], f"objective {name}: {type(error).__name__}: {error}")
        status = "terminated" if result.message else "ok"
        steps = int(result.statistics.get("steps", 0))
        how = {"status": status, "end": float(result.time[-1]), "steps": steps, "events": len(result.events)}
        return {**row, **how, "reason": result.message}


def _failed(time: float, reason: str) -> dict[str, Any]:
    return {"status": "failed", "end": float(time), "steps": 0, "events": 0, "reason": reason}


def _processes(count: int) -> ProcessPoolExecutor:
    context = multiprocessing.get_context("spawn")
    return ProcessPoolExecutor(count, context, _begin, (os.getpid(),))


def _begin(parent: int) -> None:
    """In a new process: Ctrl-C is for the one that asks, and it ends with that one."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    end_with_parent(parent)
