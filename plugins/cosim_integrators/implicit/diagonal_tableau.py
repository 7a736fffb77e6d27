"""Coefficients of diagonally implicit Runge–Kutta methods, checked when they are put together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import FixedAttributes
from cosim_integrators.implicit.diagonally_implicit import DiagonalNumbers
from cosim_integrators.kit.butcher_tableau import make_arrays_read_only
from cosim_integrators.kit.order_conditions import density, elementary_weights, rooted_trees

TOLERANCE = 1e-11  # of an order condition: coefficients have about 16 digits


class DiagonalTableau(FixedAttributes):
    """A method with an explicit first stage and one number on the diagonal of all others.

    Law: k_1 = f(t, y), k_i = f(t + c_i h, y + h sum_{j < i} a_ij k_j + h gamma k_i); the last stage is the
    end of the step; error = h sum_i e_i k_i, y(t + s h) = y + h sum_i k_i sum_j P_ij s^(j + 1).

    Row sums and all order conditions (one for each rooted tree) are checked for the solution, for the
    error weights and for the dense output.

    Parameters
    ----------
    order : int
        Of the solution.
    a : sequence of sequences of float
        Row i holds the i + 1 coefficients up to the diagonal; [0] for the first stage.
    error : sequence of float, optional
        Weights e, those of the solution minus those of the embedded method; without them the method
        estimates its error in another way.
    dense : sequence of sequences of float, shape (stages, degree)
        Coefficients P of the dense output.
    dense_order : int
        Of the dense output.

    Raises
    ------
    ModelError
        With every violated condition.
    """

    def __init__(
        self,
        *,
        order: int,
        a: Sequence[Sequence[float]],
        dense: Sequence[Sequence[float]],
        dense_order: int,
        error: Sequence[float] | None = None,
    ) -> None:
        self.order, self.dense_order = order, dense_order
        self.stages = len(a)
        self.a = np.zeros((self.stages, self.stages))
        for i, row in enumerate(a):
            self.a[i, : i + 1] = row
        self.b, self.c = self.a[-1], self.a.sum(axis=1)
        self.error = np.zeros(self.stages) if error is None else np.array(error, dtype=float)
        self.dense = np.array(dense, dtype=float)
        self.gamma = float(self.a[1, 1])
        problems = list(self._problems())
        if problems:
            raise cosim.ModelError(problems)
        self.error_order = order - 1 if error is None else self._order_of_difference(self.error)
        make_arrays_read_only(self)

    def _problems(self) -> Iterator[cosim.Problem]:
        diagonal = np.diag(self.a)
        if diagonal[0] != 0.0 or (diagonal[1:] != self.gamma).any() or not self.gamma > 0.0:
            yield _problem(f"the diagonal is {diagonal.tolist()}, must be 0 and then one positive number.")
        if abs(self.c[-1] - 1.0) > TOLERANCE or (self.c > 1.0 + TOLERANCE).any():
            yield _problem(f"the nodes are {self.c.tolist()}, the last and largest one must be 1.")
        for size in range(1, self.order + 1):
            for tree in rooted_trees(size):
                weights = elementary_weights(self.a, tree)
                if abs(self.b @ weights - 1.0 / density(tree)) > TOLERANCE:
                    yield _problem(f"the last row violates a condition of order {size}: tree {tree}.")
                if size <= self.dense_order:
                    required = np.zeros(self.dense.shape[1])
                    required[size - 1] = 1.0 / density(tree)
                    if np.abs(weights @ self.dense - required).max() > TOLERANCE:
                        yield _problem(f"dense violates a condition of order {size}: tree {tree}.")
        if np.abs(self.dense.sum(axis=1) - self.b).max() > TOLERANCE:
            yield _problem("the rows of dense must sum to the last row of a.")
        if abs(self.error.sum()) > TOLERANCE:
            yield _problem(f"the error weights sum to {self.error.sum():.3g}, must sum to 0.")

    def _order_of_difference(self, weights: NDArray[Any]) -> int:
        """Highest order up to which the weights of the difference of two methods vanish."""
        for size in range(1, self.order + 1):
            for tree in rooted_trees(size):
                if abs(weights @ elementary_weights(self.a, tree)) > TOLERANCE:
                    return size - 1
        return self.order

    @property
    def guesses(self) -> NDArray[Any]:
        """Weights that extrapolate earlier stages to a first guess of each stage, shape (stages, stages).

        The guess lies on the line through the two earlier stages with the nearest nodes; that of the first
        implicit stage is the explicit one. Polynomials of higher degree overshoot where the step grows over a
        transient.
        """
        result = np.zeros((self.stages, self.stages))
        for i in range(1, self.stages):
            distance = np.abs(self.c[:i] - self.c[i])
            chosen = np.argsort(distance, kind="stable")[:2]
            for j in chosen:
                other_nodes = [self.c[k] for k in chosen if k != j]
                result[i, j] = math.prod((self.c[i] - x) / (self.c[j] - x) for x in other_nodes)
        return result

    def flat(self) -> NDArray[Any]:
        """Everything as one flat array; see `diagonally_implicit`."""
        numbers = DiagonalNumbers(
            stages=self.stages,
            gamma=self.gamma,
            exponent=self.error_order + 1,
            has_weights=bool(self.error.any()),
            degree=self.dense.shape[1],
        )
        body = [self.c, self.a.ravel(), self.error, self.guesses.ravel(), self.dense.ravel()]
        return np.concatenate([np.frombuffer(numbers), *body])


def _problem(text: str) -> cosim.Problem:
    return cosim.Problem("DiagonalTableau", text)
