"""A start that is moved a little, to see what that does."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from cosim import Result, Stage, State, System
from cosim_workbench.agreement import size_of

Reals = NDArray[np.float64]
ROUNDING = 2.0**-52
STATES = ("position", "speed", "auxiliary")
"""Kinds of variables that are continuous states."""
NEGLIGIBLE = 1e-12
"""A state that stays below this part of another one of its unit may be rounding."""


def state_paths(system: System) -> list[str]:
    """Paths of all continuous states that can be recorded."""
    return [path for path, variable in system.variables.items() if variable.kind in STATES]


def sizes_of_states(system: System, result: Result) -> dict[str, float]:
    """The largest value of each continuous state in a run, by the name of its column.

    If that is zero or rounding, the size is that of the largest signal of the same unit. If these are zero,
    too, it is that of the largest signal of all, but at most 1; it is 1 if all signals are zero.

    Parameters
    ----------
    system : System
    result : Result
        The result of the run.
    """
    columns = {name: size_of(values) for name, values in result.columns().items()}
    largest: dict[str, float] = {}
    for name, size in columns.items():
        unit = result.unit(name)
        largest[unit] = max(largest.get(unit, 0.0), size)
    largest_of_all = max(columns.values(), default=0.0)
    sizes = {}
    for name, _ in states_of(system):
        unit = result.unit(name) if name in result else "1"
        size_of_state, of_unit = columns.get(name, 0.0), largest.get(unit, 0.0)
        if size_of_state <= NEGLIGIBLE * of_unit:
            size_of_state = of_unit or min(largest_of_all, 1.0) or 1.0
        sizes[name] = size_of_state
    return sizes


def states_of(system: System) -> Iterator[tuple[str, int]]:
    """Name of the column and place in y of each continuous state that can be recorded."""
    for path, variable in system.variables.items():
        if variable.kind in STATES:
            for i in range(variable.slot.size):
                yield f"{path}[{i}]" if variable.slot.size > 1 else path, variable.slot.offset + i


def reach_of_states(system: System, start: State, span: float) -> dict[str, float]:
    """The reach of each continuous state at its first rate; of a position, at the speeds of its part.

    It is a scale for moves of states that are near zero.

    Parameters
    ----------
    system : System
    start : State
    span : float
        Length of the run, s.
    """
    rates = np.abs(start.copy().realize(Stage.ACCELERATION).y_dot)
    reach = {name: float(rates[offset]) * span for name, offset in states_of(system)}
    fastest: dict[str, float] = {}
    for name, offset in states_of(system):
        if system.nq <= offset < system.nq + system.nu:
            part = name.rpartition(".")[0]
            fastest[part] = max(fastest.get(part, 0.0), reach[name])
    for name, offset in states_of(system):
        if offset < system.nq:
            reach[name] = max(reach[name], fastest.get(name.rpartition(".")[0], 0.0) * span)
    return reach


def in_order(system: System, sizes: Mapping[str, float]) -> Reals:
    """The sizes of states in the order of y; 1 for those that cannot be recorded."""
    ordered = np.ones(system.ny)
    for name, offset in states_of(system):
        ordered[offset] = sizes[name]
    return ordered


def moved_by_rounding(y: Reals, sizes: Reals, direction: float) -> Reals:
    """Each state moved by one or two units in its last place, by turns, so differences of states move, too.

    A state that is zero is moved by the rounding of its size.
    """
    units = np.where(np.arange(y.size) % 2 == 0, 1.0, 2.0)
    steps = np.where(y != 0.0, np.spacing(np.abs(y)), ROUNDING * sizes)
    return y + direction * units * steps


def moved_by_part(y: Reals, sizes: Reals, part: float) -> Reals:
    """Each state moved by a part of its value, or of its size if the value is smaller than that."""
    scale = np.where(np.abs(y) > abs(part) * sizes, np.abs(y), sizes)
    return y + part * scale


def growth_of_rounding(system: System, moved: Result, other: Result, sizes: Mapping[str, float]) -> float:
    """The largest move of a state, over its size, between two runs whose starts differ by rounding.

    Infinite where a state was not recorded in one of them.
    """
    first, second, growth = moved.columns(), other.columns(), 0.0
    grid = np.intersect1d(moved.time, other.time)
    first_rows, second_rows = (np.searchsorted(result.time, grid, "right") - 1 for result in (moved, other))
    for name, _ in states_of(system):
        if name not in first or name not in second:
            return math.inf
        distance = np.abs(first[name][first_rows] - second[name][second_rows])
        largest = float(np.nan_to_num(distance, nan=math.inf).max(initial=0.0))
        growth = max(growth, largest / sizes[name])
    return growth
