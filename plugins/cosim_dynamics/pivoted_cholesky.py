"""Rank-revealing factorization of a symmetric positive semidefinite matrix, in kernel functions.

A = W W^T with W of as many columns as A has rank, found column by column, the row that the columns so far
represent worst first. A row that they represent entirely repeats the others. All arrays lie in the cache at
offsets; A and W are m by m, by rows.

Near a singular position a column is short: of a length that goes through zero, with the rounding and the
integration errors of the positions in it. What is divided by it is noise, and two branches of the motion are
no longer apart. There the column counts less and less (`weigh`), and inertia alone says how its direction
moves on.
"""

from __future__ import annotations

import math
from typing import Any

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


def factorize(c: Any, m: int, A: int, W: int, order: int, left: int, sizes: int) -> int:
    """Write W and the order of its rows; the rank. Rows whose diagonal is zero are left out.

    Parameters
    ----------
    order, left : int
        Where m numbers each have room: the rows by their columns (exact in doubles; -1 behind the rank), and
        what is left of each diagonal entry (-1 for those that are used).
    sizes : int
        Of what order of magnitude the diagonal entries are in an ordinary position; 0 where nothing is known.

    References
    ----------
    N.J. Higham, Accuracy and Stability of Numerical Algorithms, chapter 10.3, for complete pivoting.
    """
    for i in range(m):
        c[left + i] = c[A + i * m + i]
        c[order + i] = -1.0
        for j in range(m):
            c[W + i * m + j] = 0.0
    rank = 0
    while rank < m:
        best = -1
        largest = NOTHING
        for i in range(m):
            whole = max(c[A + i * m + i], FAINT * c[sizes + i])
            if whole > 0.0 and c[left + i] > largest * whole:
                best = i
                largest = c[left + i] / whole
        if best < 0:
            break
        pivot = math.sqrt(c[left + best])
        c[order + rank] = float(best)
        c[W + best * m + rank] = pivot
        c[left + best] = -1.0
        for i in range(m):
            if c[left + i] >= 0.0:
                x = c[A + i * m + best]
                for j in range(rank):
                    x -= c[W + i * m + j] * c[W + best * m + j]
                x /= pivot
                c[W + i * m + rank] = x
                c[left + i] = max(0.0, c[left + i] - x * x)
        rank += 1
    return rank


def weigh(
    c: Any, m: int, rank: int, A: int, W: int, order: int, left: int, sizes: int, blur: float, trust: int
) -> int:
    """How much each column counts, from 0 to 1; the rank without those at the end that do not count.

    Parameters
    ----------
    blur : float, rad
        By what angle positions may miss the constraints.
    trust : int
        Where 2 m + 1 numbers have room: how much the columns count; their lengths, in parts of what is usual
        for their rows; the smallest of these among those that count, or 1.
    """
    whole_from = max(TRUSTED, min(CLEAR, BLURRED * blur))
    shortest = 1.0
    for j in range(rank):
        row = int(c[order + j])
        pivot = c[W + row * m + j]
        length = pivot / math.sqrt(max(c[A + row * m + row], c[sizes + row]))
        part = 1.0
        if length < whole_from:
            x = max(0.0, (length / whole_from - 0.1) / 0.9)
            part = x * x * (3.0 - 2.0 * x)
        c[trust + j] = part
        c[trust + m + j] = length
        if part > 0.0 and length < shortest:
            shortest = length
    c[trust + 2 * m] = shortest
    while rank > 0 and c[trust + rank - 1] == 0.0:
        rank -= 1
        c[left + int(c[order + rank])] = 0.0
        c[order + rank] = -1.0
    return rank


def least_squares(
    c: Any, m: int, rank: int, W: int, order: int, normal: int, trust: int, b: int, x: int
) -> None:
    """The solution of A x = b with the smallest norm, in the sense of least squares.

    Parameters
    ----------
    trust : int
        How much each column counts.
    normal : int
        Room for m by m numbers, used where the rank is less than m.
    b, x : int
        Right side and solution; `b` is overwritten.
    """
    if rank == m:
        for j in range(m):
            row = int(c[order + j])
            value = c[b + row]
            for i in range(j):
                value -= c[W + row * m + i] * c[x + i]
            c[x + j] = value / c[W + row * m + j] * c[trust + j]
        for j in range(m - 1, -1, -1):
            value = c[x + j]
            for i in range(j + 1, m):
                row = int(c[order + i])
                value -= c[W + row * m + j] * c[b + row]
            row = int(c[order + j])
            c[b + row] = value / c[W + row * m + j]
        for i in range(m):
            c[x + i] = c[b + i]
        return
    # A^+ = W (W^T W)^-2 W^T
    for i in range(rank):
        for j in range(i + 1):
            value = 0.0
            for row in range(m):
                value += c[W + row * m + i] * c[W + row * m + j]
            for n in range(j):
                value -= c[normal + i * m + n] * c[normal + j * m + n]
            if i == j:
                c[normal + i * m + i] = math.sqrt(value)
            else:
                c[normal + i * m + j] = value / c[normal + j * m + j]
    for i in range(rank):
        value = 0.0
        for row in range(m):
            value += c[W + row * m + i] * c[b + row]
        c[x + i] = value
    for solved in range(2):
        for i in range(rank):
            value = c[x + i]
            for j in range(i):
                value -= c[normal + i * m + j] * c[x + j]
            c[x + i] = value / c[normal + i * m + i]
        for i in range(rank - 1, -1, -1):
            value = c[x + i]
            for j in range(i + 1, rank):
                value -= c[normal + j * m + i] * c[x + j]
            c[x + i] = value / c[normal + i * m + i]
        if solved == 0:
            for i in range(rank):
                c[x + i] *= c[trust + i]
    for row in range(m):
        value = 0.0
        for i in range(rank):
            value += c[W + row * m + i] * c[x + i]
        c[b + row] = value
    for i in range(m):
        c[x + i] = c[b + i]
