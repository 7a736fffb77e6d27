"""Does single runs of an ensemble, one for each call."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from cosim import ModelError, Problem, SimulationError
from cosim.kit import FixedAttributes
from cosim_ensembles.block import Block
from cosim_ensembles.changes import Changes, bounds_of, has_bounds_alone
from cosim_ensembles.compiled_runs import CompiledRuns
from cosim_ensembles.plan import Plan
from cosim_ensembles.simulator_runs import SimulatorRuns

Reals = NDArray[np.float64]


class Runner(FixedAttributes):
    """Does a run of an ensemble for the values that it is called with.

    Everything but the values is prepared once, in arrays of its own. One run takes place at a time.

    Parameters
    ----------
    plan : Plan
    runs : CompiledRuns or SimulatorRuns
        Of its own.
    paths : sequence of str
        Parameters, start values and inputs that have other values in each run.

    Attributes
    ----------
    paths : tuple of str
        The path of each number that a call takes.
    names : tuple of str
        The name of each number that a call returns.
    """

    def __init__(self, plan: Plan, runs: CompiledRuns | SimulatorRuns, paths: Sequence[str]) -> None:
        start = plan.start.copy()
        paths = [paths] if isinstance(paths, str) else list(paths)
        if twice := next((path for path in paths if paths.count(path) > 1), None):
            raise ModelError.of(twice, "is varied twice")
        changes = Changes(plan.system, {path: [start[path]] for path in paths}, None if paths else 1)
        self._bounds = bounds_of(plan.system, paths)
        self.paths: tuple[str, ...] = ()
        self._values, self._system = changes.numbers[0], plan.system
        self._checked: list[tuple[str, slice, tuple[int, ...]]] = []  # not checked by bounds alone
        for path, values in changes.given.items():
            first, size = len(self.paths), values.size
            self.paths += (path,) if size == 1 else tuple(f"{path}[{i}]" for i in range(size))
            changes.given[path] = self._values[first : first + size].reshape(values.shape)
            if not has_bounds_alone(plan.system.signal(path).declaration):
                self._checked.append((path, slice(first, first + size), values.shape[1:]))
        changes.write_first(start)
        self._block = Block(1, plan.points, len(plan.columns), len(plan.reductions), keeps_series=False)
        self._runs = runs
        runs.prepare(start, changes, self._block, np.zeros(1, dtype=np.int64))
        reductions = [reduction.name for reduction in plan.reductions]
        self.names = tuple(reductions or plan.columns)
        self._results = self._block.reduced[0] if reductions else self._block.final[0]
        self._guard = threading.Lock()

    def __call__(self, values: ArrayLike) -> Reals:
        """The reductions of a run with these values, or what is recorded, at its end.

        Parameters
        ----------
        values : array_like, shape (len(paths),)
            In SI.

        Raises
        ------
        ModelError, StateError
            Another number of values, or one that its variable cannot take.
        SimulationError
            The run has failed.
        """
        numbers = np.asarray(values, dtype=np.float64)
        low, high = self._bounds
        if numbers.shape != low.shape or not ((low <= numbers) & (numbers <= high)).all():
            self._refuse(numbers)
        if self._checked:
            numbers = numbers.copy()
            for path, place, shape in self._checked:
                value = numbers[place].reshape(shape)
                numbers[place] = self._system.numbers_of(path, value if shape else value.item())
        with self._guard:
            self._values[:] = numbers
            self._runs.run(0, 1)
            failed = self._block.failures.pop(0, None)
            if failed is not None:
                raise SimulationError(failed.time, failed.reason)
            results: Reals = self._results.copy()
            return results

    def _refuse(self, numbers: Any) -> None:
        """Raise the error for values that are not for these variables."""
        if numbers.shape != (len(self.paths),):
            text = f"have shape {numbers.shape}, need ({len(self.paths)},): {', '.join(self.paths)}"
            raise ModelError.of("values", text)
        ranges = zip(self.paths, numbers.tolist(), *(bound.tolist() for bound in self._bounds), strict=True)
        raise ModelError(
            [
                Problem(path, f"is {value:.9g}, must lie from {low:.9g} to {high:.9g}")
                for path, value, low, high in ranges
                if not low <= value <= high
            ]
        )
