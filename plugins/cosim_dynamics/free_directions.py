"""The directions that constraints leave free, by the null spaces of their Jacobians."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics.tangent import Tangent
from cosim_mechanics import contracts

Array = NDArray[np.float64]
REPETITION = 1e-8
"""A row that others represent up to this part of the largest one repeats them."""


def holds(system: cosim.System) -> bool:
    """Whether a system has constraints."""
    return any(isinstance(part, contracts.Constraint) for part in system.parts.values())


def constraint_errors(state: cosim.State, level: str) -> Array:
    """Position or velocity errors of all equations that hold positions or speeds, and are turned on.

    Parameters
    ----------
    level : str
        "position" or "velocity".
    """
    values: Array = state.system.arrays(state.realize(cosim.Stage.ACCELERATION)).c[
        _error_places(state, level)
    ]
    return values.copy()


def _error_places(state: cosim.State, level: str) -> NDArray[np.int64]:
    """Places of the constraint errors in the cache."""
    places: list[int] = []
    for name, part in state.system.parts.items():
        if isinstance(part, contracts.Constraint) and state[f"{name}.enabled"]:
            slot = state.system.signal(f"{name}.{level}_error").slot
            levels = ("position",) if level == "position" else ("position", "velocity")
            places += [
                offset
                for offset, level_of_equation in zip(slot.elements, part.levels(), strict=True)
                if level_of_equation in levels
            ]
    return np.array(places, dtype=np.int64)


def velocity_jacobian(state: cosim.State) -> Array:
    """G of the equations that hold speeds, by differences, which are exact: errors are linear in speeds."""
    probe, nu = state.copy(), state.system.nu
    probe.set_u(np.zeros(nu))
    origin = constraint_errors(probe, "velocity")
    columns = []
    for unit in np.eye(nu):
        probe.set_u(unit)
        columns.append(constraint_errors(probe, "velocity") - origin)
    return np.array(columns).T.reshape(origin.size, nu)


def null_space(G: Array) -> Array:
    """Directions x of length 1, perpendicular to each other, with G x = 0; one in each column."""
    if not G.shape[0]:
        return np.eye(G.shape[1])
    _, values, directions = np.linalg.svd(G)
    rank = int(np.sum(values > REPETITION * values.max(initial=0.0)))
    null_directions: Array = directions[rank:].T
    return null_directions


def independent(state: cosim.State, tangent: Tangent) -> tuple[list[int], Array]:
    """States that change freely while all others follow from constraints.

    Parameters
    ----------
    tangent : Tangent
        The directions of the State, n of them.

    Returns
    -------
    list of int, ndarray of shape (n, independent)
        The indices of the free ones, and the changes of all n with each of these.
    """
    n = len(tangent.names)
    if not holds(state.system):
        return list(range(n)), np.eye(n)

    position_errors, velocity_errors = (_error_places(state, level) for level in ("position", "velocity"))
    tangents, places = state.system.tangents, [*position_errors, *velocity_errors]
    realized = state.copy().realize(cosim.Stage.ACCELERATION)
    rows = [tangents.along(realized, y=x, last=cosim.Stage.ACCELERATION)[places] for x in tangent.basis.T]
    E = np.array(rows).reshape(n, len(places)).T
    position_count = len(position_errors)
    q = tangent.displacements
    u = np.flatnonzero(abs(tangent.basis[state.system.nq : state.system.nq + state.system.nu]).sum(axis=0))
    positions = [int(q[j]) for j in dependent(E[:position_count][:, q], [])]
    # speeds in pairs with their coordinates, as far as possible
    pairs = [int(np.flatnonzero(q == j)[0]) for j in positions]
    speeds = [int(u[j]) for j in dependent(E[position_count:][:, u], pairs)]
    follow = [*positions, *speeds]
    free = [j for j in range(n) if j not in follow]
    basis = np.zeros((n, len(free)))
    basis[free, range(len(free))] = 1.0
    basis[follow] = -np.linalg.lstsq(E[:, follow], E[:, free], rcond=REPETITION)[0]
    return free, basis


def dependent(G: Array, first: list[int]) -> list[int]:
    """Columns of G as many as it has rank, with which its equations can be solved: best ones first.

    Parameters
    ----------
    first : list of int
        Columns that are taken before others, as far as they are independent.
    """
    rest, largest = G.copy(), float(np.abs(G).max(initial=0.0))
    chosen: list[int] = []
    open_ = list(first)
    while True:
        sizes = np.linalg.norm(rest, axis=0)
        sizes[chosen] = 0.0
        among = [j for j in open_ if sizes[j] > 1e-3 * largest] or range(G.shape[1])
        best = max(among, key=lambda j: float(sizes[j]), default=-1)
        if best < 0 or sizes[best] <= REPETITION * largest:
            return chosen
        chosen.append(best)
        open_ = [j for j in open_ if j != best]
        along = rest[:, best] / sizes[best]
        rest -= np.outer(along, along @ rest)
