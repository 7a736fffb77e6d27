"""LU decomposition with partial pivoting, as kernel functions.

Matrices are flat, row after row. Rows whose multiplier is zero are skipped, which makes banded
and block matrices cheaper.
"""

from __future__ import annotations

from cosim.kit import rows_of

BLOCK = 32
"""Columns that are eliminated together, so that the rows in use stay in the cache of the processor."""


def lu_factor(a, pivots, n):
    """Replace `a` (n * n) by its factors; 0, or 1 + the column without a pivot.

    `pivots` (n) gets the row that was exchanged with each row, as a float.
    """
    for first in range(0, n, BLOCK):
        last = min(first + BLOCK, n)
        missing = factor_columns(a, pivots, n, first, last)
        if missing != 0:
            return missing
        for i in range(first + 1, n):
            row = rows_of(float, a, i * n, n)
            behind = rows_of(float, a, i * n + last, n - last)
            for k in range(first, min(i, last)):
                multiplier = row[k]
                if multiplier != 0.0:
                    upper = rows_of(float, a, k * n + last, n - last)
                    for j in range(len(behind)):
                        behind[j] -= multiplier * upper[j]
    return 0


def factor_columns(a, pivots, n, first, last):
    """Eliminate the columns of a block, exchanging whole rows; the columns behind it are not changed yet."""
    for k in range(first, last):
        best = abs(a[k * n + k])
        pivot = k
        for i in range(k + 1, n):
            size = abs(a[i * n + k])
            if size > best:
                best = size
                pivot = i
        if not best > 0.0 or best + best == best:  # zero, NaN or infinite
            return k + 1
        pivots[k] = float(pivot)
        if pivot != k:
            row_k = rows_of(float, a, k * n, n)
            pivot_row = rows_of(float, a, pivot * n, n)
            for j in range(n):
                exchanged = row_k[j]
                row_k[j] = pivot_row[j]
                pivot_row[j] = exchanged
        upper = rows_of(float, a, k * n + k, last - k)
        for i in range(k + 1, n):
            row = rows_of(float, a, i * n + k, last - k)
            if row[0] != 0.0:
                multiplier = row[0] / upper[0]
                row[0] = multiplier
                for j in range(1, len(row)):
                    row[j] -= multiplier * upper[j]
    return 0


def exchange_rows(pivots, n, b):
    """Exchange the components of `b` as the rows of a matrix were exchanged while it was factored."""
    for k in range(n):
        pivot = int(pivots[k])
        if pivot != k:
            exchanged = b[k]
            b[k] = b[pivot]
            b[pivot] = exchanged


def exchange_rows_back(pivots, n, b):
    """Undo `exchange_rows`."""
    for back in range(n):
        k = n - 1 - back
        pivot = int(pivots[k])
        if pivot != k:
            exchanged = b[k]
            b[k] = b[pivot]
            b[pivot] = exchanged


def lu_solve(a, pivots, n, b):
    """Replace `b` (n) by the solution, `a` and `pivots` being from `lu_factor`."""
    exchange_rows(pivots, n, b)
    for i in range(1, n):
        row = a[i * n : i * n + n]
        total = b[i]
        for j in range(i):
            total -= row[j] * b[j]
        b[i] = total
    for back in range(n):
        i = n - 1 - back
        row = a[i * n : i * n + n]
        total = b[i]
        for j in range(i + 1, n):
            total -= row[j] * b[j]
        b[i] = total / row[i]


def lu_solve_two(a, pivots, n, b, c):
    """Replace `b` and `c` (n) by both solutions; in one pass they take little longer than one."""
    exchange_rows(pivots, n, b)
    exchange_rows(pivots, n, c)
    for i in range(1, n):
        row = a[i * n : i * n + n]
        total_b = b[i]
        total_c = c[i]
        for j in range(i):
            total_b -= row[j] * b[j]
            total_c -= row[j] * c[j]
        b[i] = total_b
        c[i] = total_c
    for back in range(n):
        i = n - 1 - back
        row = a[i * n : i * n + n]
        total_b = b[i]
        total_c = c[i]
        for j in range(i + 1, n):
            total_b -= row[j] * b[j]
            total_c -= row[j] * c[j]
        b[i] = total_b / row[i]
        c[i] = total_c / row[i]


def lu_solve_transposed(a, pivots, n, b):
    """Replace `b` (n) by the solution of the transposed system, `a` and `pivots` being from `lu_factor`."""
    for i in range(n):
        row = a[i * n : i * n + n]
        x = b[i] / row[i]
        b[i] = x
        for j in range(i + 1, n):
            b[j] -= row[j] * x
    for back in range(n):
        i = n - 1 - back
        row = a[i * n : i * n + n]
        x = b[i]
        for j in range(i):
            b[j] -= row[j] * x
    exchange_rows_back(pivots, n, b)
