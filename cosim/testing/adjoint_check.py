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
    compared = 0
    for row in rows:
        values = [np.array(array) for array in system.arrays(state)]
        moved = [draw.uniform(0.5, 1.5, values[i].size) for i in (0, 1, 2, 5)]
        time = float(draw.uniform(0.5, 1.5))
        weights = [draw.uniform(-1.0, 1.0, array.size) for array in moved]
        ends = [array.copy() for array in moved]
        system.tangents.follow(state, row, row + 1, values, (time, *ends[:3], values[4], ends[3]))
        direction = dict(zip("ypdc", moved, strict=True))
        *roots, t_bar = system.adjoints.reverse_walk(state, row, row + 1, weights, direction, time)
        with np.errstate(all="ignore"):
            forward = float(sum(w @ end for w, end in zip(weights, ends, strict=True)))
            back = float(sum(root @ v for root, v in zip(roots, moved, strict=True)) + t_bar * time)
            size = sum(np.abs(w) @ np.abs(end) for w, end in zip(weights, ends, strict=True))
            size += sum(np.abs(root) @ v for root, v in zip(roots, moved, strict=True)) + abs(t_bar)
        if not np.isfinite(size):
            continue
        compared += 1
        if not abs(forward - back) <= AGREES * size:
            raise AssertionError(
                f"{_name(state, row)}: its adjoint gives {back:.15g} where its tangent gives {forward:.15g}"
            )
    return compared


def _name(state: State, row: int) -> str:
    name: str = state.system.tangents.function_of(row).__qualname__
    return name
