"""Calibration: parameters of a model or co-simulation that fit measured signals."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from os import PathLike
from pathlib import Path
from types import MappingProxyType
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import FixedAttributes
from cosim_workbench.contracts import StudySubject
from cosim_workbench.studies.fit import INTERRUPTED, Fit
from cosim_workbench.studies.fit_runs import FitRuns, Sensitivities
from cosim_workbench.studies.measured_signals import (
    measured_signal,
    measured_times,
    noise_deviations,
    spread_of,
)
from cosim_workbench.studies.model_fit_runs import ModelFitRuns
from cosim_workbench.studies.squares import Limits, minimize_squares
from cosim_workbench.studies.studied import studied
from cosim_workbench.studies.subject_fit_runs import SubjectFitRuns
from cosim_workbench.studies.variation import read_variation

Vector = NDArray[np.float64]
STEP = 1e-4
"""The increment of finite differences, relative to a parameter."""
SMALL = 1e-3
"""The least magnitude of a parameter, relative to its range."""
WEIGHTS, SOLUTION = 1e-6, 1e-10
"""The relative decrease of the sum of squares at which a search ends: of the search that estimates the noise,
and of the last one. Smaller decreases would be lost in the errors of the runs."""
LOST = 1e3
"""Residual of a run that has failed, in deviations."""
LARGEST = 1e100
"""Residual in place of infinite ones, so that sums of squares stay finite."""


@dataclass(frozen=True)
class Unknown:
    """An unknown parameter: bounds, start and scale, in SI."""

    path: str
    low: float
    high: float
    start: float
    scale: float


class _LastRun(NamedTuple):
    """The last run with derivatives, and the values of the unknowns."""

    values: Vector
    run: Sensitivities


class _BestPoint(NamedTuple):
    """The values of the unknowns with the least residuals so far, and the signals of that run."""

    values: Vector
    signals: NDArray[np.float64]


class Calibration(FixedAttributes):
    """Least squares between measured signals and those of a model or co-simulation.

    Residuals are differences at the measured times, divided by the deviation of the noise of each signal.
    Their derivatives are exact, along one run, where the model admits it; else they are central differences,
    run as an ensemble, or in processes.

    Parameters
    ----------
    model : Model, path or CoSimulation
        A model; a scenario file, an SSP, a co-simulation.
    unknowns : mapping of str to str or (low, high)
        Paths of parameters or start values, each with its range: ``{"car.stiffness": "10 kN/m..40 kN/m"}``.
        The search begins at the model's value, or in the middle of the range if that is outside.
    measured : path_like or Result
        A CSV of any tool with a column ``time``, or another file that `cosim.read_result` reads.
    signals : mapping of str to str, or sequence of str
        Paths of the model with the columns that were measured; where they have one name a list will do.
        Units of columns are converted where the file has some.
    noise : mapping of str to str or float, optional
        Standard deviation of the noise of signals, in their units. Unless given it is estimated from what
        remains.
    **settings
        As for `cosim.Ensemble`: ``integrator``, ``accuracy`` (1e-8 with exact derivatives, else 1e-9) …; of a
        co-simulation ``threads`` (the number of processes), ``inputs`` and ``variant``.

    Raises
    ------
    ModelError
        All faults: no such variable, signal or column; a range that is none; times that decrease; too few.
    """

    def __init__(
        self,
        model: Any,
        unknowns: Mapping[str, Any],
        measured: str | PathLike[str] | cosim.Result,
        signals: Mapping[str, str] | Sequence[str],
        noise: Mapping[str, Any] | None = None,
        **settings: Any,
    ) -> None:
        data = measured if isinstance(measured, cosim.Result) else cosim.read_result(Path(measured))
        self.model, self.runs_of = model, _runs_of(model, data, settings)
        pairs = dict(signals) if isinstance(signals, Mapping) else {name: name for name in signals}
        if not unknowns or not pairs:
            raise cosim.ModelError.of("calibration", "needs a parameter and a signal at least")
        self.unknowns: tuple[Unknown, ...] = ()
        self._measured: dict[str, Vector] = {}
        self._units: dict[str, str] = {}
        self._read(unknowns, pairs, data)
        if len(self.times) * len(pairs) <= len(self.unknowns):
            raise cosim.ModelError.of(
                "measured", f"{len(self.times)} points are too few for {len(self.unknowns)} parameters"
            )
        self._noise = noise_deviations(noise or {}, self._units)
        self._deviations = self._first_deviations()
        self._check_times()
        self.runs_of.prepare(list(pairs), self.times)
        self._runs = 0
        self._last: _LastRun | None = None
        self._best: _BestPoint | None = None

    def _read(self, unknowns: Mapping[str, Any], pairs: Mapping[str, str], data: cosim.Result) -> None:
        """Parameters, signals by their columns, and times; all their faults are reported together."""
        faults: list[cosim.Problem] = []
        for path, value in unknowns.items():
            with _gathered(faults):
                self.unknowns += (self._unknown(path, value),)
        for path, column in pairs.items():
            with _gathered(faults):
                self._units[path] = unit = self.runs_of.unit(path)
                self._measured[path] = measured_signal(data, column, unit)
        with _gathered(faults):
            self.times = measured_times(data)
        if faults:
            raise cosim.ModelError(faults)

    def _check_times(self) -> None:
        """Refuse data from before the start of runs, or only from their start."""
        start = self.runs_of.start_time
        if self.times[0] < start or not self.times[-1] > start:
            text = f"times are from {self.times[0]} s on, needs {start} s and later"
            raise cosim.ModelError.of("measured", text)

    def _first_deviations(self) -> dict[str, float]:
        """The deviations of the noise, or those with which a search for them begins."""
        return {path: self.noise.get(path) or spread_of(v) for path, v in self.measured.items()}

    @property
    def measured(self) -> Mapping[str, Vector]:
        """The measured values, by signal, in SI."""
        return MappingProxyType(self._measured)

    @property
    def noise(self) -> Mapping[str, float]:
        """The given deviations of the noise, by signal, in SI."""
        return MappingProxyType(self._noise)

    @property
    def deviations(self) -> Mapping[str, float]:
        """The deviations of the noise, by signal, in SI: given, or found by the last fit."""
        return MappingProxyType(self._deviations)

    @property
    def runs(self) -> int:
        """The number of simulations."""
        return self._runs

    def _unknown(self, path: str, limits: Any) -> Unknown:
        self.runs_of.check_unknown(path)
        unit = self.runs_of.unit(path)
        text = limits if isinstance(limits, str) else "..".join(str(end) for end in limits)
        variation = read_variation(path, text, unit)
        if variation.distribution is None:
            raise cosim.ModelError.of(path, f'{limits!r}: needs a range, such as "10 kN/m..40 kN/m"')
        low, high = (float(end) for end in variation.distribution.support())
        start = self.runs_of.start(path)
        value = start if start is not None and low < start < high else 0.5 * (low + high)
        return Unknown(path, low, high, value, max(abs(value), SMALL * (high - low)))

    # running

    def simulated(self, values: Vector) -> tuple[NDArray[np.float64], list[str]]:
        """Signals at the measured times, shape (runs, signals, times), and why runs have failed.

        Parameters
        ----------
        values : ndarray, shape (runs, unknowns), in SI
        """
        values = np.atleast_2d(values)
        columns = {unknown.path: values[:, i] for i, unknown in enumerate(self.unknowns)}
        self._runs += len(values)
        try:
            signals, reasons = self.runs_of.run(columns, len(values))
        except KeyboardInterrupt as interrupt:
            if (ended := getattr(interrupt, "result", None)) is not None:
                self._note(values, ended)
            raise
        self._note(values, signals)
        return signals, reasons

    def residuals(self, values: Vector) -> NDArray[np.float64]:
        """The residuals in deviations of the noise, one signal after the other: (runs, signals × times)."""
        signals, _ = self.simulated(values)
        return self._scaled(signals)

    def _scaled(self, signals: NDArray[np.float64]) -> NDArray[np.float64]:
        """The residuals of signals, shape (runs, signals, times)."""
        data = np.stack(list(self.measured.values()))
        scales = np.array([self.deviations[path] for path in self.measured])
        residuals = (signals - data) / scales[:, None]
        flat = residuals.reshape(len(residuals), -1)
        flat[np.isnan(flat)] = LOST  # a run that failed, or ended early
        return np.clip(flat, -LARGEST, LARGEST)

    def jacobian(self, values: Vector) -> NDArray[np.float64]:
        """Derivatives of the residuals, shape (signals × times, unknowns)."""
        run = self._differentiated(values)
        if run is None:
            return self._differenced(values)
        scales = np.array([self.deviations[path] for path in self.measured])
        derivatives = (run.derivatives / scales[:, None]).reshape(len(values), -1)
        derivatives[:, np.abs(self._scaled(run.signals[None])[0]) == LARGEST] = 0.0  # clipped residuals
        return derivatives.T

    @property
    def differences(self) -> str:
        """The reason why derivatives are differences of runs; empty if they are exact."""
        return self.runs_of.differences

    def _differentiated(self, values: Vector) -> Sensitivities | None:
        """The run of these values with its derivatives; the last one is stored. None without derivatives."""
        if self._last is None or not np.array_equal(self._last.values, values):
            paths = (unknown.path for unknown in self.unknowns)
            run = self.runs_of.differentiate(dict(zip(paths, values.tolist(), strict=True)))
            if run is None:
                return None
            self._runs += 1
            self._last = _LastRun(values.copy(), run)
        return self._last.run

    def _residuals_at(self, values: Vector) -> Vector:
        """The residuals of one point, from a run with derivatives if there are some."""
        run = self._differentiated(values)
        signals = self.simulated(values)[0][0] if run is None else run.signals
        residuals: Vector = self._scaled(signals[None])[0]
        if run is not None:
            self._note(values[None], signals[None])
        return residuals

    def _note(self, values: NDArray[np.float64], signals: NDArray[np.float64]) -> None:
        """Store the best values so far, and their signals, since the noise that weighs these may change."""
        totals = np.square(self._scaled(signals)).sum(axis=1)
        least = int(np.argmin(totals))
        best = None if self._best is None else self._scaled(self._best.signals[None])[0]
        if np.isfinite(signals[least]).any() and (best is None or totals[least] < best @ best):
            self._best = _BestPoint(values[least].copy(), signals[least])

    def _differenced(self, values: Vector) -> NDArray[np.float64]:
        """Central differences inside the bounds: one ensemble of runs."""
        low, high = np.array([(u.low, u.high) for u in self.unknowns]).T
        steps = STEP * np.maximum(np.abs(values), SMALL * (high - low))
        above = np.minimum(values + steps, high)
        below = np.maximum(values - steps, low)
        count = len(values)
        points = np.repeat(values[None, :], 2 * count, axis=0)
        for i in range(count):
            points[2 * i, i], points[2 * i + 1, i] = above[i], below[i]
        residuals = self.residuals(points)
        return ((residuals[0::2] - residuals[1::2]) / (above - below)[:, None]).T

    # fitting

    def fit(self, starts: int = 1, seed: int = 0) -> Fit:
        """Find the parameters.

        Parameters
        ----------
        starts : int
            The number of points to compare: the model's values, and points drawn from the ranges. The search
            starts at the best one.
        seed : int
            The seed of the drawn points.

        Returns
        -------
        Fit

        Raises
        ------
        SimulationError
            The run where it begins has failed.
        KeyboardInterrupt
            Ctrl-C; the best values so far are its `result`, if there are some.
        """
        self._best, runs_before = None, self._runs
        with self.runs_of.hold_processes():
            try:
                return self._fit(starts, seed)
            except KeyboardInterrupt as interrupt:
                best, runs = self._best, self._runs - runs_before
                interrupt.result = None if best is None else self._interrupted(best, runs)  # type: ignore[attr-defined]
                raise

    def _interrupted(self, best: _BestPoint, runs: int) -> Fit:
        """The fit with the best values so far."""
        return Fit(self, best.values, self._scaled(best.signals[None])[0], None, INTERRUPTED, runs)

    def _fit(self, starts: int, seed: int) -> Fit:
        runs_before = self._runs
        self._deviations.update(self._first_deviations())
        x = self._start(starts, seed)
        limits = Limits(*np.array([(u.low, u.high, u.scale) for u in self.unknowns]).T)
        # the first search estimates the noise of signals for which it is not given
        for tolerance in (SOLUTION,) if len(self.noise) == len(self.measured) else (WEIGHTS, SOLUTION):
            solution = minimize_squares(self._residuals_at, self.jacobian, x, limits, tolerance)
            x = solution.values
            remaining = solution.residuals.reshape(len(self.measured), -1)
            for row, path in zip(remaining, self.measured, strict=True):
                if path not in self.noise:
                    rms = float(np.sqrt(np.mean(row**2)) * self.deviations[path])
                    self._deviations[path] = max(rms, 1e-9 * spread_of(self.measured[path]))
        residuals = self._residuals_at(x)
        lost = int(np.sum((residuals == LOST) | (np.abs(residuals) == LARGEST)))
        jacobian = self.jacobian(x)
        return Fit(self, x, residuals, jacobian, solution.status, self._runs - runs_before, lost)

    def _is_finite(self, values: Vector) -> bool:
        """Whether a run with derivatives gives numbers; the search takes the same run first."""
        run = self._differentiated(values)
        return run is not None and bool(np.isfinite(run.signals).any())

    def _start(self, starts: int, seed: int) -> Vector:
        first = np.array([u.start for u in self.unknowns])
        points = first[None, :]
        if starts == 1 and self._is_finite(first):
            return first
        if starts > 1:
            from cosim_workbench.studies.points import points_of

            drawn = points_of(
                [read_variation(u.path, f"{u.low!r}..{u.high!r}", "1") for u in self.unknowns],
                f"latin:{starts - 1}",
                seed,
            )
            points = np.vstack([points, np.column_stack(list(drawn.values.values()))])
        signals, reasons = self.simulated(points)
        if all(reasons):
            raise cosim.SimulationError(self.runs_of.start_time, f"where it begins: {reasons[0]}")
        if not np.isfinite(signals).any():
            text = (
                f"where it begins: {' and '.join(self.measured)} are no finite numbers at the measured times"
            )
            raise cosim.SimulationError(self.runs_of.start_time, text)
        data = np.stack(list(self.measured.values()))
        scales = np.array([self.deviations[path] for path in self.measured])[:, None]
        with np.errstate(over="ignore"):
            cost = np.sum(((signals - data) / scales) ** 2, axis=(1, 2))
        best: Vector = points[int(np.nanargmin(np.where(np.isnan(cost), np.inf, cost)))]
        return best


@contextmanager
def _gathered(faults: list[cosim.Problem]) -> Iterator[None]:
    """Collect an error, so that all of them are reported together."""
    try:
        yield
    except cosim.ModelError as error:
        faults += error.problems
    except cosim.CosimError as error:
        faults.append(cosim.Problem("", str(error)))


def _runs_of(model: Any, data: cosim.Result, settings: Mapping[str, Any]) -> FitRuns:
    """Runs of what is calibrated; those of a subject end with the data."""
    if isinstance(model, StudySubject):
        return SubjectFitRuns(model, settings)
    of_file = {key: value for key, value in settings.items() if key in ("inputs", "variant")}
    until = {"until": float(data.time[-1])} if len(data) else {}
    subject = studied(model, {**until, **of_file})
    if isinstance(subject, cosim.Model):
        return ModelFitRuns(subject, settings)
    return SubjectFitRuns(subject, {key: value for key, value in settings.items() if key not in of_file})
