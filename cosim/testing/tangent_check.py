"""Comparing tangents with differences, for tests of tangents that authors have written."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.stage import Stage
from cosim.system.state import State

Reals = NDArray[np.float64]
STEPS = (1e-3, 5e-4)
"""In parts of the size of a state: two, so that it is seen where differences settle."""
SETTLED, AGREES = 1e-7, 1e-6


def check_tangents(state: State, by: dict[str, Any] | None = None) -> None:
    """Compare the tangents of all that a system computes with differences of sixth order.

    What the two steps of differences disagree about, as at kinks, is left out.

    Parameters
    ----------
    state : State
        About which; it is not changed.
    by : dict of str to float or array_like, optional
        By how much states, parameters, inputs and discrete variables move, by their paths; all states in
        turn unless given.

    Raises
    ------
    AssertionError
        Naming the variable with the worst tangent, and both numbers.

    Examples
    --------
    >>> from cosim.testing import check_tangents
    >>> from cosim.testing.known_solution import known_system
    >>> check_tangents(known_system().default_state())
    """
    system = state.system
    state = state.copy().realize(Stage.REPORT)
    directions: list[tuple[dict[str, Any], Reals | None]] = [(by, None)] if by else []
    if not by:
        directions = [({}, unit) for unit in np.eye(system.ny)]
    for paths, y in directions:
        moved = system.tangents.moved(state, paths, y)
        estimates = [_differences(state, moved, step) for step in STEPS]
        size = 1.0 + np.abs(estimates[0])
        with np.errstate(all="ignore"):
            settled = np.abs(estimates[0] - estimates[1]) < SETTLED * size
            worst = np.where(settled, np.abs(moved["c"] - estimates[1]) / size, 0.0)
        worst = np.where(settled & np.isnan(moved["c"]), np.inf, worst)
        at = int(np.argmax(worst)) if worst.size else 0
        if worst.size and worst[at] > AGREES:
            path = next(iter(system.paths_at("c", [at])), f"a number of the cache, {at}")
            raise AssertionError(
                f"{path}: its tangent is {moved['c'][at]:.9g} along {paths or 'a state'}, "
                f"but differences give {estimates[1][at]:.9g}"
            )


def _differences(state: State, moved: dict[str, Reals], step: float) -> Reals:
    total: Any = 0.0
    for i, weight in ((1, 45.0), (2, -9.0), (3, 1.0)):
        total = total + weight * (_cache(state, moved, i * step) - _cache(state, moved, -i * step))
    rates: Reals = total / (60.0 * step)
    return rates


def _cache(state: State, moved: dict[str, Reals], step: float) -> Reals:
    other = state.copy()
    for letter in "ypd":
        other._arrays[letter][:] += step * moved[letter]
    other.invalidate(Stage.TOPOLOGY, "a difference")
    with np.errstate(all="ignore"):
        return np.array(state.system.arrays(other.realize(Stage.REPORT)).c)
