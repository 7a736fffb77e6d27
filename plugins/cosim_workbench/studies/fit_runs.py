"""Runs of a calibration: of a model as an ensemble, of a co-simulation in processes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import AbstractContextManager, contextmanager
from typing import Any, NamedTuple, Protocol

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_ensembles.kit import Job, OwnProcesses, available_processors, run_in_chunks
from cosim_workbench.contracts import StudySubject

Vector = NDArray[np.float64]
ACCURACY = 1e-9
"""The default accuracy of runs of models, whose differences have to be exact."""
ACCURACY_WITH_DERIVATIVES = 1e-8
"""The default accuracy of runs with derivatives, which are not differences of runs."""
INTEGRATOR_WITH_DERIVATIVES = "integrators.dormand_prince_853"
"""The default integrator of runs with derivatives: each step is repeated along each direction, and this
method needs a fifth of the steps of the usual one at this accuracy."""
FINE = 4
"""Points of the grid for each measured one, where these are not evenly spaced."""


class Sensitivities(NamedTuple):
    """Signals of one run at the measured times, and their derivatives.

    Attributes
    ----------
    signals : ndarray, shape (signals, times)
        As those of `FitRuns.run`.
    derivatives : ndarray, shape (unknowns, signals, times)
        0 where the signal is not a finite number.
    """

    signals: NDArray[np.float64]
    derivatives: NDArray[np.float64]


class FitRuns(Protocol):
    """The methods that a calibration needs of its runs.

    Attributes
    ----------
    start_time : float
        The start of the runs, s.
    differences : str
        Why derivatives are differences of runs; empty where they are exact.
    """

    differences: str

    @property
    def start_time(self) -> float:
        """The start of runs, s."""

    def unit(self, path: str) -> str:
        """The unit of a signal or a fitted parameter; `CosimError` if there is none."""

    def check_unknown(self, path: str) -> None:
        """Refuse to vary a computed quantity."""

    def start(self, path: str) -> float | None:
        """Start value of a fitted parameter; None where that is not known."""

    def prepare(self, signals: Sequence[str], times: Vector) -> None:
        """Receive the measured signals, and their times (s)."""

    def run(self, values: Mapping[str, Vector], count: int) -> tuple[NDArray[np.float64], list[str]]:
        """Signals at the measured times, shape (runs, signals, times), NaN of runs that failed, and why.

        Ctrl-C has those of the runs that have ended as its `result`.
        """

    def differentiate(self, values: Mapping[str, float]) -> Sensitivities | None:
        """A run with its derivatives by these variables; None if there are none."""

    def kept(self) -> Any:
        """A context in which what runs need stays."""


class ModelFitRuns:
    """The runs of a model."""

    def __init__(self, model: cosim.Model, settings: Mapping[str, Any]) -> None:
        self.system, self.differences = model.build(), ""
        self._state = self.system.default_state()
        unused = ("signals", "accuracy", "reduce")
        settings_of_model = {key: value for key, value in model.simulation.items() if key not in unused}
        self._given = settings
        self._settings = {**settings_of_model, "accuracy": ACCURACY, **settings}

    @property
    def start_time(self) -> float:
        """The time at which runs begin, s."""
        return float(self._state.time)

    def unit(self, path: str) -> str:
        """Refuse a computed signal, which cannot be varied."""
        signal = self.system.signal(path)
        if signal.slot.size != 1:
            raise cosim.ModelError.of(path, f"has several elements: name one, {path}[0]")
        return signal.units[0]

    def check_unknown(self, path: str) -> None:
        """Refuse to vary a computed quantity, or one with several elements."""
        if self.system.written_slot(path).size != 1:
            raise cosim.ModelError.of(path, f"has several elements: name one, {path}[0]")

    def start(self, path: str) -> float:
        """The model's own value."""
        return float(self._state[path])

    def prepare(self, signals: Sequence[str], times: Vector) -> None:
        """Choose output times: the measured ones if they are evenly spaced, else a finer grid."""
        self._times, self._signals = times, list(signals)
        interval = float(np.median(np.diff(times)))
        points = (times - self.start_time) / interval
        self._is_even = bool(np.abs(points - np.round(points)).max() < 1e-6)
        self._interval = interval if self._is_even else interval / FINE
        grid = {"until": float(times[-1]), "output_interval": self._interval}
        self._ensemble = cosim.Ensemble(self.system, signals=self._signals, **{**self._settings, **grid})
        of_ensembles = ("threads", "state")
        settings_of_run = {key: value for key, value in self._settings.items() if key not in of_ensembles}
        settings_of_run.setdefault("integrator", INTEGRATOR_WITH_DERIVATIVES)
        settings_of_run["accuracy"] = self._given.get("accuracy", ACCURACY_WITH_DERIVATIVES)
        self._run_settings = {**settings_of_run, **grid, "signals": self._signals}

    def run(self, values: Mapping[str, Vector], count: int) -> tuple[NDArray[np.float64], list[str]]:
        """Make all runs in one ensemble."""
        try:
            outcome = self._ensemble.run(values)
        except KeyboardInterrupt as interrupt:
            ended = getattr(interrupt, "result", None)
            interrupt.result = None if ended is None else self._measured(ended)  # type: ignore[attr-defined]
            raise
        reasons = [""] * count
        for failed in outcome.failures:
            reasons[failed.run] = failed.reason
        return self._measured(outcome), reasons

    def _measured(self, outcome: Any) -> NDArray[np.float64]:
        """The signals of an ensemble at the measured times, NaN of runs that have not ended."""
        series = np.stack([outcome[path] for path in self._signals], axis=1)
        if self._is_even:
            step = outcome.time[1] - outcome.time[0]
            at = np.round((self._times - outcome.time[0]) / step).astype(np.int64)
            signals = series[:, :, np.minimum(at, len(outcome.time) - 1)]
        else:
            signals = np.stack([interpolated(outcome.time, each, self._times) for each in series])
        signals[~outcome.is_done] = np.nan
        return signals

    def differentiate(self, values: Mapping[str, float]) -> Sensitivities | None:
        """Tangents go along the run; where a model or a run has none, that holds for all further runs."""
        if self.differences:
            return None
        state = self._settings.get("state", self._state).copy()
        for path, value in values.items():
            state[path] = value
        try:
            result = cosim.simulate(self.system, state=state, derivatives=list(values), **self._run_settings)
        except cosim.SimulationError:
            shape = len(self._signals), len(self._times)
            return Sensitivities(np.full(shape, np.nan), np.zeros((len(values), *shape)))
        except cosim.ModelError as error:
            self.differences = "; ".join(str(problem) for problem in error.problems)
            return None
        series = [[result[of] for of in self._signals]]
        series += [[result.derivative(of, by) for of in self._signals] for by in values]
        signals, *tangents = self._at_measured_times(result.time, np.array(series))
        derivatives = np.array(tangents)
        derivatives[:, ~np.isfinite(signals)] = 0.0
        if not np.isfinite(derivatives).all():
            self.differences = next(
                (
                    f"{finding.witness}: {finding.message}"
                    for finding in result.findings
                    if finding.kind == "no derivative"
                ),
                "a derivative along the run is infinite",
            )
            return None
        return Sensitivities(signals, derivatives)

    def _at_measured_times(self, times: Vector, series: NDArray[np.float64]) -> NDArray[np.float64]:
        """Groups of rows at the measured times, behind events, as in an ensemble; NaN behind the end."""
        slack = 1e-6 * self._interval
        grid = self._times
        if not self._is_even:
            points = round((self._times[-1] - self.start_time) / self._interval + 0.5)
            grid = np.minimum(self.start_time + self._interval * np.arange(points + 1), self._times[-1])
        places = np.searchsorted(times, grid + slack, side="right") - 1
        rows = np.where(np.abs(times[places] - grid) <= 2.0 * slack, series[..., places], np.nan)
        return rows if self._is_even else np.array([interpolated(grid, each, self._times) for each in rows])

    def kept(self) -> AbstractContextManager[Any]:
        """Hold the processes that parts in plain Python need."""
        return self._ensemble.kept_processes()


class SubjectFitRuns:
    """The runs of a co-simulation, or of another subject: in processes, which stay during a fit."""

    def __init__(self, subject: StudySubject, settings: Mapping[str, Any]) -> None:
        self.subject = subject
        self.differences = "runs of a co-simulation have no derivatives"
        for name in settings:
            if name != "threads":
                raise cosim.ModelError.of(name, "belongs to the co-simulation, not to its calibration")
        self._workers = settings.get("threads") or available_processors()
        self._pool: OwnProcesses | None = None

    @property
    def start_time(self) -> float:
        """The time at which runs begin, s."""
        return self.subject.start_time

    def unit(self, path: str) -> str:
        """The unit of a variable of a participant."""
        return self.subject.unit(path)

    def check_unknown(self, path: str) -> None:
        """Refuse a path that the scenario does not have; the first run refuses what takes no start value."""
        self.subject.unit(path)

    def start(self, path: str) -> float | None:
        """The start value that the co-simulation has."""
        return self.subject.start(path)

    def prepare(self, signals: Sequence[str], times: Vector) -> None:
        """Create the runner that measures the scenario's signals at these times."""
        self._shape = len(signals), len(times)
        self._runner = MeasuredRunner(self.subject, list(signals), times)

    def run(self, values: Mapping[str, Vector], count: int) -> tuple[NDArray[np.float64], list[str]]:
        """Make all runs at once, in the processes."""
        outputs = np.full((count, *self._shape), np.nan)
        reasons = [""] * count

        def given(first: int, last: int) -> tuple[Any, ...]:
            return ([{path: float(v[i]) for path, v in values.items()} for i in range(first, last)],)

        def take(first: int, last: int, answers: list[tuple[Any, str]]) -> None:
            for i, (signals, reason) in enumerate(answers, start=first):
                reasons[i] = reason
                if signals is not None:
                    outputs[i] = signals

        def fail(run: int, reason: str) -> None:
            reasons[run] = reason

        with self.kept() as pool:
            try:
                run_in_chunks(Job(self._runner, pool), count, given, take, fail, lambda: True, 1)
            except KeyboardInterrupt as interrupt:
                interrupt.result = outputs  # type: ignore[attr-defined]
                raise
        return outputs, reasons

    def differentiate(self, values: Mapping[str, float]) -> None:
        """Return None: there are no derivatives."""

    @contextmanager
    def kept(self) -> Iterator[OwnProcesses]:
        """Hold the processes, so that each of them reads and loads once."""
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
    """Runs a subject in the process of a worker; gives signals at the measured times.

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
        return [self._answer(point) for point in points]

    def _answer(self, values: Mapping[str, float]) -> tuple[Any, str]:
        try:
            result = self._subject.run(values, self._signals)
        except cosim.SimulationError as error:
            return None, error.reason
        except cosim.CosimError as error:
            return None, str(error)
        if result.time[-1] < self._times[-1] - 1e-9 * abs(self._times[-1]):
            return None, result.message or f"it ends at {result.time[-1]:g} s, before the measured values do"
        series = np.stack([np.asarray(result[name], dtype=np.float64) for name in self._signals])
        return interpolated(result.time, series, self._times), ""


def interpolated(times: Vector, series: NDArray[np.float64], new_times: Vector) -> NDArray[np.float64]:
    """Series at other times, by monotone cubic pieces; NaN where they have some: shape (signals, wanted)."""
    from scipy.interpolate import PchipInterpolator

    if not np.isfinite(series).all():
        return np.full((len(series), len(new_times)), np.nan)
    values: NDArray[np.float64] = PchipInterpolator(times, series, axis=1)(np.minimum(new_times, times[-1]))
    return values
