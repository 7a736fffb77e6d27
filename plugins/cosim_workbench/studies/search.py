"""Search: finds the least objective of runs, in the whole ranges and then near the best point."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_ensembles.kit import OwnProcesses
from cosim_workbench.studies.gradient_runs import GradientRuns
from cosim_workbench.studies.model_runs import ModelRuns
from cosim_workbench.studies.subject_runs import SubjectRuns

Vector = NDArray[np.float64]
Progress = Callable[[int, int, int], Any]
SHARE = 0.7
"""Part of the runs for the global search; the others start from its best point."""
POINTS = 8
"""Points in a generation, for each parameter."""
CONVERGED = 1e-4
"""The relative change of parameters and of the objective at which a search without gradients ends."""
FLAT = 1e-12
"""Relative decrease of the objective, and size of the gradient, at which a search along gradients ends."""
LOST = 1e100
"""The objective of a run that failed, in the search along gradients."""


class SpentError(Exception):
    """All runs have been used."""


class _NoGradientError(Exception):
    """A run has no gradient."""


class Search:
    """A search for the least objective, with every point that was tried.

    Parameters
    ----------
    bounds : mapping of str to (float, float)
        The range of each variable; the search itself goes on in the unit cube.
    objective : str
        Its name among the columns of runs.
    sign : float
        -1 if it is to be greatest.
    runs : ModelRuns or SubjectRuns
    pool : OwnProcesses or None
        For runs in processes.
    run_limit : int
        The largest number of runs.
    progress : callable, optional
        As for `Optimization.run`.

    Attributes
    ----------
    points : list of ndarray
    values : list of float
        The objectives at these points, times `sign`; infinite where a run failed.
    reason : str
        Why the last failed run failed.
    no_gradient : str
        Why there are no gradients; empty if there are some.
    """

    def __init__(
        self,
        bounds: Mapping[str, tuple[float, float]],
        objective: str,
        sign: float,
        runs: ModelRuns | SubjectRuns,
        pool: OwnProcesses | None,
        run_limit: int,
        progress: Progress | None,
    ) -> None:
        self._paths, self._objective, self._sign = list(bounds), objective, sign
        self._runs, self._pool, self._run_limit, self._progress = runs, pool, run_limit, progress
        self._low, self._high = np.array(list(bounds.values())).T
        self.points: list[Vector] = []
        self.values: list[float] = []
        self.reason = ""
        self.no_gradient = "not asked for: the search has ended before"

    @property
    def has_value(self) -> bool:
        """Whether any run has given a number."""
        return any(np.isfinite(value) for value in self.values)

    def evaluate(self, shares: Vector) -> Vector:
        """The minimized objective of points in the unit cube: shape (parameters, points)."""
        points_left = self._run_limit - len(self.points)
        if points_left <= 0:
            raise SpentError
        points = (
            self._low[:, None]
            + np.clip(shares[:, :points_left], 0.0, 1.0) * (self._high - self._low)[:, None]
        )
        count = points.shape[1]
        values = np.full(count, np.nan)  # where no run has ended
        columns = dict(zip(self._paths, points, strict=True))

        def keep(numbers: NDArray[np.int64], table_columns: dict[str, Any], files: dict[int, str]) -> None:
            objectives = np.asarray(table_columns[self._objective], dtype=np.float64)
            for number, value, status, reason in zip(
                numbers.tolist(),
                objectives.tolist(),
                table_columns["status"],
                table_columns["reason"],
                strict=True,
            ):
                if status != "failed" and np.isfinite(value):
                    values[number] = self._sign * value
                else:
                    values[number] = np.inf
                    self.reason = str(reason) or "the objective is not a finite number"

        try:
            self._runs.run(columns, count, self._pool, lambda *counts: None, keep)
        finally:  # after Ctrl-C, too
            has_run = ~np.isnan(values)
            self.points += list(points.T[has_run])
            self.values += values[has_run].tolist()
        values[~has_run] = np.inf
        if self._progress is not None:
            self._progress(len(self.values), self._run_limit, int(np.isinf(self.values).sum()))
        if count < shares.shape[1]:
            raise SpentError
        return values

    def try_start(self, shares: Vector) -> None:
        """Evaluate the objective at one start, given by shares of the ranges."""
        self.evaluate(shares[:, None])

    def search_everywhere(self, seed: int) -> None:
        """Differential evolution, with its share of the runs."""
        from scipy.optimize import differential_evolution

        size = len(self._low)
        generation = POINTS * size
        generations = int(SHARE * self._run_limit / generation) - 1
        if generations < 1:  # too few runs: points that fill the cube instead
            from scipy.stats import qmc

            count = max(1, int(SHARE * self._run_limit))
            self.evaluate(qmc.LatinHypercube(size, rng=seed).random(count).T)
            return
        differential_evolution(
            self.evaluate,
            [(0.0, 1.0)] * size,
            maxiter=generations,
            popsize=POINTS,
            seed=seed,
            polish=False,
            vectorized=True,
            updating="deferred",
            tol=CONVERGED,
        )

    def continue_search(self) -> str:
        """Continue from the best point, along gradients if there are any. Returns why it ended."""
        if not self.has_value:
            return ""
        if isinstance(self._runs, SubjectRuns):
            self.no_gradient = "runs of a co-simulation have none"
        else:
            gradients = self._runs.gradients()
            message = self._descend(gradients)
            self.no_gradient = gradients.refusal
            if not self.no_gradient:
                return message
        return self._run_simplex()

    def _best_share(self) -> Vector:
        """The best point so far, in the unit cube."""
        best: Vector = (self.points[int(np.argmin(self.values))] - self._low) / (self._high - self._low)
        return best

    def _descend(self, gradients: GradientRuns) -> str:
        """Search with L-BFGS-B. Returns why it ended; "" if there are no gradients."""
        from scipy.optimize import minimize

        width = self._high - self._low

        def evaluate(share: Vector) -> tuple[float, Vector]:
            if len(self.points) >= self._run_limit:
                raise SpentError
            point = self._low + np.clip(share, 0.0, 1.0) * width
            try:
                evaluation = gradients.at(dict(zip(self._paths, point.tolist(), strict=True)))
            except cosim.SimulationError as error:
                self.reason = error.reason
                evaluation = np.inf, np.zeros_like(point)
            if evaluation is None:
                raise _NoGradientError
            value = self._sign * evaluation[0]
            self.points.append(point)
            self.values.append(value if np.isfinite(value) else np.inf)
            if self._progress is not None:
                self._progress(len(self.values), self._run_limit, int(np.isinf(self.values).sum()))
            if not np.isfinite(value):
                return LOST, np.zeros_like(point)
            return value, self._sign * evaluation[1] * width

        start = self._best_share()
        try:
            outcome = minimize(
                evaluate,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, 1.0)] * len(start),
                options={"maxfun": self._run_limit, "maxiter": self._run_limit, "ftol": FLAT, "gtol": FLAT},
            )
        except _NoGradientError:
            return ""
        return "converged: the gradient allows no further step" if outcome.success else str(outcome.message)

    def _run_simplex(self) -> str:
        """Search with a simplex, without derivatives. Returns why it ended."""
        from scipy.optimize import minimize

        start = self._best_share()
        outcome = minimize(
            lambda share: float(self.evaluate(share[:, None])[0]),
            start,
            method="Nelder-Mead",
            bounds=[(0.0, 1.0)] * len(start),
            options={
                "xatol": CONVERGED,
                "fatol": CONVERGED * (abs(min(self.values)) + 1e-30),
                "maxfev": self._run_limit,
                "initial_simplex": _simplex(start),
            },
        )
        return "converged: neither the point nor the objective changes any more" if outcome.success else ""


def _simplex(start: Vector) -> Vector:
    """A small simplex inside the unit cube."""
    corners = np.repeat(start[None, :], len(start) + 1, axis=0)
    for i in range(len(start)):
        corners[i + 1, i] += 0.05 if start[i] < 0.5 else -0.05
    return corners
