"""The coefficients of an explicit Runge–Kutta method, checked when they are put together."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from cosim import ModelError, Problem
from cosim.kit import FixedAttributes
from cosim_integrators.kit.flat_tableau import flat_tableau
from cosim_integrators.kit.order_conditions import density, elementary_weights, rooted_trees
from cosim_integrators.kit.stability import stability_limit

HIGHEST_CHECKED = 10  # the number of conditions triples with each order; order 10 has 719 of its own
TOLERANCE = 1e-11  # of an order condition, relative to its terms: coefficients have about 16 digits
NO_WEIGHT = 1e-3  # of all error weights: what smaller sums show of a jump is lost beside the error itself


def make_arrays_read_only(owner: object) -> None:
    """Make the arrays among the attributes of an object read-only."""
    for value in vars(owner).values():
        if isinstance(value, np.ndarray):
            value.flags.writeable = False


class ButcherTableau(FixedAttributes):
    """Coefficients of an explicit Runge–Kutta method, with error estimate and dense output.

    Law: k_i = f(t + c_i h, y + h sum_j a_ij k_j),  y_next = y + h sum_i b_i k_i,
    error = h sum_i e_i k_i,  y(t + s h) = y + h sum_i k_i sum_j P_ij s^(j + 1) for 0 <= s <= 1.

    All order conditions (one for each rooted tree) are checked for the solution, for the error
    weights and for the dense output, so that a mistyped coefficient is found at once.

    Parameters
    ----------
    order : int
        Order of the solution, 1 … 10.
    a : sequence of sequences of float
        Row i holds the i coefficients before the diagonal (an empty row for the first stage).
    b, c : sequence of float, shape (stages,)
        Weights and nodes.
    error : sequence of float, shape (stages,), optional
        Weights e of the error estimate, b minus the weights of the embedded method. Without them
        the method can only be used with a fixed step.
    second_error : sequence of float, shape (stages,), optional
        Weights of another, lower estimate, which keeps the first one from being deceived, as in
        Dormand–Prince 8(5,3).
    extra : sequence of (float, sequence of float), optional
        Stages that only the dense output needs, each a node and its coefficients: of the stages, of the
        derivative at the end of the step, and of the extra stages before it.
    dense : sequence of sequences of float, shape (stages or stages + 1 + extra, degree), optional
        Coefficients P of the dense output, for the stages, the derivative at the end of the step and the
        extra stages. Without them a cubic Hermite polynomial is used.
    lift : float, optional
        Node of one more derivative, which lifts the cubic Hermite polynomial to a quartic: dense output of
        fourth order. The derivative is evaluated on the cubic, and only in steps whose dense output is read.
        At 1/2 all such quartics have the same derivative, so that this node is rejected; near
        (3 - sqrt 3) / 6 their derivatives differ most, and an error of the derivative counts least.

    Attributes
    ----------
    stages : int
    order, error_order, dense_order : int
        Orders of the solution; of the embedded method (0 when there is none); of the dense output.
    control_order : int
        The exponent of the step in the estimated error, as the step control sees it.
    first_same_as_last : bool
        Whether the last stage is the derivative at the end of the step.
    stability_limit : float
        How far the stability region reaches along the negative real axis: the largest stable h |lambda|.
    jump_weights : ndarray
        The error weights, enlarged so that their sum over the derivatives of the stages is at least as large
        as a jump between two stages. Empty where no such sum shows all jumps.
    coefficients : ndarray
        Everything as one flat array; see `cosim_integrators.kit.explicit_stages`.

    Raises
    ------
    ModelError
        With every violated condition.

    References
    ----------
    J. C. Butcher, "Coefficients for the study of Runge-Kutta integration processes", Journal of the
    Australian Mathematical Society 3 (1963), for the conditions. The lift is an interpolant as in W. H.
    Enright, K. R. Jackson, S. P. Nørsett, P. G. Thomsen, "Interpolants for Runge-Kutta formulas", ACM
    Transactions on Mathematical Software 12 (1986), abstract; its coefficients follow from the conditions.

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
        second_error: Sequence[float] | None = None,
        extra: Sequence[tuple[float, Sequence[float]]] = (),
        dense: Sequence[Sequence[float]] | None = None,
        lift: float | None = None,
    ) -> None:
        problems = _shape_problems(
            order, a, b, c, {"error": error, "second_error": second_error}, extra, dense
        )
        if lift is not None:
            problems += _lift_problems(lift, is_alone=not extra and dense is None)
        if problems:
            raise ModelError(problems)
        self.order = order
        self.stages = len(b)
        self.b, self.c = np.array(b, dtype=float), np.array(c, dtype=float)
        self.error = None if error is None else np.array(error, dtype=float)
        self.second_error = None if second_error is None else np.array(second_error, dtype=float)
        self.lift = lift
        if lift is not None:
            extra, dense = lifted(b, lift)
        # With the end of the step and the extra stages as further rows, for the dense output.
        self.extra = len(extra)
        size = self.stages + 1 + self.extra
        self._all_a = _filled(size, [*a, b, *(row for _, row in extra)])
        self._all_c = np.array([*c, 1.0, *(node for node, _ in extra)])
        self.a = self._all_a[: self.stages, : self.stages]
        self.dense: NDArray[np.float64] | None = None
        if dense is not None:
            self.dense = np.zeros((size, len(dense[0])))
            self.dense[: len(dense)] = dense
        self.first_same_as_last = bool(self.c[-1] == 1.0 and np.array_equal(self.a[-1], self.b))
        problems = list(self._order_problems())
        if problems:
            raise ModelError(problems)
        self.error_order = 0 if self.error is None else self._order_of(self.error, exact=False)
        self.control_order = self.error_order + 1
        if self.second_error is not None:
            # the mixture of both estimates is E5^2 / E3 where the second one is the larger
            self.control_order = 2 * self.control_order - self._order_of(self.second_error, exact=False) - 1
        self.dense_order = min(order, 3) if self.dense is None else self._order_of_dense_output()
        self.stability_limit = stability_limit(self.a, self.b)
        self.jump_weights = self._jump_weights()
        self.coefficients = flat_tableau(self)
        make_arrays_read_only(self)

    def _jump_weights(self) -> NDArray[np.float64]:
        """The error weights times such a number that they add up to at least 1 up to each time in the step.

        Empty if up to some time they add up to nothing, as where no stage is at the end.
        """
        if self.error is None:
            return np.zeros(0)
        times = np.unique([*self.c, 1.0])[:-1]
        least = min(abs(self.error[self.c <= time].sum()) for time in times)
        if not least > NO_WEIGHT * np.abs(self.error).sum():
            return np.zeros(0)
        weights: NDArray[np.float64] = self.error / least
        return weights

    @property
    def extra_nodes(self) -> NDArray[np.float64]:
        """Nodes of the extra stages, shape (extra,)."""
        return self._all_c[self.stages + 1 :]

    @property
    def extra_rows(self) -> NDArray[np.float64]:
        """Coefficients of the extra stages, shape (extra, stages + 1 + extra)."""
        return self._all_a[self.stages + 1 :]

    def _order_problems(self) -> Iterator[Problem]:
        for i, node in enumerate(self._all_c):
            row = self._all_a[i]
            if i != self.stages and abs(row.sum() - node) > TOLERANCE * (1.0 + abs(row).sum()):
                where = f"row {i} of a" if i < self.stages else f"row {i - self.stages - 1} of extra"
                yield _problem(f"{where} sums to {row.sum():.17g}, but its node is {node:.17g}.")
        order = self._order_of(self.b, exact=True)
        if order < self.order:
            yield _problem(
                f"b fulfils the order conditions up to order {order}, not {self.order}: "
                f"correct a coefficient, or say order={order}."
            )
        for name, weights in (("error", self.error), ("second_error", self.second_error)):
            if weights is None:
                continue
            if not weights.any():
                yield _problem(
                    f"the {name} weights are all zero; leave them out for a method without error estimate."
                )
            elif self._order_of(weights, exact=False) < 1:
                yield _problem(f"the {name} weights sum to {weights.sum():.3g}, must sum to 0.")
        if self.second_error is not None and self.error is None:
            yield _problem("second_error needs error, which it accompanies.")
        if self.extra and self.dense is None:
            yield _problem("extra stages serve the dense output alone: give dense, or leave them out.")
        if self.dense is not None:
            ends = np.zeros(len(self.dense))
            ends[: self.stages] = self.b
            if np.abs(self.dense.sum(axis=1) - ends).max() > TOLERANCE * (1.0 + np.abs(self.dense).sum()):
                yield _problem("the rows of dense must sum to b (the dense output must end at the solution).")
            elif self._order_of_dense_output() < 1:
                yield _problem(
                    "dense does not fulfil the condition of order 1: its first column must sum to 1."
                )

    def _order_of(self, weights: NDArray[np.float64], *, exact: bool) -> int:
        """Highest order whose conditions the weights fulfil.

        For each tree the weighted sum must be 1 / gamma (`exact`), or 0 for the difference of two methods.
        """
        for order in range(1, self.order + 1):
            for tree in rooted_trees(order):
                required = 1.0 / density(tree) if exact else 0.0
                terms = weights * elementary_weights(self.a, tree)
                if abs(terms.sum() - required) > TOLERANCE * (1.0 + np.abs(terms).sum()):
                    return order - 1
        return self.order

    def _order_of_dense_output(self) -> int:
        """Highest order of the dense output: sum_i b_i(s) Phi_i = s^r / gamma, power by power."""
        assert self.dense is not None
        for order in range(1, self.order + 1):
            for tree in rooted_trees(order):
                terms = elementary_weights(self._all_a, tree)[:, None] * self.dense
                required = np.zeros(max(self.dense.shape[1], order))
                required[order - 1] = 1.0 / density(tree)
                powers = np.zeros_like(required)
                powers[: self.dense.shape[1]] = terms.sum(axis=0)
                if np.abs(powers - required).max() > TOLERANCE * (1.0 + np.abs(terms).sum()):
                    return order - 1
        return self.order


def _filled(size: int, rows: Sequence[Sequence[float]]) -> NDArray[np.float64]:
    """A square matrix whose rows begin with these; the rest is zero."""
    matrix = np.zeros((size, size))
    for i, row in enumerate(rows):
        matrix[i, : len(row)] = row
    return matrix


def lifted(b: Sequence[float], node: float) -> tuple[list[tuple[float, list[float]]], list[list[float]]]:
    """The extra stage at `node`, and the dense output that it lifts to a quartic: `extra` and `dense`.

    The quartic is the cubic Hermite polynomial plus a multiple of s^2 (1 - s)^2, which keeps values and
    derivatives at both ends; the multiple makes the derivative at `node` that of the extra stage.

    Examples
    --------
    >>> extra, dense = lifted([1 / 6, 2 / 3, 1 / 6], 0.2)
    >>> [round(sum(column), 12) + 0.0 for column in zip(*dense)], round(sum(extra[0][1]), 12)
    ([1.0, 0.0, 0.0, 0.0], 0.2)
    """
    s, stages = np.poly1d([1, 0]), len(b)
    r = 1 - s
    cubic = [weight * s * s * (3 - 2 * s) for weight in (*b, 0.0)]
    cubic[0] = cubic[0] + s * r * r
    cubic[stages] = cubic[stages] - s * s * r
    bump = s * s * r * r
    slope = bump.deriv()(node)
    quartic = [row - row.deriv()(node) / slope * bump for row in cubic] + [bump / slope]
    dense = [[float(row.coef[::-1][j]) if j <= row.order else 0.0 for j in range(1, 5)] for row in quartic]
    return [(node, [float(row(node)) for row in cubic])], dense


def _problem(text: str) -> Problem:
    return Problem("ButcherTableau", text)


def _lift_problems(lift: float, *, is_alone: bool) -> Iterator[Problem]:
    if not 0.0 < lift < 1.0 or lift == 0.5:
        yield _problem(f"lift is {lift}, must be between 0 and 1, and not 1/2.")
    if not is_alone:
        yield _problem("lift replaces extra and dense: leave those out.")


def _shape_problems(
    order: int,
    a: Sequence[Sequence[float]],
    b: Sequence[float],
    c: Sequence[float],
    errors: dict[str, Sequence[float] | None],
    extra: Sequence[tuple[float, Sequence[float]]],
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
    for name, weights in (("c", c), *errors.items()):
        if weights is not None and len(weights) != stages:
            problems.append(_problem(f"{name} has {len(weights)} entries, must have {stages}, as b has."))
    lengths = [len(row) for _, row in extra]
    if lengths != [stages + 1 + i for i in range(len(extra))]:
        problems.append(
            _problem(f"extra has rows of lengths {lengths}, must start at {stages + 1} and grow by one.")
        )
    if dense is not None:
        sizes = sorted({stages + 1 + len(extra), stages} if not extra else {stages + 1 + len(extra)})
        if len(dense) not in sizes:
            problems.append(
                _problem(f"dense has {len(dense)} rows, must have {' or '.join(map(str, sizes))}.")
            )
        if len({len(row) for row in dense}) > 1:
            problems.append(_problem("the rows of dense must all have the same length."))
    if not problems:
        rows = [b, c, *a, *(e for e in errors.values() if e is not None), *(dense or ())]
        numbers = [x for row in rows for x in row] + [x for node, row in extra for x in (node, *row)]
        if not all(math.isfinite(x) for x in numbers):
            problems.append(_problem("every coefficient must be a finite number."))
    return problems
