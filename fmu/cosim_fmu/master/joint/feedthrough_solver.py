"""A closed loop of direct feedthrough between FMUs, solved at each evaluation."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import numpy as np
from numpy.typing import NDArray

from cosim_fmu.master.loop.damped_step import damped_step

TOLERANCE = 1e-13
"""Of the values on a loop, relative: the integrator's own tolerances go down to 1e-12."""
GOOD_ENOUGH = 1e-10
"""Where rounding in the FMUs lets nothing better be reached."""
MOST_STEPS = 40
LEAST = 2.0**-26
"""Of a singular matrix that differences have found this much is left at most, relative."""

Vector = NDArray[np.float64]


class FeedthroughSolver:
    """Newton's method for x = G(x), where x are the outputs on a loop and G what the FMUs make of them.

    The Jacobian is found by differences and kept from evaluation to evaluation as long as the residual falls
    to a tenth with it.

    Parameters
    ----------
    path : str
        The loop in words.
    names : sequence of str
        ``participant.output`` of each value.
    through : callable
        G: passes values on to the inputs, and reads the outputs.

    Attributes
    ----------
    values : ndarray or None
        The last solution, from which the next search begins.
    inverse : ndarray or None
        Of 1 - dG/dx.
    """

    def __init__(
        self, path: str, names: Sequence[str], through: Callable[[Sequence[float]], Sequence[float]]
    ) -> None:
        self.path, self._names, self._through = path, list(names), through
        self.values: Vector | None = None
        self.inverse: Vector | None = None

    def solve(self, first: Sequence[float]) -> str:
        """Leave the FMUs with values that fit each other.

        Parameters
        ----------
        first : sequence of float
            Where the search begins when nothing better is known.

        Returns
        -------
        str
            Why there are no such values, "" when there are.
        """
        x = np.array(first, dtype=np.float64) if self.values is None else self.values
        g = self._pass(x)
        residual, fresh, least = self._residual(x, g), False, np.inf
        for _ in range(MOST_STEPS):
            if not np.all(np.isfinite(g)):
                return self._failed(x, g, "a value is not finite")
            if residual <= TOLERANCE or (residual <= GOOD_ENOUGH and residual >= 0.5 * least):
                self.values = x
                return ""
            if self.inverse is None or (residual > 0.1 * least and not fresh):
                reason = self._differentiate(x, g)
                if reason:
                    return self._failed(x, g, reason)
                fresh = True
            else:
                fresh = False
            least = min(least, residual)
            assert self.inverse is not None
            x, g = damped_step(self._pass, x, g, self.inverse @ (g - x))
            residual = self._residual(x, g)
        return self._failed(x, g, f"{MOST_STEPS} Newton steps did not find any")

    def _pass(self, x: Vector) -> Vector:
        return np.array(self._through(x.tolist()), dtype=np.float64)

    def _residual(self, x: Vector, g: Vector) -> float:
        return float(np.max(np.abs(g - x) / np.maximum(1.0, np.abs(x)))) if np.all(np.isfinite(g)) else np.inf

    def _differentiate(self, x: Vector, g: Vector) -> str:
        slope = np.empty((x.size, x.size))
        for j in range(x.size):
            moved = x.copy()
            moved[j] += 2.0**-20 * max(1.0, abs(x[j]))
            slope[:, j] = (self._pass(moved) - g) / (moved[j] - x[j])
        matrix = np.eye(x.size) - slope
        self.inverse = None
        if not np.all(np.isfinite(matrix)):
            return "a value is not finite"
        if _is_singular(matrix):
            return "its Jacobian is singular, so that there is none or many"
        self.inverse = np.asarray(np.linalg.inv(matrix), dtype=np.float64)
        return ""

    def _failed(self, x: Vector, g: Vector, why: str) -> str:
        self.values = self.inverse = None
        off = ", ".join(f"{n} by {abs(b - a):.3g}" for n, a, b in zip(self._names, x, g, strict=True))
        return f"the loop {self.path} has no solution that can be found: {why}; off at the end: {off}"

    def memory(self) -> list[list[float]]:
        """Where the next search begins: saved with the states, for the same bits afterwards."""
        return [[] if kept is None else kept.ravel().tolist() for kept in (self.values, self.inverse)]

    def put_back(self, memory: Sequence[Sequence[float]]) -> None:
        """From `memory`."""
        values, inverse = (np.array(kept, dtype=np.float64) for kept in memory)
        size = len(self._names)
        self.values = values if values.size else None
        self.inverse = inverse.reshape(size, size) if inverse.size else None


def _is_singular(matrix: Vector) -> bool:
    """Whether it is none that can be inverted, in whatever units its values are."""
    rows = np.max(np.abs(matrix), axis=1, keepdims=True)
    if np.any(rows < LEAST):
        return True
    even = matrix / rows
    columns = np.max(np.abs(even), axis=0, keepdims=True)
    return bool(np.any(columns == 0.0) or np.linalg.svd(even / columns, compute_uv=False)[-1] < LEAST)
