"""Runs of a co-simulation, or of another subject, for a calibration: in processes of their own."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_ensembles.kit import Job, OwnProcesses, available_processors, run_in_chunks
from cosim_workbench.contracts import StudySubject
from cosim_workbench.studies.fit_runs import interpolate

Vector = NDArray[np.float64]


class SubjectFitRuns:
    """Makes the runs of a subject: see `FitRuns`. Its processes stay during a fit.

    Parameters
    ----------
    subject : StudySubject
    settings : mapping of str to object
        "threads": the number of processes; nothing else.
    """

    def __init__(self, subject: StudySubject, settings: Mapping[str, Any]) -> None:
        self.subject = subject
        self.differences = "runs of a co-simulation have no derivatives"
        for name in settings:
            if name != "threads":
                raise cosim.ModelError.of(
                    name, "belongs to the co-simulation, not to its calibration: set it in the scenario"
                )
        self._workers = settings.get("threads") or available_processors()
        self._pool: OwnProcesses | None = None

    @property
    def start_time(self) -> float:
        """The time at which runs begin, s."""
        return self.subject.start_time

    def unit(self, path: str) -> str:
        """The unit of a variable."""
        return self.subject.unit(path)

    def check_unknown(self, path: str) -> None:
        """Refuse an unknown path; a variable without a start value is refused by the first run."""
        self.subject.unit(path)

    def start(self, path: str) -> float | None:
        """The start value in the subject; None if it is not known."""
        return self.subject.start(path)

    def prepare(self, signals: Sequence[str], times: Vector) -> None:
        """Create the runner that measures these signals at these times."""
        self._shape = len(signals), len(times)
        self._runner = MeasuredRunner(self.subject, list(signals), times)

    def run(self, values: Mapping[str, Vector], count: int) -> tuple[NDArray[np.float64], list[str]]:
        """Make all runs at once, in the processes; see `FitRuns.run`."""
        outputs = np.full((count, *self._shape), np.nan)
        reasons = [""] * count

        def points_of(first: int, last: int) -> tuple[Any, ...]:
            return (
                [{path: float(column[i]) for path, column in values.items()} for i in range(first, last)],
            )

        def store(first: int, last: int, answers: list[tuple[Any, str]]) -> None:
            for i, (signals, reason) in enumerate(answers, start=first):
                reasons[i] = reason
                if signals is not None:
                    outputs[i] = signals

        def fail(run: int, reason: str) -> None:
            reasons[run] = reason

        with self.hold_processes() as pool:
            try:
                run_in_chunks(Job(self._runner, pool), count, points_of, store, fail, lambda: True, chunk=1)
            except KeyboardInterrupt as interrupt:
                interrupt.result = outputs  # type: ignore[attr-defined]
                raise
        return outputs, reasons

    def differentiate(self, values: Mapping[str, float]) -> None:
        """Return None: there are no derivatives."""

    @contextmanager
    def hold_processes(self) -> Iterator[OwnProcesses]:
        """A context in which all runs share the same processes: each reads and loads its files once."""
        if self._pool is not None:
            yield self._pool
            return
        with OwnProcesses(self._workers) as pool:
            self._pool = pool
            try:
                yield pool
            finally:
                self._pool = None


class MeasuredRunner:
    """Runs a subject in a process of its own, and returns its signals at the measured times.

    Parameters
    ----------
    subject : StudySubject
    signals : sequence of str
    times : ndarray, s
    """

    def __init__(self, subject: StudySubject, signals: Sequence[str], times: Vector) -> None:
        self._subject, self._signals, self._times = subject, signals, times

    def run_chunk(self, points: Sequence[Mapping[str, float]]) -> list[tuple[Any, str]]:
        """The signals of each point, None for a run that failed, and the reason."""
        return [self._measure(point) for point in points]

    def _measure(self, values: Mapping[str, float]) -> tuple[Any, str]:
        """The signals of one run at the measured times, None if it failed, and the reason."""
        try:
            result = self._subject.run(values, self._signals)
        except cosim.SimulationError as error:
            return None, error.reason
        except cosim.CosimError as error:
            return None, str(error)
        if result.time[-1] < self._times[-1] - 1e-9 * abs(self._times[-1]):
            return None, result.message or f"it ends at {result.time[-1]:g} s, before the measured values do"
        series = np.stack([np.asarray(result[name], dtype=np.float64) for name in self._signals])
        return interpolate(result.time, series, self._times), ""
