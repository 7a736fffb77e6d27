"""The coefficients of an explicit Runge–Kutta method, checked when they are put together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from cosim.errors import ModelError, Problem
from cosim.integration import explicit_stages
from cosim.integration.order_conditions import density, elementary_weights, rooted_trees

HIGHEST_CHECKED = 8
TOLERANCE = 1e-11


class ButcherTableau:
    """Coefficients of an explicit Runge–Kutta method, with error estimate and dense output.

    Law: k_i = f(t + c_i h, y + h sum_j a_ij k_j),  y_next = y + h sum_i b_i k_i,
    error = h sum_i e_i k_i,  y(t + s h) = y + h sum_i k_i sum_j P_ij s^(j + 1) for 0 <= s <= 1.

    All order conditions (one for each rooted tree) are checked for the solution, for the error
    weights and for the dense output, so that a mistyped coefficient is found at once.

    Parameters
    ----------
    order : int
        Order of the solution, 1 … 8.
    a : sequence of sequences of float
        Row i holds the i coefficients before the diagonal (an empty row for the first stage).
    b, c : sequence of float, shape (stages,)
        Weights and nodes.
    error : sequence of float, shape (stages,), optional
        Weights e of the error estimate, b minus the weights of the embedded method. Without them
        the method can only be used with a fixed step.
    dense : sequence of sequences of float, shape (stages, degree), optional
        Coefficients P of the dense output. Without them a cubic Hermite polynomial is used.

    Attributes
    ----------
    stages : int
    order, error_order, dense_order : int
        Orders of the solution; of the embedded method (0 when there is none); of the dense output.
    first_same_as_last : bool
        Whether the last stage is the derivative at the end of the step.
    coefficients : ndarray
        Everything as one flat array; see `cosim.integration.explicit_stages`.

    Raises
    ------
    ModelError
        With every violated condition.

    References
    ----------
    J. C. Butcher, "Coefficients for the study of Runge-Kutta integration processes", Journal of the
    Australian Mathematical Society 3 (1963), for the conditions.

    Examples
    --------
    >>> ralston = ButcherTableau(order=2, a=[[], [2 / 3]], b=[1 / 4, 3 / 4], c=[0, 2 / 3])
    >>> ralston.stages, ralston.error_order, ralston.first_same_as_last
    (2, 0, False)
    """

    def __init__(
        self,
        *,
        order: int,
        a: Sequence[Sequence[float]],
        b: Sequence[float],
        c: Sequence[float],
        error: Sequence[float] | None = None,
        dense: Sequence[Sequence[float]] | None = None,
    ) -> None:
        problems = _shape_problems(order, a, b, c, error, dense)
        if problems:
            raise ModelError(problems)
        self.order = order
        self.stages = len(b)
        self.a = np.zeros((self.stages, self.stages))
        for i, row in enumerate(a):
            self.a[i, :i] = row
        self.b, self.c = np.array(b, dtype=float), np.array(c, dtype=float)
        self.error = None if error is None else np.array(error, dtype=float)
        self.dense = None if dense is None else np.array(dense, dtype=float)
        problems = list(self._order_problems())
        if problems:
            raise ModelError(problems)
        self.error_order = 0 if self.error is None else self._reached(self.error, exact=False)
        self.dense_order = min(order, 3) if self.dense is None else self._reached_dense()
        self.first_same_as_last = bool(self.c[-1] == 1.0 and np.array_equal(self.a[-1], self.b))
        self.coefficients = self._flat()

    def _order_problems(self) -> Iterator[Problem]:
        for i in range(self.stages):
            if abs(self.a[i].sum() - self.c[i]) > TOLERANCE * (1.0 + abs(self.a[i]).sum()):
                yield _problem(
                    f"row {i} of a sums to {self.a[i].sum():.17g}, but c[{i}] is {self.c[i]:.17g}."
                )
        reached = self._reached(self.b, exact=True)
        if reached < self.order:
            yield _problem(
                f"b fulfils the order conditions up to order {reached}, not {self.order}: "
                f"correct a coefficient, or say order={reached}."
            )
        if self.error is not None and not self.error.any():
            yield _problem(
                "the error weights are all zero; leave them out for a method without error estimate."
            )
        if self.error is not None and self._reached(self.error, exact=False) < 1:
            yield _problem(f"the error weights sum to {self.error.sum():.3g}, must sum to 0.")
        if self.dense is not None:
            if np.abs(self.dense.sum(axis=1) - self.b).max() > TOLERANCE:
                yield _problem("the rows of dense must sum to b (the dense output must end at the solution).")
            elif self._reached_dense() < 1:
                yield _problem(
                    "dense does not fulfil the condition of order 1: its first column must sum to 1."
                )

    def _reached(self, weights: NDArray[np.float64], *, exact: bool) -> int:
        """Highest order whose conditions the weights fulfil: 1 / gamma, or 0 for differences of methods."""
        for order in range(1, HIGHEST_CHECKED + 1):
            for tree in rooted_trees(order):
                wanted = 1.0 / density(tree) if exact else 0.0
                terms = weights * elementary_weights(self.a, tree)
                if abs(terms.sum() - wanted) > TOLERANCE * (1.0 + np.abs(terms).sum()):
                    return order - 1
        return self.order if not exact else HIGHEST_CHECKED

    def _reached_dense(self) -> int:
        """Highest order of the dense output: sum_i b_i(s) Phi_i = s^r / gamma, power by power."""
        assert self.dense is not None
        for order in range(1, HIGHEST_CHECKED + 1):
            for tree in rooted_trees(order):
                terms = elementary_weights(self.a, tree)[:, None] * self.dense
                wanted = np.zeros(max(self.dense.shape[1], order))
                wanted[order - 1] = 1.0 / density(tree)
                found = np.zeros_like(wanted)
                found[: self.dense.shape[1]] = terms.sum(axis=0)
                if np.abs(found - wanted).max() > TOLERANCE * (1.0 + np.abs(terms).sum()):
                    return order - 1
        return HIGHEST_CHECKED

    def _flat(self) -> NDArray[np.float64]:
        """The flat array that `cosim.integration.explicit_stages` describes."""
        none = np.zeros(self.stages)
        rows = [*self.a, self.b, none if self.error is None else self.error, none, none]
        first_row = explicit_stages.TABLEAU_HEADER + self.stages
        at = first_row + len(rows)
        starts, body = [], []
        for row in rows:
            nonzero = np.flatnonzero(row)
            entry = [float(nonzero.size)] + [x for j in nonzero for x in (float(j), float(row[j]))]
            starts.append(float(at))
            body += entry
            at += len(entry)
        header = np.zeros(explicit_stages.TABLEAU_HEADER)
        header[explicit_stages.STAGES] = self.stages
        header[explicit_stages.SAME] = self.first_same_as_last
        header[explicit_stages.HAS_ERROR] = self.error is not None
        header[explicit_stages.ORDER] = self.order
        header[explicit_stages.ROWS_AT] = first_row
        header[explicit_stages.DENSE_AT] = at
        dense = []
        if self.dense is not None:
            header[explicit_stages.DEGREE] = self.dense.shape[1]
            dense = [*self.dense.ravel(), *np.zeros(self.dense.shape[1])]
        return np.array([*header, *self.c, *starts, *body, *dense])


def _problem(text: str) -> Problem:
    return Problem("ButcherTableau", text)


def _shape_problems(
    order: int,
    a: Sequence[Sequence[float]],
    b: Sequence[float],
    c: Sequence[float],
    error: Sequence[float] | None,
    dense: Sequence[Sequence[float]] | None,
) -> list[Problem]:
    stages = len(b)
    problems = []
    if not 1 <= order <= HIGHEST_CHECKED:
        problems.append(_problem(f"order is {order}, must be 1 … {HIGHEST_CHECKED}."))
    if stages == 0:
        problems.append(_problem("b is empty; a method has at least one stage."))
    if [len(row) for row in a] != list(range(stages)):
        problems.append(
            _problem(
                f"a has rows of lengths {[len(row) for row in a]}, must be {list(range(stages))} (explicit)."
            )
        )
    for name, given in (("c", c), ("error", error), ("dense", dense)):
        if given is not None and len(given) != stages:
            problems.append(_problem(f"{name} has {len(given)} entries, must have {stages}, as b has."))
    if dense is not None and len({len(row) for row in dense}) > 1:
        problems.append(_problem("the rows of dense must all have the same length."))
    if not problems:
        numbers = [
            *b,
            *c,
            *(error or ()),
            *(x for row in a for x in row),
            *(x for row in dense or () for x in row),
        ]
        if not all(math.isfinite(x) for x in numbers):
            problems.append(_problem("every coefficient must be a finite number."))
    return problems
