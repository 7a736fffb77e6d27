"""Least squares and small matrices as kernel functions: matrices are views, row after row."""

from __future__ import annotations

import math
from typing import NamedTuple

from cosim.kit import Reals

SWEEPS, SQUARINGS = 40, 40
ORTHOGONAL = 1e-15
NEGLIGIBLE = 1e-40
"""A column whose square is a smaller part of the sum of all squares is zero."""


class Slots(NamedTuple):
    """Memory for matrices or vectors, divided into slots of one size."""

    values: Reals
    size: int

    def view(self, slot, length):
        """The first numbers of a slot, or of several adjoining ones."""
        first = self.size * slot
        return self.values[first : first + length]


def clear(values):
    """Set all numbers to zero."""
    for i in range(len(values)):
        values[i] = 0.0


def add_row(triangle, right, row, target, n, r):
    """Add a row to the triangle of a decomposition, by rotations; `row` and `target` are overwritten.

    Parameters
    ----------
    triangle : view, n * n
    right : view, n * r
        The right-hand sides, rotated as well.
    row, target : view
        n and r numbers.
    """
    for j in range(n):
        b = row[j]
        if b == 0.0:
            continue
        a = triangle[n * j + j]
        size = math.sqrt(a * a + b * b)
        if size == 0.0:
            continue
        c = a / size
        s = b / size
        triangle[n * j + j] = size
        row[j] = 0.0
        for k in range(j + 1, n):
            x = triangle[n * j + k]
            y = row[k]
            triangle[n * j + k] = c * x + s * y
            row[k] = c * y - s * x
        for k in range(r):
            x = right[r * j + k]
            y = target[k]
            right[r * j + k] = c * x + s * y
            target[k] = c * y - s * x


def solve_triangle(triangle, right, solution, turns, n, r, cut):
    """The shortest solution of ``triangle @ solution = right``.

    Parameters
    ----------
    cut : float
        Singular values below this part of the largest count as zero.
    triangle : view, n * n
        Overwritten.
    right, solution : view, n * r
    turns : view, n * n
        Scratch memory.
    """
    for i in range(n):
        for j in range(n):
            turns[n * i + j] = 1.0 if i == j else 0.0
    for _ in range(SWEEPS):
        if not turn_columns(triangle, turns, n):
            break
    largest = 0.0
    for j in range(n):
        largest = max(largest, column_product(triangle, n, j, j))
    clear(solution)
    for j in range(n):
        square = column_product(triangle, n, j, j)
        if not square > cut * cut * largest:
            continue
        for k in range(r):
            total = 0.0
            for i in range(n):
                total += triangle[n * i + j] * right[r * i + k]
            total = total / square
            for i in range(n):
                solution[r * i + k] += turns[n * i + j] * total


def turn_columns(matrix, turns, n):
    """Make each pair of columns orthogonal once (Jacobi). Returns whether a pair was not."""
    has_turned = False
    total = 0.0
    for i in range(n * n):
        total += matrix[i] * matrix[i]
    for p in range(n - 1):
        for q in range(p + 1, n):
            a = column_product(matrix, n, p, p)
            b = column_product(matrix, n, q, q)
            c = column_product(matrix, n, p, q)
            if min(a, b) <= NEGLIGIBLE * total or not abs(c) > ORTHOGONAL * math.sqrt(a) * math.sqrt(b):
                continue
            has_turned = True
            half = (b - a) / (2.0 * c)
            tangent = math.copysign(1.0, half) / (abs(half) + math.sqrt(1.0 + half * half))
            cosine = 1.0 / math.sqrt(1.0 + tangent * tangent)
            turn(matrix, n, p, q, cosine, cosine * tangent)
            turn(turns, n, p, q, cosine, cosine * tangent)
    return has_turned


def turn(matrix, n, p, q, cosine, sine):
    """Rotate columns `p` and `q` of a matrix with `n` rows and columns."""
    for i in range(n):
        x = matrix[n * i + p]
        y = matrix[n * i + q]
        matrix[n * i + p] = cosine * x - sine * y
        matrix[n * i + q] = sine * x + cosine * y


def column_product(matrix, n, p, q):
    """Inner product of two columns."""
    total = 0.0
    for i in range(n):
        total += matrix[n * i + p] * matrix[n * i + q]
    return total


def invert(matrix, inverse, n):
    """Invert a matrix by elimination with pivots; False if it is singular. `matrix` is overwritten."""
    for i in range(n):
        for j in range(n):
            inverse[n * i + j] = 1.0 if i == j else 0.0
    for j in range(n):
        pivot = j
        for i in range(j + 1, n):
            if abs(matrix[n * i + j]) > abs(matrix[n * pivot + j]):
                pivot = i
        value = matrix[n * pivot + j]
        if value == 0.0 or value - value != 0.0:
            return False
        for k in range(n):
            x = matrix[n * j + k]
            matrix[n * j + k] = matrix[n * pivot + k] / value
            y = inverse[n * j + k]
            inverse[n * j + k] = inverse[n * pivot + k] / value
            if pivot != j:
                matrix[n * pivot + k] = x
                inverse[n * pivot + k] = y
        for i in range(n):
            factor = matrix[n * i + j]
            if i == j or factor == 0.0:
                continue
            for k in range(n):
                matrix[n * i + k] -= factor * matrix[n * j + k]
                inverse[n * i + k] -= factor * inverse[n * j + k]
    return True


def spectral_radius(matrix, power, square, n):
    """The largest modulus of an eigenvalue: the n-th root of the norm of the n-th power, for large n.

    Parameters
    ----------
    matrix : view, n * n
    power, square : view, n * n
        Scratch memory.
    """
    for i in range(n * n):
        power[i] = matrix[i]
    logarithm = 0.0
    exponent = 1.0
    for _ in range(SQUARINGS):
        norm = 0.0
        for i in range(n * n):
            norm += power[i] * power[i]
        norm = math.sqrt(norm)
        if norm == 0.0:
            return 0.0
        if norm - norm != 0.0:
            return norm
        logarithm += math.log(norm) * exponent
        for i in range(n * n):
            power[i] = power[i] / norm
        multiply(power, power, square, n, n, n)
        for i in range(n * n):
            power[i] = square[i]
        exponent = 0.5 * exponent
    return math.exp(logarithm)


def multiply(a, b, result, rows, inner, columns):
    """``result = a @ b``."""
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            for k in range(inner):
                total += a[inner * i + k] * b[columns * k + j]
            result[columns * i + j] = total


def apply(matrix, vector, result, rows, columns):
    """``result = matrix @ vector``."""
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            total += matrix[columns * i + j] * vector[j]
        result[i] = total


def apply_transposed(matrix, vector, result, rows, columns):
    """``result = vector @ matrix``."""
    clear(result)
    for i in range(rows):
        for j in range(columns):
            result[j] += vector[i] * matrix[columns * i + j]


def exponential(matrix, factor, terms, result, term, product, n):
    """The exponential of ``factor * matrix`` by the first `terms` of its series.

    Parameters
    ----------
    matrix, result, term, product : view, n * n
        The last two are scratch memory.
    """
    for i in range(n):
        for j in range(n):
            term[n * i + j] = result[n * i + j] = 1.0 if i == j else 0.0
    for k in range(1, terms):
        multiply(term, matrix, product, n, n, n)
        for i in range(n * n):
            term[i] = product[i] * (factor / k)
            result[i] += term[i]
