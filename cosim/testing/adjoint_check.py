"""Comparing adjoints with tangents, block by block."""

from __future__ import annotations

from collections.abc import Iterable

import numpy as np

from cosim.stage import Stage
from cosim.system.state import State

AGREES = 1e-11
"""By so much of the sizes of what is added up may both sums differ."""


def check_adjoints(state: State, rows: Iterable[int] | None = None, seed: int = 0) -> int:
    """Compare the adjoint of each block of a system with its tangent: <w, J v> = <J' w, v>.

    Parameters
    ----------
    state : State
        About which; it is not changed.
    rows : iterable of int, optional
        Of the table; those of the schedule up to Report unless given.
    seed : int
        Of the directions v and the weights w.

    Returns
    -------
    int
        How many blocks were compared: those whose tangents are finite.

    Raises
    ------
    AssertionError
        Naming the block, and both numbers.
    NoTangentError
        A block has no adjoint.

    Examples
    --------
    >>> from cosim.testing import check_adjoints
    >>> from cosim.testing.known_solution import known_system
    >>> check_adjoints(known_system().default_state()) > 0
    True
    """
    system = state.system
    state = state.copy().realize(Stage.REPORT)
    draw = np.random.default_rng(seed)
    rows = list(range(*system.block_range(Stage.TOPOLOGY, Stage.REPORT)) if rows is None else rows)
    for row, reason in system.adjoints.prepare(rows).items():
        raise AssertionError(f"{_name(state, row)} has no adjoint: {reason}")
    system.tangents.prepare(rows)
    return sum(_compare_row(state, row, draw) for row in rows)


def _compare_row(state: State, row: int, draw: np.random.Generator) -> bool:
    """Compare the two sums of a row of the table; False where they are not finite."""
    system = state.system
    values = [np.array(array) for array in system.arrays(state)]
    directions = [draw.uniform(0.5, 1.5, values[i].size) for i in (0, 1, 2, 5)]  # of y, p, d and c
    time = float(draw.uniform(0.5, 1.5))
    weights = [draw.uniform(-1.0, 1.0, array.size) for array in directions]
    tangents = [array.copy() for array in directions]
    system.tangents.follow(state, row, row + 1, values, (time, *tangents[:3], values[4], tangents[3]))
    by = dict(zip("ypdc", directions, strict=True))
    *adjoints, time_adjoint = system.adjoints.reverse_walk(state, row, row + 1, weights, by, time)
    with np.errstate(all="ignore"):
        forward = [w @ tangent for w, tangent in zip(weights, tangents, strict=True)]
        back = [adjoint @ v for adjoint, v in zip(adjoints, directions, strict=True)]
        difference = abs(float(sum(forward)) - float(sum(back) + time_adjoint * time))
        size = sum(np.abs(w) @ np.abs(tangent) for w, tangent in zip(weights, tangents, strict=True))
        size += sum(np.abs(adjoint) @ v for adjoint, v in zip(adjoints, directions, strict=True))
        size += abs(time_adjoint)
    if not np.isfinite(size):
        return False
    if not difference <= AGREES * size:
        raise AssertionError(
            f"{_name(state, row)}: its adjoint gives {float(sum(back) + time_adjoint * time):.15g} where its "
            f"tangent gives {float(sum(forward)):.15g}"
        )
    return True


def _name(state: State, row: int) -> str:
    name: str = state.system.tangents.function_of(row).__qualname__
    return name
