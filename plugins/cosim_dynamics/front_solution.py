"""Multipliers and corrections of a group that was eliminated along the tree, in kernel functions."""

from __future__ import annotations

from typing import Any

from cosim_dynamics.cached_vectors import reals_at, spatial_at
from cosim_dynamics.front_factorization import IS_OFF, column_of, pivot_of
from cosim_dynamics.group_records import candidates_of, fronts_of, targets_of
from cosim_dynamics.mechanism import dofs_of
from cosim_dynamics.spatial_vectors import dot6


def solve_along_tree(c: Any, mechanism: Any, group: Any, arrays: Any) -> None:
    """The multipliers that make the values of a group zero; what they change lies in its pivots."""
    fronts = fronts_of(mechanism, group)
    for front in fronts:
        values = reals_at(c, front.values, front.size)
        for i in range(len(values)):
            values[i] = 0.0
    for r in range(len(arrays.multipliers)):
        arrays.multipliers[r] = 0.0
    for front in fronts:
        reduce_values(c, mechanism, front, arrays)
        if front.parent >= 0:
            next_values = reals_at(c, fronts[front.parent].values, fronts[front.parent].size)
            values = reals_at(c, front.values, front.size)
            for i, target in enumerate(targets_of(mechanism, front)):
                if target.variable >= 0:
                    next_values[target.variable] += values[i]
    for n in range(len(fronts) - 1, -1, -1):
        front = fronts[n]
        values = reals_at(c, front.values, front.size)
        if front.parent >= 0:
            next_values = reals_at(c, fronts[front.parent].values, fronts[front.parent].size)
            for i, target in enumerate(targets_of(mechanism, front)):
                values[i] = next_values[target.variable] if target.variable >= 0 else 0.0
        else:
            for i in range(len(values)):
                values[i] = 0.0
        substitute_back(c, mechanism, front, arrays)


def reduce_values(c: Any, mechanism: Any, front: Any, arrays: Any) -> None:
    """Right sides of a front, and of what is left of it."""
    values = reals_at(c, front.values, front.size)
    candidates = candidates_of(mechanism, front)
    for candidate in candidates:
        if candidate.is_first != 0 and arrays.state_of_equations[candidate.equation] != IS_OFF:
            values[candidate.variable] -= arrays.values[candidate.equation]
    number = 0
    dofs = dofs_of(mechanism, mechanism.links[front.link])
    for i in range(len(dofs) - 1, -1, -1):
        reduce_by(c, front, number, values, dot6(spatial_at(values, 0), spatial_at(c, dofs[i].S)))
        number += 1
    for candidate in candidates:
        if pivot_of(c, front, number).divisor != 0.0:
            reduce_by(c, front, number, values, values[candidate.variable])
            values[candidate.variable] = 0.0
        number += 1


def reduce_by(c: Any, front: Any, number: int, values: Any, value: float) -> None:
    """Take what was eliminated out of the right sides."""
    pivot = pivot_of(c, front, number)
    pivot.value = value
    if value != 0.0:
        x = value / pivot.divisor
        column = column_of(c, front, number)
        for i in range(len(column)):
            values[i] -= x * column[i]


def substitute_back(c: Any, mechanism: Any, front: Any, arrays: Any) -> None:
    """The solution of what was eliminated in a front, last first; the rest of its variables is known."""
    values = reals_at(c, front.values, front.size)
    candidates = candidates_of(mechanism, front)
    dofs = dofs_of(mechanism, mechanism.links[front.link])
    number = len(dofs) + len(candidates) - 1
    for i in range(len(candidates) - 1, -1, -1):
        if pivot_of(c, front, number).divisor != 0.0:
            candidate = candidates[i]
            values[candidate.variable] = 0.0
            x = solve_one(c, front, number, values)
            values[candidate.variable] = x
            arrays.multipliers[candidate.equation] = x
        number -= 1
    for dof in dofs:
        x = solve_one(c, front, number, values)
        S = spatial_at(c, dof.S)
        for i in range(6):
            values[i] += x * S[i]
        number -= 1


def solve_one(c: Any, front: Any, number: int, values: Any) -> float:
    """Solve for an eliminated variable from those it was coupled with; store it as the pivot's value."""
    pivot = pivot_of(c, front, number)
    x = pivot.value
    column = column_of(c, front, number)
    for i in range(len(column)):
        x -= column[i] * values[i]
    x /= pivot.divisor
    pivot.value = x
    return x


def apply_corrections(c: Any, mechanism: Any, group: Any, correction: Any) -> None:
    """Write the corrections of a group's speeds."""
    for front in fronts_of(mechanism, group):
        dofs = dofs_of(mechanism, mechanism.links[front.link])
        for i, dof in enumerate(dofs):
            correction[dof.number] = pivot_of(c, front, len(dofs) - 1 - i).value
