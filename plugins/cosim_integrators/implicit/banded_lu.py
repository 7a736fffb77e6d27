"""LU decomposition of band matrices, real and complex.

Each row is stored from `lower` columns left of the diagonal to ``lower + upper`` columns right of it:
exchanges of rows move entries that far to the right. The arithmetic is that of the dense decompositions on
the full matrix, in the same order and without the zeros, so that the results are equal to the last bit. The
solution with a real matrix is an exception: there each row waits for the one before, and its division took
half of the time. So for real matrices the reciprocals of the diagonal are stored.

References
----------
LAPACK, dgbtf2 and dgbtrs, for the storage that pivoting needs and for exchanges between the columns of L.
"""

from __future__ import annotations

from cosim.kit import rows_of

SMALLEST_PIVOT = 1e-307  # the reciprocal of a smaller one is infinite, or nearly


def band_width(lower, upper):
    """The number of stored entries of a row."""
    return 2 * lower + upper + 1


def factor_band(a, pivots, n, lower, upper):
    """Replace `a` (n rows of `band_width`) by its factors; 0, or 1 + the column without a pivot.

    The diagonal of U is stored as reciprocals. `pivots` (n) gets the row that was exchanged with each row, as
    a float.
    """
    width = band_width(lower, upper)
    for k in range(n):
        below = min(lower, n - 1 - k)
        count = min(lower + upper, n - 1 - k) + 1  # columns from k on
        best = abs(a[k * width + lower])
        pivot = 0
        for i in range(1, below + 1):
            size = abs(a[(k + i) * width + lower - i])
            if size > best:
                best = size
                pivot = i
        if not best > SMALLEST_PIVOT or best + best == best:  # zero, NaN or infinite
            return k + 1
        pivots[k] = float(k + pivot)
        first = k * width + lower
        pivot_row = rows_of(float, a, first, count)
        if pivot != 0:
            first = (k + pivot) * width + lower - pivot
            found_row = rows_of(float, a, first, count)
            for j in range(count):
                exchanged = pivot_row[j]
                pivot_row[j] = found_row[j]
                found_row[j] = exchanged
        for i in range(1, below + 1):
            first = (k + i) * width + lower - i
            row = rows_of(float, a, first, count)
            if row[0] != 0.0:
                multiplier = row[0] / pivot_row[0]
                row[0] = multiplier
                for j in range(1, count):
                    row[j] -= multiplier * pivot_row[j]
        pivot_row[0] = 1.0 / pivot_row[0]
    return 0


def solve_band(a, pivots, exchanged, n, lower, upper, b):
    """Replace `b` (n) by the solution, `a` and `pivots` being from `factor_band`.

    `exchanged` is whether it has exchanged rows (`has_exchanges`).
    """
    width = band_width(lower, upper)
    right_width = upper  # columns of U that are not zero; exchanges of rows fill further ones
    if exchanged:
        right_width = lower + upper
        eliminate_with_exchanges(a, pivots, n, lower, width, b)
    elif lower > 0:
        eliminate_by_rows(a, n, lower, width, b)
    x = 0.0  # the newest component stays in a register, so that the next row need not read it back
    for back in range(n):
        count = min(right_width, back) + 1
        row = rows_of(float, a, (n - 1 - back) * width + lower, count)
        solved = rows_of(float, b, n - 1 - back, count)
        total = solved[0]
        for j in range(2, count):
            total -= row[j] * solved[j]
        # the newest component comes last: only a product and a difference have to wait for it
        last = row[0] * row[1] * x if count > 1 else 0.0
        x = row[0] * total - last
        solved[0] = x


def has_exchanges(pivots, n):
    """Whether the decomposition has exchanged rows."""
    exchanges = 0  # counted to the end: a loop without an early exit compares several entries at once
    for k in range(n):
        exchanges += 1 if pivots[k] != float(k) else 0
    return exchanges > 0


def eliminate_by_rows(a, n, lower, width, b):
    """Replace `b` by the solution x of L x = b, for a decomposition without exchanges of rows."""
    x = b[0]
    for k in range(1, n):
        count = min(lower, k)
        row = rows_of(float, a, k * width + lower - count, count)
        before = rows_of(float, b, k - count, count + 1)
        total = before[count]
        for j in range(count - 1):
            total -= row[j] * before[j]
        x = total - row[count - 1] * x
        before[count] = x


def eliminate_with_exchanges(a, pivots, n, lower, width, b):
    """Replace `b` by the solution x of L x = b; the columns of L alternate with exchanges of rows."""
    for k in range(n):
        pivot = int(pivots[k])
        x = b[pivot]
        b[pivot] = b[k]
        b[k] = x
        for i in range(1, min(lower, n - 1 - k) + 1):
            b[k + i] -= a[(k + i) * width + lower - i] * x


def factor_complex_band(a, pivots, n, lower, upper):
    """Replace `a` (n complex rows of `band_width`) by its factors; 0, or 1 + the column without a pivot.

    A complex number is two reals, one after the other; its size is |re| + |im|. `pivots` (n) gets the row
    that was exchanged with each row, as a float.
    """
    width = band_width(lower, upper)
    for k in range(n):
        below = min(lower, n - 1 - k)
        count = min(lower + upper, n - 1 - k) + 1
        first = 2 * (k * width + lower)
        best = abs(a[first]) + abs(a[first + 1])
        pivot = 0
        for i in range(1, below + 1):
            entry_at = 2 * ((k + i) * width + lower - i)
            size = abs(a[entry_at]) + abs(a[entry_at + 1])
            if size > best:
                best = size
                pivot = i
        if not best > 0.0 or best + best == best:
            return k + 1
        pivots[k] = float(k + pivot)
        pivot_row = rows_of(float, a, first, 2 * count)
        if pivot != 0:
            first = 2 * ((k + pivot) * width + lower - pivot)
            found_row = rows_of(float, a, first, 2 * count)
            for j in range(2 * count):
                exchanged = pivot_row[j]
                pivot_row[j] = found_row[j]
                found_row[j] = exchanged
        re = pivot_row[0]
        im = pivot_row[1]
        square = re * re + im * im
        re = re / square
        im = -im / square
        for i in range(1, below + 1):
            first = 2 * ((k + i) * width + lower - i)
            row = rows_of(float, a, first, 2 * count)
            x = row[0]
            y = row[1]
            if x != 0.0 or y != 0.0:
                u = x * re - y * im
                v = x * im + y * re
                row[0] = u
                row[1] = v
                for j in range(1, count):
                    row[2 * j] -= u * pivot_row[2 * j] - v * pivot_row[2 * j + 1]
                    row[2 * j + 1] -= u * pivot_row[2 * j + 1] + v * pivot_row[2 * j]
    return 0


def solve_complex_band(a, pivots, n, lower, upper, b, c):
    """Replace b + i c by the solution, `a` and `pivots` being from `factor_complex_band`."""
    width = band_width(lower, upper)
    for k in range(n):
        pivot = int(pivots[k])
        if pivot != k:
            exchanged = b[k]
            b[k] = b[pivot]
            b[pivot] = exchanged
            exchanged = c[k]
            c[k] = c[pivot]
            c[pivot] = exchanged
        for i in range(1, min(lower, n - 1 - k) + 1):
            first = 2 * ((k + i) * width + lower - i)
            b[k + i] -= a[first] * b[k] - a[first + 1] * c[k]
            c[k + i] -= a[first] * c[k] + a[first + 1] * b[k]
    for back in range(n):
        i = n - 1 - back
        first = 2 * (i * width + lower)
        count = min(lower + upper, back) + 1
        row = rows_of(float, a, first, 2 * count)
        x = b[i]
        y = c[i]
        for j in range(1, count):
            x -= row[2 * j] * b[i + j] - row[2 * j + 1] * c[i + j]
            y -= row[2 * j] * c[i + j] + row[2 * j + 1] * b[i + j]
        re = row[0]
        im = row[1]
        square = re * re + im * im
        b[i] = (x * re + y * im) / square
        c[i] = (y * re - x * im) / square


def solve_band_transposed(a, pivots, n, lower, upper, b):
    """Replace `b` (n) by the solution of the transposed system, `a` and `pivots` being from `factor_band`."""
    width = band_width(lower, upper)
    for i in range(n):
        count = min(lower + upper, n - 1 - i) + 1
        row = rows_of(float, a, i * width + lower, count)
        following = rows_of(float, b, i, count)
        x = following[0] * row[0]
        following[0] = x
        for j in range(1, count):
            following[j] -= row[j] * x
    for back in range(n):
        k = n - 1 - back
        x = b[k]
        for i in range(1, min(lower, back) + 1):
            x -= a[(k + i) * width + lower - i] * b[k + i]
        pivot = int(pivots[k])
        b[k] = b[pivot]
        b[pivot] = x


def solve_complex_band_transposed(a, pivots, n, lower, upper, b, c):
    """Replace b + i c by the solution of the transposed system; see `solve_complex_band`."""
    width = band_width(lower, upper)
    for i in range(n):
        count = min(lower + upper, n - 1 - i) + 1
        row = rows_of(float, a, 2 * (i * width + lower), 2 * count)
        re = row[0]
        im = row[1]
        square = re * re + im * im
        x = (b[i] * re + c[i] * im) / square
        y = (c[i] * re - b[i] * im) / square
        b[i] = x
        c[i] = y
        for j in range(1, count):
            b[i + j] -= row[2 * j] * x - row[2 * j + 1] * y
            c[i + j] -= row[2 * j] * y + row[2 * j + 1] * x
    for back in range(n):
        k = n - 1 - back
        x = b[k]
        y = c[k]
        for i in range(1, min(lower, back) + 1):
            first = 2 * ((k + i) * width + lower - i)
            x -= a[first] * b[k + i] - a[first + 1] * c[k + i]
            y -= a[first] * c[k + i] + a[first + 1] * b[k + i]
        pivot = int(pivots[k])
        b[k] = b[pivot]
        c[k] = c[pivot]
        b[pivot] = x
        c[pivot] = y
