"""Runs of a model for a calibration: an ensemble, or one run with its tangents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from contextlib import AbstractContextManager
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_workbench.studies.fit_runs import Sensitivities, interpolate

Vector = NDArray[np.float64]
ACCURACY = 1e-9
"""The default accuracy of runs whose differences are taken: their errors must be far below these."""
ACCURACY_WITH_DERIVATIVES = 1e-8
"""The default accuracy of runs with tangents: no difference of runs is taken."""
INTEGRATOR_WITH_DERIVATIVES = "integrators.dormand_prince_853"
"""The default integrator of runs with tangents.

Each step is repeated along each direction, and this method needs a fifth of the steps of the usual one at
this accuracy.
"""
FINE = 4
"""Points of the output grid for each measured one, if the measured times are not evenly spaced."""
NOT_OF_RUNS = ("signals", "accuracy", "reduce")
"""Settings of the model's own runs that a calibration chooses itself."""
OF_ENSEMBLES = ("threads", "state")
"""Settings of an ensemble that `cosim.simulate` does not take."""


class ModelFitRuns:
    """Makes the runs of a model: see `FitRuns`.

    Parameters
    ----------
    model : Model
    settings : mapping of str to object
        Settings of the runs, in place of those of the model.
    """

    def __init__(self, model: cosim.Model, settings: Mapping[str, Any]) -> None:
        self.system, self.differences = model.build(), ""
        self._state = self.system.default_state()
        settings_of_model = {key: value for key, value in model.simulation.items() if key not in NOT_OF_RUNS}
        self._settings = {**settings_of_model, "accuracy": ACCURACY, **settings}
        self._accuracy_with_derivatives = settings.get("accuracy", ACCURACY_WITH_DERIVATIVES)

    @property
    def start_time(self) -> float:
        """The time at which runs begin, s."""
        return float(self._state.time)

    def unit(self, path: str) -> str:
        """The unit of a signal or a fitted parameter; `ModelError` if it has several elements."""
        signal = self.system.signal(path)
        if signal.slot.size != 1:
            raise cosim.ModelError.of(path, f"has several elements: name one, {path}[0]")
        return signal.units[0]

    def check_unknown(self, path: str) -> None:
        """Refuse to vary a computed quantity, or one with several elements."""
        if self.system.written_slot(path).size != 1:
            raise cosim.ModelError.of(path, f"has several elements: name one, {path}[0]")

    def start(self, path: str) -> float:
        """The value in the model."""
        return float(self._state[path])

    def prepare(self, signals: Sequence[str], times: Vector) -> None:
        """Choose the output times: the measured ones if they are evenly spaced, else a finer grid."""
        self._times, self._signals = times, list(signals)
        interval = float(np.median(np.diff(times)))
        points = (times - self.start_time) / interval
        self._is_even = bool(np.abs(points - np.round(points)).max() < 1e-6)
        self._interval = interval if self._is_even else interval / FINE
        grid = {"until": float(times[-1]), "output_interval": self._interval}
        self._ensemble = cosim.Ensemble(self.system, signals=self._signals, **{**self._settings, **grid})
        settings_of_run = {key: value for key, value in self._settings.items() if key not in OF_ENSEMBLES}
        settings_of_run.setdefault("integrator", INTEGRATOR_WITH_DERIVATIVES)
        settings_of_run["accuracy"] = self._accuracy_with_derivatives
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
            places = np.round((self._times - outcome.time[0]) / step).astype(np.int64)
            signals = series[:, :, np.minimum(places, len(outcome.time) - 1)]
        else:
            signals = np.stack([interpolate(outcome.time, run, self._times) for run in series])
        signals[~outcome.is_done] = np.nan
        return signals

    def differentiate(self, values: Mapping[str, float]) -> Sensitivities | None:
        """A run with its tangents; None where they do not exist, and then for all further runs, too.

        `differences` then has the reason.
        """
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
        series = [[result[signal] for signal in self._signals]]
        series += [[result.derivative(signal, path) for signal in self._signals] for path in values]
        signals, *tangents = self._at_measured_times(result.time, np.array(series))
        derivatives = np.array(tangents)
        derivatives[:, ~np.isfinite(signals)] = 0.0
        if not np.isfinite(derivatives).all():
            self.differences = _reason_without_derivative(result)
            return None
        return Sensitivities(signals, derivatives)

    def _at_measured_times(self, times: Vector, series: NDArray[np.float64]) -> NDArray[np.float64]:
        """Series of one run at the measured times, as an ensemble records them.

        At an event this is the value after it; after the end of a run it is NaN.
        """
        slack = 1e-6 * self._interval  # rounding of the times of output
        grid = self._times
        if not self._is_even:
            points = round((self._times[-1] - self.start_time) / self._interval + 0.5)
            grid = np.minimum(self.start_time + self._interval * np.arange(points + 1), self._times[-1])
        places = np.searchsorted(times, grid + slack, side="right") - 1
        rows = np.where(np.abs(times[places] - grid) <= 2.0 * slack, series[..., places], np.nan)
        return rows if self._is_even else np.array([interpolate(grid, row, self._times) for row in rows])

    def hold_processes(self) -> AbstractContextManager[Any]:
        """A context in which all runs share the processes that parts in plain Python need."""
        return self._ensemble.kept_processes()


def _reason_without_derivative(result: cosim.Result) -> str:
    """The first finding of a run about a derivative that does not exist."""
    for finding in result.findings:
        if finding.kind == "no derivative":
            return f"{finding.witness}: {finding.message}"
    return "a derivative along the run is infinite"
