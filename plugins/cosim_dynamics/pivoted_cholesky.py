"""Rank-revealing factorization of a symmetric positive semidefinite matrix, in kernel functions.

A = W W^T with W of as many columns as A has rank, found column by column, the row that the columns so far
represent worst first. A row that they represent entirely repeats the others.

Near a singular position a column is short: of a length that goes through zero, with the rounding and the
integration errors of the positions in it. What is divided by it is noise, and two branches of the motion are
no longer apart. There the column counts less and less (`weigh`), and inertia alone says how its direction
moves on.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

#: Less than `NOTHING` of a row's diagonal entry, or of this part of its size, is left by rounding.
FAINT = 1e-4
NOTHING = 1e-14
#: A column counts in full from this length on, in parts of what is usual for its row (the sine of the angle
#: to a singular position), and not at all below a tenth of it.
TRUSTED = 1e-5
#: Where positions miss the constraints by an angle, it does from so many times that angle on, but always from
#: `CLEAR` on: an ordinary position.
BLURRED = 30.0
CLEAR = 1e-2


class PivotedCholesky(NamedTuple):
    """A matrix of m rows, its factor, and what is known of it."""

    A: Any  # m by m
    W: Any  # m by m
    normal: Any  # m by m: room for the factor of W^T W, used where the rank is less than m
    order: Any  # m: the rows by their columns, exact in doubles; -1 behind the rank
    left: Any  # m: what is left of each diagonal entry; -1 of those that are used
    sizes: Any  # m: the order of magnitude of each diagonal entry in an ordinary position; 0: not known
    trust: Any  # m: how much each column counts, 0 to 1
    lengths: Any  # m: of each column, in parts of what is usual for its row


def factorize(matrix: PivotedCholesky) -> int:
    """Write W and the order of its rows; the rank. Rows whose diagonal is zero are left out.

    References
    ----------
    N.J. Higham, Accuracy and Stability of Numerical Algorithms, chapter 10.3, for complete pivoting.
    """
    A, W, order, left = matrix.A, matrix.W, matrix.order, matrix.left
    m = len(order)
    for i in range(m):
        left[i] = A[i, i]
        order[i] = -1.0
        for j in range(m):
            W[i, j] = 0.0
    rank = 0
    while rank < m:
        best = -1
        largest = NOTHING
        for i in range(m):
            size = max(A[i, i], FAINT * matrix.sizes[i])
            if size > 0.0 and left[i] > largest * size:
                best = i
                largest = left[i] / size
        if best < 0:
            break
        pivot = math.sqrt(left[best])
        order[rank] = float(best)
        W[best, rank] = pivot
        left[best] = -1.0
        for i in range(m):
            if left[i] >= 0.0:
                x = A[i, best]
                for j in range(rank):
                    x -= W[i, j] * W[best, j]
                x /= pivot
                W[i, rank] = x
                left[i] = max(0.0, left[i] - x * x)
        rank += 1
    return rank


def weigh(matrix: PivotedCholesky, rank: int, blur: float) -> tuple[int, float]:
    """Write the weights of the columns, `trust` and `lengths`.

    Parameters
    ----------
    blur : float, rad
        By what angle positions may miss the constraints.

    Returns
    -------
    int
        The rank without the columns at the end that do not count.
    float
        The shortest length among the columns that count, or 1.
    """
    whole_from = max(TRUSTED, min(CLEAR, BLURRED * blur))
    shortest = 1.0
    for j in range(rank):
        row = int(matrix.order[j])
        length = matrix.W[row, j] / math.sqrt(max(matrix.A[row, row], matrix.sizes[row]))
        part = 1.0
        if length < whole_from:
            x = max(0.0, (length / whole_from - 0.1) / 0.9)
            part = x * x * (3.0 - 2.0 * x)
        matrix.trust[j] = part
        matrix.lengths[j] = length
        if part > 0.0 and length < shortest:
            shortest = length
    while rank > 0 and matrix.trust[rank - 1] == 0.0:
        rank -= 1
        matrix.left[int(matrix.order[rank])] = 0.0
        matrix.order[rank] = -1.0
    return rank, shortest


def least_squares(matrix: PivotedCholesky, rank: int, b: Any, x: Any) -> None:
    """The solution x of A x = b with the smallest norm, in the sense of least squares; `b` is overwritten."""
    if rank == len(matrix.order):
        solve_of_full_rank(matrix, b, x)
    else:
        solve_of_lower_rank(matrix, rank, b, x)
    for i in range(len(b)):
        x[i] = b[i]


def solve_of_full_rank(matrix: PivotedCholesky, b: Any, x: Any) -> None:
    """Forward and back through W; the solution stands in `b`."""
    W, order = matrix.W, matrix.order
    m = len(order)
    for j in range(m):
        row = int(order[j])
        value = b[row]
        for i in range(j):
            value -= W[row, i] * x[i]
        x[j] = value / W[row, j] * matrix.trust[j]
    for j in range(m - 1, -1, -1):
        value = x[j]
        for i in range(j + 1, m):
            row = int(order[i])
            value -= W[row, j] * b[row]
        row = int(order[j])
        b[row] = value / W[row, j]


def solve_of_lower_rank(matrix: PivotedCholesky, rank: int, b: Any, x: Any) -> None:
    """A^+ b = W (W^T W)^-2 W^T b; the solution stands in `b`."""
    W, normal = matrix.W, matrix.normal
    m = len(matrix.order)
    for i in range(rank):
        for j in range(i + 1):
            value = 0.0
            for row in range(m):
                value += W[row, i] * W[row, j]
            for n in range(j):
                value -= normal[i, n] * normal[j, n]
            normal[i, j] = math.sqrt(value) if i == j else value / normal[j, j]
    for i in range(rank):
        value = 0.0
        for row in range(m):
            value += W[row, i] * b[row]
        x[i] = value
    solve_normal_equations(normal, rank, x)
    for i in range(rank):
        x[i] *= matrix.trust[i]
    solve_normal_equations(normal, rank, x)
    for row in range(m):
        value = 0.0
        for i in range(rank):
            value += W[row, i] * x[i]
        b[row] = value


def solve_normal_equations(normal: Any, rank: int, x: Any) -> None:
    """(W^T W)^-1 x in place of x."""
    for i in range(rank):
        value = x[i]
        for j in range(i):
            value -= normal[i, j] * x[j]
        x[i] = value / normal[i, i]
    for i in range(rank - 1, -1, -1):
        value = x[i]
        for j in range(i + 1, rank):
            value -= normal[j, i] * x[j]
        x[i] = value / normal[i, i]
