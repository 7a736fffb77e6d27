"""The outcome of a calibration."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import FixedAttributes
from cosim_workbench.studies.calibration_doubts import Doubt, doubts_about_data, doubts_about_parameters
from cosim_workbench.wording import counted

ALIKE = 0.99
"""Correlation of errors above which two parameters are hardly distinguishable."""
ROUNDING = 1e-10
"""Singular values that are smaller, relative to the largest one, are rounding."""
INTERRUPTED = -2
"""Status of the best values so far, whose errors are not known."""
ENDS = {
    INTERRUPTED: "interrupted",
    -1: "which ended with a fault of the search",
    0: "of which there were too many before it converged",
    1: "converged: no direction leads further down",
    2: "converged: the residuals do not decrease any more",
    3: "converged: the parameters do not change any more",
    4: "converged: neither parameters nor what remains change any more",
}
"""Sentences by the status of `scipy.optimize.least_squares`."""
AT_BOUND = 1e-6
"""A value that is closer than this part of the range to an end is at the end."""


class Fit(FixedAttributes):
    """Parameters, their standard errors, and what remains.

    Parameters
    ----------
    calibration : Calibration
    fitted : ndarray, shape (parameters,)
        The values at the end of the search, in SI.
    residuals : ndarray, shape (residuals,)
        Simulated less measured, over the deviation of each signal, one signal after the other.
    jacobian : ndarray, shape (residuals, parameters), optional
        Derivatives of the residuals by the parameters there; None where none are known.
    status : int
        A key of `ENDS`.
    runs : int
    lost : int
        The number of residuals that were infinite or missing.

    Attributes
    ----------
    values, standard_errors : dict of str to float
        In SI. The errors follow from the curvature at the solution and from the residuals, which are taken as
        noise with one deviation. They are infinite for parameters that the data do not determine; `doubts`
        say why.
    covariance, correlation : ndarray, shape (parameters, parameters)
    residuals : dict of str to ndarray
        By signal: simulated less measured at the measured times, in the signal's unit.
    deviations : dict of str to float
        Root mean square of the residuals, by signal.
    at_bounds : list of str
        Parameters that lie at an end of their range.
    doubts : list of str
        Findings: data that are constant or that no parameter explains, residuals that are infinite or
        missing, parameters at an end of their range, or that can hardly be told apart.
    units : dict of str to str
        The units of parameters and signals.
    comparison : Result
        Measured and simulated signals at the measured times.
    runs : int
        The number of simulations.
    differences : str
        Why derivatives, and so standard errors, are from differences of runs; empty where they are exact.
    message : str
        How the search has ended, in words.
    is_converged, is_interrupted : bool
        Of an interrupted search these are the best values so far, without standard errors and doubts.
    """

    def __init__(
        self,
        calibration: Any,
        fitted: NDArray[np.float64],
        residuals: NDArray[np.float64],
        jacobian: NDArray[np.float64] | None,
        status: int,
        runs: int,
        lost: int = 0,
    ) -> None:
        self._calibration = calibration
        self.unknowns = calibration.unknowns
        self.message, self.is_converged, self.runs = ENDS[status], status > 0, runs
        self.is_interrupted = status == INTERRUPTED
        self.differences = calibration.differences
        paths = [unknown.path for unknown in self.unknowns]
        self.values = dict(zip(paths, fitted.tolist(), strict=True))
        rows = residuals.reshape(len(calibration.measured), -1)
        self.residuals = {
            path: row * calibration.deviations[path]
            for path, row in zip(calibration.measured, rows, strict=True)
        }
        self.units = {path: calibration.runs_of.unit(path) for path in (*paths, *self.residuals)}
        self.comparison = self._comparison()
        self.deviations = {path: float(np.sqrt(np.mean(r**2))) for path, r in self.residuals.items()}
        self.at_bounds = [
            u.path
            for u, x in zip(self.unknowns, fitted.tolist(), strict=True)
            if min(x - u.low, u.high - x) < AT_BOUND * (u.high - u.low)
        ]
        is_free = np.array([path not in self.at_bounds and not self.is_interrupted for path in paths])
        if jacobian is None:
            jacobian = np.zeros((residuals.size, len(paths)))
        scales = np.array([u.scale for u in self.unknowns])
        self.covariance, is_hidden = _covariance(jacobian, residuals, scales, is_free)
        errors = np.sqrt(np.diag(self.covariance))
        with np.errstate(invalid="ignore", divide="ignore"):
            self.correlation = self.covariance / np.outer(errors, errors)
        doubts = self._list_doubts(jacobian, is_hidden, lost)
        self.doubts = [] if self.is_interrupted else [doubt.text for doubt in doubts]
        undetermined = {path for doubt in doubts for path in doubt.parameters}
        self.standard_errors = {
            path: math.inf if path in undetermined else error
            for path, error in zip(paths, errors.tolist(), strict=True)
        }

    def _comparison(self) -> cosim.Result:
        """Measured and simulated signals at the measured times."""
        measured = self._calibration.measured
        simulated = {path: values + self.residuals[path] for path, values in measured.items()}
        renamed = {f"{path} measured": values for path, values in measured.items()}
        units = {name: self.units[name.removesuffix(" measured")] for name in (*simulated, *renamed)}
        return cosim.Result(self._calibration.times, renamed | simulated, units)

    def _list_doubts(
        self, jacobian: NDArray[np.float64], is_hidden: NDArray[np.bool_], lost: int
    ) -> list[Doubt]:
        """Findings about the data and the parameters; `is_hidden` says which of these data leave open."""
        calibration, paths = self._calibration, list(self.values)
        without_effect = [path for path, column in zip(paths, jacobian.T, strict=True) if not column.any()]
        hidden = [
            path for path, hides in zip(paths, is_hidden, strict=True) if hides and path not in without_effect
        ]
        return [
            *doubts_about_data(paths, calibration.measured, self.deviations, calibration.noise, lost),
            *doubts_about_parameters(self.at_bounds, self.alike(), without_effect, hidden),
        ]

    def __str__(self) -> str:
        width = max(len(path) for path in (*self.values, *self.deviations))
        lines = [f"{path:<{width}}  {self._value_text(path)}" for path in self.values]
        lines += [
            f"{path:<{width}}  {deviation:.3g}{self._unit_text(path)} remains (rms)"
            for path, deviation in self.deviations.items()
        ]
        if self.is_interrupted:
            return "\n".join(
                [*lines, f"{counted(self.runs, 'run')}, interrupted: no standard error is known"]
            )
        lines += [f"doubt: {text}" for text in self.doubts]
        if self.differences:
            lines.append(f"derivatives are differences of runs: {self.differences}")
        else:
            lines.append("derivatives are exact, along the runs")
        lines.append(f"± is one standard error; {counted(self.runs, 'run')}, {self.message}")
        return "\n".join(lines)

    def _unit_text(self, path: str) -> str:
        """The unit of a parameter or signal, after a space; nothing for numbers without a unit."""
        return "" if self.units[path] == "1" else f" {self.units[path]}"

    def _value_text(self, path: str) -> str:
        """The value of a parameter with its standard error, or why it has none."""
        unit, error = self._unit_text(path), self.standard_errors[path]
        if np.isfinite(error):
            return f"{self.values[path]:.6g} ± {error:.2g}{unit}"
        reason = "the best so far" if self.is_interrupted else "which the data do not determine"
        return f"{self.values[path]:.6g}{unit}, {reason}"

    def alike(self, correlation: float = ALIKE) -> list[tuple[str, str, float]]:
        """Pairs of parameters whose errors go together, with their correlation."""
        paths = [unknown.path for unknown in self.unknowns]
        return [
            (path, paths[j], float(self.correlation[i, j]))
            for i, path in enumerate(paths)
            for j in range(i + 1, len(paths))
            if abs(self.correlation[i, j]) > correlation
        ]

    def apply(self) -> None:
        """Make what was found the start values of the model, or of the co-simulation.

        Raises
        ------
        CosimError
            It was read from a file: write them there.
        """
        model = self._calibration.model
        if not hasattr(model, "set_start"):
            raise cosim.CosimError(f"{model} is a file: write the values there, under the parameters")
        for path, value in self.values.items():
            model.set_start(path, value)


def _covariance(
    jacobian: NDArray[np.float64],
    residuals: NDArray[np.float64],
    scales: NDArray[np.float64],
    is_free: NDArray[np.bool_],
) -> tuple[NDArray[np.float64], NDArray[np.bool_]]:
    """The covariance of the parameters, from curvature and residuals, and which of them data leave open.

    It is infinite along these. Parameters at an end of their range do not vary: they are left out, and
    infinite.
    """
    count, parameters = jacobian.shape
    variance = float(residuals @ residuals) / max(count - parameters, 1)
    _, singular, right = np.linalg.svd((jacobian * scales)[:, is_free], full_matrices=False)
    is_determined = (
        singular > ROUNDING * singular[0] if singular.size and singular[0] > 0.0 else np.zeros(0, dtype=bool)
    )
    free = np.zeros((int(is_free.sum()), int(is_free.sum())))
    hidden = np.ones(len(free), dtype=bool)
    if is_determined.size:
        inverse = right[is_determined].T / singular[is_determined]
        free = variance * inverse @ inverse.T
        hidden = np.any(np.abs(right[~is_determined]) > 1e-6, axis=0)
    covariance: NDArray[np.float64] = np.zeros((parameters, parameters))
    covariance[np.ix_(is_free, is_free)] = free
    covariance *= np.outer(scales, scales)
    is_hidden = np.zeros(parameters, dtype=bool)
    is_hidden[is_free] = hidden
    infinite = is_hidden | ~is_free
    covariance[infinite, infinite] = np.inf
    return covariance, is_hidden
