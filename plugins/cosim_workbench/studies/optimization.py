"""Optimization: parameters of a model or co-simulation that minimize or maximize an objective."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import FixedAttributes
from cosim_workbench.studies.model_runs import ModelRuns
from cosim_workbench.studies.optimum import Optimum
from cosim_workbench.studies.search import Progress, Search, SpentError
from cosim_workbench.studies.studied import studied
from cosim_workbench.studies.subject_runs import SubjectRuns
from cosim_workbench.studies.variation import read_variation

Vector = NDArray[np.float64]


class Optimization(FixedAttributes):
    """Searches the ranges globally by differential evolution, then continues from the best point.

    It continues along gradients (L-BFGS-B) if the runs of a model have some, else with a simplex, which needs
    none. Objectives may jump, and runs may fail (they count as worst). The runs of a generation are parallel.

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
        self.subject = model
        self._runs: ModelRuns | SubjectRuns
        if isinstance(self.model, cosim.Model):
            self._runs = ModelRuns(self.model, [objective], False, **settings)
        else:
            self._runs = SubjectRuns(self.model, [objective], settings.get("threads"))
        (self.objective,) = self._runs.objectives
        self._seed = seed
        self._units: dict[str, str] = {self.objective: self._runs.units.get(self.objective, "1")}
        self._bounds: dict[str, tuple[float, float]] = {}
        problems: list[cosim.Problem] = []
        for path, limits in vary.items():
            try:
                self._units[path] = self._runs.unit(path)
                self._bounds[path] = _range(path, limits, self._units[path])
            except cosim.ModelError as error:
                problems += error.problems
            except cosim.CosimError as error:
                problems.append(cosim.Problem("", str(error)))
        if not vary:
            problems.append(cosim.Problem("vary", "needs a variable at least, with its range"))
        if problems:
            raise cosim.ModelError(problems)

    @property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        """The ranges by path, in SI."""
        return MappingProxyType(self._bounds)

    @property
    def units(self) -> Mapping[str, str]:
        """The units of the objective and of what is varied."""
        return MappingProxyType(self._units)

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
            search = Search(self.bounds, self.objective, self.sign, self._runs, pool, runs, progress)
            try:
                if local:
                    search.try_start(self._own_point())
                else:
                    search.search_everywhere(self._seed)
                message = search.continue_search()
            except SpentError:
                message = f"all {runs} runs were taken"
            except KeyboardInterrupt as interrupt:
                interrupt.result = self._optimum(search, "interrupted") if search.has_value else None  # type: ignore[attr-defined]
                raise
        if not search.has_value:
            raise cosim.SimulationError(float("nan"), f"every run failed, such as: {search.reason}")
        return self._optimum(search, message)

    def _optimum(self, search: Search, message: str) -> Optimum:
        """The optimum of all points that were tried."""
        points, values = np.array(search.points), np.array(search.values)
        return Optimum(self, points, values, message, search.no_gradient)

    def _own_point(self) -> Vector:
        """The model's own values as shares of the ranges."""
        if isinstance(self._runs, SubjectRuns):
            raise cosim.ModelError.of(
                "local", "works for models only: the start values of a co-simulation are not known"
            )
        shares = []
        for path, (low, high) in self.bounds.items():
            share = (self._runs.start(path) - low) / (high - low)
            shares.append(share if 0.0 <= share <= 1.0 else 0.5)
        return np.array(shares)


def _range(path: str, limits: Any, unit: str) -> tuple[float, float]:
    text = limits if isinstance(limits, str) else "..".join(str(end) for end in limits)
    variation = read_variation(path, text, unit)
    if variation.distribution is None:
        raise cosim.ModelError.of(path, f'{limits!r}: needs a range, such as "10 kN/m..40 kN/m"')
    low, high = (float(end) for end in variation.distribution.support())
    if not (np.isfinite(low) and np.isfinite(high) and low < high):
        raise cosim.ModelError.of(path, f"{limits!r}: needs a range that has two ends")
    return low, high
