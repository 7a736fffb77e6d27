"""Optimization: parameters of a model or co-simulation at which an objective is least, or greatest."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import FixedAttributes
from cosim_ensembles.kit import OwnProcesses
from cosim_workbench.studies.gradient_runs import GradientRuns
from cosim_workbench.studies.model_runs import ModelRuns
from cosim_workbench.studies.optimum import Optimum
from cosim_workbench.studies.studied import studied
from cosim_workbench.studies.subject_runs import SubjectRuns
from cosim_workbench.studies.variation import read_variation

Vector = NDArray[np.float64]
SHARE = 0.7
"""Part of the runs for the global search; the others start from its best point."""
POINTS = 8
"""Points in a generation, for each parameter."""
SAME = 1e-4
"""Relative: parameters, and objectives, that differ by less are the same to the local search."""

Progress = Callable[[int, int, int], Any]


FLAT = 1e-12
"""Relative decrease of the objective, and size of the gradient, at which a search along gradients ends."""
LOST = 1e100
"""The objective of a run that failed, in the search along gradients."""


class _SpentError(Exception):
    """All runs have been used."""


class _NoGradientError(Exception):
    """A run has no gradient."""


class Optimization(FixedAttributes):
    """Searches the ranges globally by differential evolution, then continues from the best point.

    It goes on along gradients (L-BFGS-B) where the runs of a model have some, back along their steps; else by
    a simplex, which needs none: objectives may jump, and runs may fail (they count as worst). The runs of a
    generation go in parallel.

    Parameters
    ----------
    model : Model, path or CoSimulation
        As for `Study`.
    vary : mapping of str to str or (low, high)
        Paths of variables with their ranges: ``{"mount.stiffness[5]": "100 N/mm..300 N/mm"}``.
    minimize, maximize : str, tuple or callable
        One of them: an objective as for `Study`: ``"max(engine.z)"``, ``"module:function"``, a function. One
        that returns a number and its cotangents has gradients: ``cosim.objectives.integral_of_square("x")``.
    seed : int
        The seed of the random numbers.
    **settings
        As for `Study`: ``until``, ``threads``, ``integrator`` …

    Raises
    ------
    ModelError
        All faults: no such variable, no range, none or two objectives.

    Examples
    --------
    >>> import cosim
    >>> from cosim_workbench.studies import Optimization
    >>> model = cosim.Model("ramp")
    >>> ramp = model.add("signals.ramp", "ramp", height="1 m")
    >>> found = Optimization(model, {"ramp.height": "-2..3"}, "span(ramp)", until=1.0).run(80)
    >>> abs(found.values["ramp.height"]) < 1e-3
    True
    """

    def __init__(
        self,
        model: Any,
        vary: Mapping[str, Any],
        minimize: Any = None,
        *,
        maximize: Any = None,
        seed: int = 0,
        **settings: Any,
    ) -> None:
        if (minimize is None) == (maximize is None):
            raise cosim.ModelError.of("objective", 'needs one: minimize="max(engine.z)", or maximize=…')
        self.sign = 1.0 if maximize is None else -1.0
        objective = minimize if maximize is None else maximize
        settings_of_model = {key: value for key, value in settings.items() if key != "threads"}
        self.model = studied(model, settings_of_model)
        self.given = model
        self._runs: ModelRuns | SubjectRuns
        if isinstance(self.model, cosim.Model):
            self._runs = ModelRuns(self.model, [objective], False, **settings)
        else:
            self._runs = SubjectRuns(self.model, [objective], settings.get("threads"))
        (self.objective,) = self._runs.objectives
        self._seed = seed
        self.units: dict[str, str] = {self.objective: self._runs.units.get(self.objective, "1")}
        self.bounds: dict[str, tuple[float, float]] = {}
        problems: list[cosim.Problem] = []
        for path, limits in vary.items():
            try:
                self.units[path] = self._runs.unit(path)
                self.bounds[path] = _range(path, limits, self.units[path])
            except cosim.ModelError as error:
                problems += error.problems
            except cosim.CosimError as error:
                problems.append(cosim.Problem("", str(error)))
        if not vary:
            problems.append(cosim.Problem("vary", "needs a variable at least, with its range"))
        if problems:
            raise cosim.ModelError(problems)

    def run(self, runs: int = 200, progress: Progress | None = None, local: bool = False) -> Optimum:
        """Search with at most this number of runs.

        Parameters
        ----------
        runs : int
            One with its gradient counts as one.
        progress : callable, optional
            Called with how many runs are done, how many there may be, how many have failed.
        local : bool
            Whether to look nowhere else: the search goes on from the model's own values, or from the middle
            of a range that they lie outside of. For many parameters, of a model.

        Returns
        -------
        Optimum

        Raises
        ------
        SimulationError
            Every run has failed.
        KeyboardInterrupt
            Ctrl-C; the best point so far is its `result`, if there is one.
        """
        if isinstance(runs, bool) or not isinstance(runs, int) or runs < 1:
            raise cosim.ModelError.of("runs", f"is {runs!r}, needs a whole number from 1 on")
        with self._runs.kept_processes() as pool:
            search = _Search(self, self._runs, pool, runs, progress)
            try:
                if local:
                    search.try_start(self._own_point())
                else:
                    search.search_everywhere(self._seed)
                message = search.go_on()
            except _SpentError:
                message = f"all {runs} runs were taken"
            except KeyboardInterrupt as interrupt:
                interrupt.result = search.optimum("interrupted") if search.has_value else None  # type: ignore[attr-defined]
                raise
        if not search.has_value:
            raise cosim.SimulationError(float("nan"), f"every run failed, such as: {search.reason}")
        return search.optimum(message)

    def _own_point(self) -> Vector:
        """The model's own values as shares of the ranges."""
        if isinstance(self._runs, SubjectRuns):
            raise cosim.ModelError.of("local", "is for models: the values of a co-simulation are not known")
        shares = []
        for path, (low, high) in self.bounds.items():
            share = (self._runs.start(path) - low) / (high - low)
            shares.append(share if 0.0 <= share <= 1.0 else 0.5)
        return np.array(shares)


class _Search:
    """A search: every point that was tried, in the unit cube."""

    def __init__(
        self,
        owner: Optimization,
        runs: ModelRuns | SubjectRuns,
        pool: OwnProcesses | None,
        most: int,
        progress: Progress | None,
    ) -> None:
        self._owner, self._runs, self._pool, self._most = owner, runs, pool, most
        self._progress = progress
        self._low, self._high = np.array(list(owner.bounds.values())).T
        self._points: list[Vector] = []
        self._values: list[float] = []
        self.reason = ""
        self.no_gradient = "not asked for: the search has ended before"

    @property
    def has_value(self) -> bool:
        """Whether any run has given a number."""
        return any(np.isfinite(value) for value in self._values)

    def evaluate(self, shares: Vector) -> Vector:
        """The minimized objective of points in the unit cube: shape (parameters, points)."""
        points_left = self._most - len(self._points)
        if points_left <= 0:
            raise _SpentError
        points = (
            self._low[:, None]
            + np.clip(shares[:, :points_left], 0.0, 1.0) * (self._high - self._low)[:, None]
        )
        count = points.shape[1]
        values = np.full(count, np.nan)  # where no run has ended
        columns = dict(zip(self._owner.bounds, points, strict=True))

        def keep(numbers: NDArray[np.int64], table_columns: dict[str, Any], files: dict[int, str]) -> None:
            objectives = np.asarray(table_columns[self._owner.objective], dtype=np.float64)
            for number, value, status, reason in zip(
                numbers.tolist(),
                objectives.tolist(),
                table_columns["status"],
                table_columns["reason"],
                strict=True,
            ):
                if status != "failed" and np.isfinite(value):
                    values[number] = self._owner.sign * value
                else:
                    values[number] = np.inf
                    self.reason = str(reason) or "the objective is not a finite number"

        try:
            self._runs.run(columns, count, self._pool, lambda *counts: None, keep)
        finally:  # after Ctrl-C, too
            has_run = ~np.isnan(values)
            self._points += list(points.T[has_run])
            self._values += values[has_run].tolist()
        values[~has_run] = np.inf
        if self._progress is not None:
            self._progress(len(self._values), self._most, int(np.isinf(self._values).sum()))
        if count < shares.shape[1]:
            raise _SpentError
        return values

    def try_start(self, shares: Vector) -> None:
        """Evaluate the objective at one start, given by shares of the ranges."""
        self.evaluate(shares[:, None])

    def search_everywhere(self, seed: int) -> None:
        """Differential evolution, with its share of the runs."""
        from scipy.optimize import differential_evolution

        size = len(self._low)
        generation = POINTS * size
        generations = int(SHARE * self._most / generation) - 1
        if generations < 1:  # there are too few for that: a design that fills the cube
            from scipy.stats import qmc

            count = max(1, int(SHARE * self._most))
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
            tol=SAME,
        )

    def go_on(self) -> str:
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
        best: Vector = (self._points[int(np.argmin(self._values))] - self._low) / (self._high - self._low)
        return best

    def _descend(self, gradients: GradientRuns) -> str:
        """L-BFGS-B; why it ended, also because there are no gradients."""
        from scipy.optimize import minimize

        width = self._high - self._low

        def evaluate(share: Vector) -> tuple[float, Vector]:
            if len(self._points) >= self._most:
                raise _SpentError
            point = self._low + np.clip(share, 0.0, 1.0) * width
            try:
                evaluation = gradients.at(dict(zip(self._owner.bounds, point.tolist(), strict=True)))
            except cosim.SimulationError as error:
                self.reason = error.reason
                evaluation = np.inf, np.zeros_like(point)
            if evaluation is None:
                raise _NoGradientError
            value = self._owner.sign * evaluation[0]
            self._points.append(point)
            self._values.append(value if np.isfinite(value) else np.inf)
            if self._progress is not None:
                self._progress(len(self._values), self._most, int(np.isinf(self._values).sum()))
            if not np.isfinite(value):
                return LOST, np.zeros_like(point)
            return value, self._owner.sign * evaluation[1] * width

        start = self._best_share()
        try:
            answer = minimize(
                evaluate,
                start,
                jac=True,
                method="L-BFGS-B",
                bounds=[(0.0, 1.0)] * len(start),
                options={"maxfun": self._most, "maxiter": self._most, "ftol": FLAT, "gtol": FLAT},
            )
        except _NoGradientError:
            return ""
        return "converged: the gradient allows no further step" if answer.success else str(answer.message)

    def _run_simplex(self) -> str:
        """Search with a simplex, without derivatives; why it ended."""
        from scipy.optimize import minimize

        start = self._best_share()
        answer = minimize(
            lambda share: float(self.evaluate(share[:, None])[0]),
            start,
            method="Nelder-Mead",
            bounds=[(0.0, 1.0)] * len(start),
            options={
                "xatol": SAME,
                "fatol": SAME * (abs(min(self._values)) + 1e-30),
                "maxfev": self._most,
                "initial_simplex": _simplex(start),
            },
        )
        return "converged: neither the point nor the objective changes any more" if answer.success else ""

    def optimum(self, message: str) -> Optimum:
        """The optimum of all points that were tried."""
        return Optimum(self._owner, np.array(self._points), np.array(self._values), message, self.no_gradient)


def _simplex(start: Vector) -> Vector:
    """A small one, inside the unit cube."""
    corners = np.repeat(start[None, :], len(start) + 1, axis=0)
    for i in range(len(start)):
        corners[i + 1, i] += 0.05 if start[i] < 0.5 else -0.05
    return corners


def _range(path: str, limits: Any, unit: str) -> tuple[float, float]:
    text = limits if isinstance(limits, str) else "..".join(str(end) for end in limits)
    variation = read_variation(path, text, unit)
    if variation.distribution is None:
        raise cosim.ModelError.of(path, f'{limits!r}: needs a range, such as "10 kN/m..40 kN/m"')
    low, high = (float(end) for end in variation.distribution.support())
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise cosim.ModelError.of(path, f"{limits!r}: needs a range that has two ends")
    return low, high
