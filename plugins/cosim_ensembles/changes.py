"""The values in which the runs of an ensemble differ, as numbers for compiled code."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim import CosimError, ModelError, Problem, State, StateError, System
from cosim.kit import Declaration, Run, quote

LARGEST = float(np.finfo(np.float64).max)
LARGEST_NEGATIVE = -LARGEST


class Changes:
    """Values of variables for each run, checked as `State.__setitem__` checks them.

    Parameters
    ----------
    system : System
    values : mapping of str to sequence
        By path of a parameter, start value or input, a value for each run: a number, a text with a unit, or
        an array of the variable's shape.
    count : int, optional
        The number of runs if nothing is varied.

    Attributes
    ----------
    given : dict of str to ndarray, shape (runs, …)
        The values in SI units, by path.
    places : ndarray of int64, shape (numbers, 2)
        Where each varied number is: the number of its array in `Run`, and its offset there.
    numbers : ndarray, shape (runs, numbers)
        The values at these places, for each run.

    Raises
    ------
    ModelError
        All faults together: no such variable, values that it cannot take (with the number of the run),
        different numbers of runs.
    """

    def __init__(self, system: System, values: Mapping[str, Any], count: int | None = None) -> None:
        self.given: dict[str, NDArray[np.float64]] = {}
        places: list[tuple[int, int]] = []
        columns: list[NDArray[np.float64]] = []
        problems: list[Problem] = []
        for path, values_of_runs in values.items():
            try:
                slot = system.written_slot(path)
                flat = _checked(system, path, slot.size, values_of_runs)
            except CosimError as error:
                problems.append(Problem(path, str(error).removeprefix(f"{path}: ")))
                continue
            shape = system.signal(path).declaration.shape if slot.size > 1 else ()
            is_complete = int(np.prod(shape)) == slot.size
            self.given[path] = flat.reshape(len(flat), *shape) if is_complete else flat
            array = Run._fields.index(slot.array)
            places += [(array, slot.offset + i) for i in range(slot.size)]
            columns.append(flat)
        self.runs, faults = self._count_runs(count)
        problems += [*faults, *_repetitions(system, places)]
        if self.runs < 1:
            problems.append(Problem("values", "there is no run: give one value at least"))
        if problems:
            raise ModelError(problems)
        self.places = np.array(places, dtype=np.int64).reshape(-1, 2)
        self.numbers = np.ascontiguousarray(
            np.hstack(columns) if columns else np.zeros((self.runs, 0)), dtype=np.float64
        )

    def _count_runs(self, count: int | None) -> tuple[int, list[Problem]]:
        """The number of runs, and problems of paths with another number of values."""
        problems = []
        if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
            problems.append(Problem("count", f"is {quote(count)}, needs a whole number of runs"))
            count = None
        lengths = {path: len(values) for path, values in self.given.items()}
        runs = max(lengths.values(), default=1 if count is None else count)
        if count is not None and count != runs:
            problems.append(Problem("count", f"is {count}, and {runs} values are given: leave it out"))
        problems += [
            Problem(path, f"has {length} values, others have {runs}: one for each run")
            for path, length in lengths.items()
            if length != runs
        ]
        return runs, problems

    def of_runs(self, first: int, last: int) -> Changes:
        """The changes of the runs `first` … `last` - 1."""
        changes = copy(self)
        changes.given = {path: values[first:last] for path, values in self.given.items()}
        changes.numbers, changes.runs = self.numbers[first:last], last - first
        return changes

    def write_first(self, state: State) -> None:
        """Write the values of the first run through the State's own checks, so that inputs count as held."""
        for path, values in self.given.items():
            state[path] = values[0]

    def state_of(self, base: State, run: int) -> State:
        """The State in which a run starts; a single run from this State gives the same bytes."""
        state = base.copy()
        for path, values in self.given.items():
            state[path] = values[run]
        return state


def _repetitions(system: System, places: Sequence[tuple[int, int]]) -> list[Problem]:
    """A problem for each number that is varied twice."""
    repeated = {place for place, times in Counter(places).items() if times > 1}
    return [
        Problem(system.paths_at(Run._fields[array], [offset])[0], "is varied twice")
        for array, offset in sorted(repeated)
    ]


def _checked(system: System, path: str, size: int, values: Any) -> NDArray[np.float64]:
    """The values of a variable for all runs, shape (runs, size), in SI units."""
    declaration = system.signal(path).declaration
    if isinstance(values, str) or not hasattr(values, "__len__"):
        raise StateError(f"{path}: needs a sequence with a value for each run")
    values = values if isinstance(values, np.ndarray) else list(values)
    numeric = isinstance(values, np.ndarray) or not any(isinstance(v, (str, list, tuple)) for v in values)
    if numeric and len(values) and has_bounds_alone(declaration):
        array = np.asarray(values)
        shapes = {(size,), declaration.shape} if size == declaration.size else {(size,)}
        if array.dtype.kind in "fiu" and (
            array.shape[1:] in shapes or (array.size == len(array) and size == 1)
        ):
            flat = np.ascontiguousarray(array, dtype=np.float64).reshape(len(array), size)
            if (_is_within(declaration, flat) & np.isfinite(flat)).all():
                return flat
    return np.array([_numbers_of_run(system, path, value, run) for run, value in enumerate(values)]).reshape(
        -1, size
    )


def bounds_of(system: System, paths: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest finite number of each element of some variables."""
    low: list[float] = []
    high: list[float] = []
    for path in paths:
        declaration = system.signal(path).declaration
        size = system.written_slot(path).size
        low += [LARGEST_NEGATIVE if declaration.minimum is None else float(declaration.minimum)] * size
        high += [LARGEST if declaration.maximum is None else float(declaration.maximum)] * size
    return np.array(low), np.array(high)


def has_bounds_alone(declaration: Declaration) -> bool:
    """Whether its numbers need no check but that of bounds, which can be made for all runs at once."""
    is_real = declaration.kind != "integer" and declaration.dtype not in (int, bool)
    return is_real and declaration.convert is None


def _is_within(declaration: Declaration, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    low = -np.inf if declaration.minimum is None else declaration.minimum
    high = np.inf if declaration.maximum is None else declaration.maximum
    is_within: NDArray[np.bool_] = (values >= low) & (values <= high)
    return is_within


def _numbers_of_run(system: System, path: str, value: Any, run: int) -> NDArray[np.float64]:
    """The numbers of a value, as `System.write` reads it; the error names the run."""
    try:
        return system.numbers_of(path, value)
    except CosimError as error:
        raise StateError(f"run {run}: {str(error).removeprefix(f'{path}: ')}") from None
