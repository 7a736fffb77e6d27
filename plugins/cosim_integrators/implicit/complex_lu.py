"""LU decomposition of complex matrices with partial pivoting, as kernel functions.

Matrices are flat, row after row; a complex number is two reals, one after the other.
"""

from __future__ import annotations

from cosim_integrators.kit.dense_lu import exchange_rows, exchange_rows_back


def factor_complex(a, pivots, n):
    """Replace `a` (2 * n * n) by its factors; 0, or 1 + the column without a pivot.

    The size of an entry is |re| + |im|. `pivots` (n) gets the row that was exchanged with each row, as a
    float.
    """
    for k in range(n):
        best = abs(a[2 * (k * n + k)]) + abs(a[2 * (k * n + k) + 1])
        pivot = k
        for i in range(k + 1, n):
            size = abs(a[2 * (i * n + k)]) + abs(a[2 * (i * n + k) + 1])
            if size > best:
                best = size
                pivot = i
        if not best > 0.0 or best + best == best:
            return k + 1
        pivots[k] = float(pivot)
        upper = a[2 * k * n : 2 * k * n + 2 * n]
        if pivot != k:
            pivot_row = a[2 * pivot * n : 2 * pivot * n + 2 * n]
            for j in range(2 * n):
                exchanged = upper[j]
                upper[j] = pivot_row[j]
                pivot_row[j] = exchanged
        re = upper[2 * k]
        im = upper[2 * k + 1]
        square = re * re + im * im
        re = re / square
        im = -im / square
        for i in range(k + 1, n):
            row = a[2 * i * n : 2 * i * n + 2 * n]
            x = row[2 * k]
            y = row[2 * k + 1]
            if x != 0.0 or y != 0.0:
                u = x * re - y * im
                v = x * im + y * re
                row[2 * k] = u
                row[2 * k + 1] = v
                for j in range(k + 1, n):
                    row[2 * j] -= u * upper[2 * j] - v * upper[2 * j + 1]
                    row[2 * j + 1] -= u * upper[2 * j + 1] + v * upper[2 * j]
    return 0


def solve_complex(a, pivots, n, b, c):
    """Replace b + i c by the solution, `a` and `pivots` being from `factor_complex`."""
    exchange_rows(pivots, n, b)
    exchange_rows(pivots, n, c)
    for i in range(1, n):
        row = a[2 * i * n : 2 * i * n + 2 * n]
        x = b[i]
        y = c[i]
        for j in range(i):
            x -= row[2 * j] * b[j] - row[2 * j + 1] * c[j]
            y -= row[2 * j] * c[j] + row[2 * j + 1] * b[j]
        b[i] = x
        c[i] = y
    for back in range(n):
        i = n - 1 - back
        row = a[2 * i * n : 2 * i * n + 2 * n]
        x = b[i]
        y = c[i]
        for j in range(i + 1, n):
            x -= row[2 * j] * b[j] - row[2 * j + 1] * c[j]
            y -= row[2 * j] * c[j] + row[2 * j + 1] * b[j]
        re = row[2 * i]
        im = row[2 * i + 1]
        square = re * re + im * im
        b[i] = (x * re + y * im) / square
        c[i] = (y * re - x * im) / square


def solve_complex_transposed(a, pivots, n, b, c):
    """Replace b + i c by the solution of the transposed system; see `solve_complex`."""
    for i in range(n):
        row = a[2 * i * n : 2 * i * n + 2 * n]
        re = row[2 * i]
        im = row[2 * i + 1]
        square = re * re + im * im
        x = (b[i] * re + c[i] * im) / square
        y = (c[i] * re - b[i] * im) / square
        b[i] = x
        c[i] = y
        for j in range(i + 1, n):
            b[j] -= row[2 * j] * x - row[2 * j + 1] * y
            c[j] -= row[2 * j] * y + row[2 * j + 1] * x
    for back in range(n):
        i = n - 1 - back
        row = a[2 * i * n : 2 * i * n + 2 * n]
        x = b[i]
        y = c[i]
        for j in range(i):
            b[j] -= row[2 * j] * x - row[2 * j + 1] * y
            c[j] -= row[2 * j] * y + row[2 * j + 1] * x
    exchange_rows_back(pivots, n, b)
    exchange_rows_back(pivots, n, c)
