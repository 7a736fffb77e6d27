"""LU decomposition with partial pivoting, as kernel functions.

Matrices are flat, row after row. Rows whose multiplier is zero are skipped, which is what a banded or block
matrix gains by.
"""

from __future__ import annotations


def lu_factor(a, pivots, n):
    """Replace `a` (n * n) by its factors; 0, or 1 + the column without a pivot.

    `pivots` (n) gets the row that was exchanged with each row, as a float.
    """
    for k in range(n):
        best = abs(a[k * n + k])
        at = k
        for i in range(k + 1, n):
            size = abs(a[i * n + k])
            if size > best:
                best = size
                at = i
        if not best > 0.0 or best + best == best:  # zero, NaN or infinite
            return k + 1
        pivots[k] = float(at)
        upper = a[k * n : k * n + n]
        if at != k:
            other = a[at * n : at * n + n]
            for j in range(n):
                kept = upper[j]
                upper[j] = other[j]
                other[j] = kept
        for i in range(k + 1, n):
            row = a[i * n : i * n + n]
            if row[k] != 0.0:
                multiplier = row[k] / upper[k]
                row[k] = multiplier
                for j in range(k + 1, n):
                    row[j] -= multiplier * upper[j]
    return 0


def lu_solve(a, pivots, n, b):
    """Replace `b` (n) by the solution, `a` and `pivots` being from `lu_factor`."""
    for k in range(n):
        at = int(pivots[k])
        if at != k:
            kept = b[k]
            b[k] = b[at]
            b[at] = kept
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
