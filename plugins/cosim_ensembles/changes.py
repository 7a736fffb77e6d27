"""The differences between the runs of an ensemble, as numbers for compiled code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from copy import copy
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim import CosimError, ModelError, Problem, State, StateError, System
from cosim.kit import Declaration, Run, shown

LARGEST = float(np.finfo(np.float64).max)
LARGEST_NEGATIVE = -LARGEST


class Changes:
    """Values of variables for each run, checked as `State.__setitem__` checks them.

    Parameters
    ----------
    system : System
    values : mapping of str to sequence
        Paths of parameters, start values and inputs; a value for each run: a number, a text with a unit, or
        an array of the variable's shape.
    count : int, optional
        How many runs there are where nothing is varied.

    Attributes
    ----------
    given : dict of str to ndarray, shape (runs, …)
        In SI.
    places : ndarray of int64, shape (numbers, 2)
        Arrays (as in `Run`) and offsets.
    numbers : ndarray, shape (runs, numbers)

    Raises
    ------
    ModelError
        Every fault: no such variable, values that it cannot take, with the run; different numbers of runs.
    """

    def __init__(self, system: System, values: Mapping[str, Any], count: int | None = None) -> None:
        self.given: dict[str, NDArray[np.float64]] = {}
        places: list[tuple[int, int]] = []
        columns: list[NDArray[np.float64]] = []
        problems: list[Problem] = []
        for path, listed in values.items():
            try:
                slot = system.written_slot(path)
                flat = _checked(system, path, slot.size, listed)
            except CosimError as error:
                problems.append(Problem(path, str(error).removeprefix(f"{path}: ")))
                continue
            shape = system.signal(path).declaration.shape if slot.size > 1 else ()
            is_complete = int(np.prod(shape)) == slot.size
            self.given[path] = flat.reshape(len(flat), *shape) if is_complete else flat
            array = Run._fields.index(slot.array)
            places += [(array, slot.offset + i) for i in range(slot.size)]
            columns.append(flat)
        lengths = {path: len(values_of_runs) for path, values_of_runs in self.given.items()}
        if count is not None and (isinstance(count, bool) or not isinstance(count, int)):
            problems.append(Problem("count", f"is {shown(count)}, needs a whole number of runs"))
            count = None
        self.runs = max(lengths.values(), default=1 if count is None else count)
        if count is not None and count != self.runs:
            problems.append(Problem("count", f"is {count}, and {self.runs} values are given: leave it out"))
        for path, length in lengths.items():
            if length != self.runs:
                problems.append(
                    Problem(path, f"has {length} values, others have {self.runs}: one for each run")
                )
        twice = (
            {place for place in places if places.count(place) > 1} if len(set(places)) < len(places) else ()
        )
        for array, offset in sorted(twice):
            path = system.paths_at(Run._fields[array], [offset])[0]
            problems.append(Problem(path, "is varied twice"))
        if self.runs < 1:
            problems.append(Problem("values", "there is no run: give one value at least"))
        if problems:
            raise ModelError(problems)
        self.places = np.array(places, dtype=np.int64).reshape(-1, 2)
        self.numbers = np.ascontiguousarray(
            np.hstack(columns) if columns else np.zeros((self.runs, 0)), dtype=np.float64
        )

    def some(self, first: int, last: int) -> Changes:
        """The changes of the runs `first` … `last` - 1."""
        changes = copy(self)
        changes.given = {path: values[first:last] for path, values in self.given.items()}
        changes.numbers, changes.runs = self.numbers[first:last], last - first
        return changes

    def write_first(self, state: State) -> None:
        """Write the values of the first run as a user does, which tells inputs that they are held."""
        for path, values in self.given.items():
            state[path] = values[0]

    def state_of(self, base: State, run: int) -> State:
        """The State in which a run starts: what a single run is given for the same bytes."""
        state = base.copy()
        for path, values in self.given.items():
            state[path] = values[run]
        return state


def _checked(system: System, path: str, size: int, listed: Any) -> NDArray[np.float64]:
    """Values of one variable for all runs, shape (runs, size), in SI."""
    declaration = system.signal(path).declaration
    if isinstance(listed, str) or not hasattr(listed, "__len__"):
        raise StateError(f"{path}: needs a sequence with a value for each run")
    listed = listed if isinstance(listed, np.ndarray) else list(listed)
    numeric = isinstance(listed, np.ndarray) or not any(isinstance(v, (str, list, tuple)) for v in listed)
    if numeric and len(listed) and has_bounds_alone(declaration):
        plain = np.asarray(listed)
        shapes = {(size,), declaration.shape} if size == declaration.size else {(size,)}
        if plain.dtype.kind in "fiu" and (
            plain.shape[1:] in shapes or (plain.size == len(plain) and size == 1)
        ):
            flat = np.ascontiguousarray(plain, dtype=np.float64).reshape(len(plain), size)
            if (_is_within(declaration, flat) & np.isfinite(flat)).all():
                return flat
    return np.array([_one(system, path, value, run) for run, value in enumerate(listed)]).reshape(-1, size)


def bounds_of(system: System, paths: Sequence[str]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """The least and the largest number that each element of some variables can take; finite."""
    low: list[float] = []
    high: list[float] = []
    for path in paths:
        declaration = system.signal(path).declaration
        size = system.written_slot(path).size
        low += [LARGEST_NEGATIVE if declaration.minimum is None else float(declaration.minimum)] * size
        high += [LARGEST if declaration.maximum is None else float(declaration.maximum)] * size
    return np.array(low), np.array(high)


def has_bounds_alone(declaration: Declaration) -> bool:
    """Whether its numbers need no other check, so that those of all runs are checked together."""
    is_real = declaration.kind != "integer" and declaration.dtype not in (int, bool)
    return is_real and declaration.convert is None


def _is_within(declaration: Declaration, values: NDArray[np.float64]) -> NDArray[np.bool_]:
    low = -np.inf if declaration.minimum is None else declaration.minimum
    high = np.inf if declaration.maximum is None else declaration.maximum
    is_within: NDArray[np.bool_] = (values >= low) & (values <= high)
    return is_within


def _one(system: System, path: str, value: Any, run: int) -> NDArray[np.float64]:
    """A value as `System.write` reads it; the error says of which run it is."""
    try:
        return system.numbers_of(path, value)
    except CosimError as error:
        raise StateError(f"run {run}: {str(error).removeprefix(f'{path}: ')}") from None
