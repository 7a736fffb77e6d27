"""Least squares and small matrices as kernel functions: matrices are views, row after row."""

from __future__ import annotations

import math

SWEEPS, SQUARINGS = 40, 40
ORTHOGONAL = 1e-15
NEGLIGIBLE = 1e-40
"""Of all squares together: a column of smaller ones is zero."""


def clear(values):
    """Zeros."""
    for i in range(len(values)):
        values[i] = 0.0


def add_row(triangle, right, row, wanted, n, r):
    """Add a row to the triangle of a decomposition, by rotations; `row` and `wanted` are used up.

    Parameters
    ----------
    triangle : view, n * n
    right : view, n * r
        The right-hand sides, rotated as well.
    row, wanted : view
        Of n and r numbers.
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
            y = wanted[k]
            right[r * j + k] = c * x + s * y
            wanted[k] = c * y - s * x


def solve_triangle(triangle, right, found, turns, n, r, cut):
    """The shortest solution of ``triangle @ found = right`` by singular values beyond `cut` of the largest.

    Parameters
    ----------
    triangle : view, n * n
        Used up.
    right, found : view, n * r
    turns : view, n * n
        Room.
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
    clear(found)
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
                found[r * i + k] += turns[n * i + j] * total


def turn_columns(matrix, turns, n):
    """Make each pair of columns orthogonal once (Jacobi); whether any was not."""
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
    """Turn two columns."""
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
    """Its inverse, by elimination with pivots; False where there is none. `matrix` is used up."""
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
    """The largest size of an eigenvalue: of ever higher powers the root of the norm.

    Parameters
    ----------
    matrix : view, n * n
    power, square : view, n * n
        Room.
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


def multiply(a, b, found, rows, inner, columns):
    """``found = a @ b``."""
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            for k in range(inner):
                total += a[inner * i + k] * b[columns * k + j]
            found[columns * i + j] = total


def apply(matrix, vector, found, rows, columns):
    """``found = matrix @ vector``."""
    for i in range(rows):
        total = 0.0
        for j in range(columns):
            total += matrix[columns * i + j] * vector[j]
        found[i] = total


def apply_transposed(matrix, vector, found, rows, columns):
    """``found = vector @ matrix``."""
    clear(found)
    for i in range(rows):
        for j in range(columns):
            found[j] += vector[i] * matrix[columns * i + j]


def exponential(matrix, factor, terms, found, term, product, n):
    """The series of the exponential of ``factor * matrix``, so many terms of it.

    Parameters
    ----------
    matrix, found, term, product : view, n * n
        The last two are room.
    """
    for i in range(n):
        for j in range(n):
            term[n * i + j] = found[n * i + j] = 1.0 if i == j else 0.0
    for k in range(1, terms):
        multiply(term, matrix, product, n, n, n)
        for i in range(n * n):
            term[i] = product[i] * (factor / k)
            found[i] += term[i]
