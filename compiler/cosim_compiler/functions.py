"""Functions of the kernel language beside those of `math`: NumPy's names and NumPy's meaning.

They are written in the language itself, so each gives the same bytes on every road. A sum is taken from the
first element to the last; NumPy's may be taken in another order. What has several numbers as its result
writes them into its last argument, which shares no memory with the others.
"""

import math

from numpy.linalg import LinAlgError

from cosim_compiler.tables import zeros

__all__ = ["clip", "dot", "interp", "matmul", "norm", "sign", "solve", "transpose", "where", "zeros"]


def where(condition, x, y):
    """X where the condition holds, y elsewhere; both are computed."""
    return x if condition else y


def sign(x):
    """-1, 0 or 1 as a real; NaN of NaN."""
    if x > 0.0:
        return 1.0
    if x < 0.0:
        return -1.0
    return 0.0 if x == x else x * 1.0


def clip(x, low, high):
    """The number from low to high that is nearest to x: `high` where they are exchanged, NaN of NaN."""
    return min(max(x, low), high) if low == low and high == high else math.nan


def interp(x, xp, fp):
    """The line through points at rising places `xp` with values `fp`; beyond the ends those of the ends."""
    count = len(xp)
    if count == 0:
        raise ValueError("array of sample points is empty")
    if count != len(fp):
        raise ValueError("fp and xp are not of the same length.")
    if x < xp[0]:
        return fp[0] * 1.0
    if x > xp[count - 1]:
        return fp[count - 1] * 1.0
    if count == 1:
        return fp[0] * 1.0
    if math.isnan(x):
        return x * 1.0
    i, end = 0, count
    while end - i > 1:  # xp[i] <= x < xp[end]
        middle = (i + end) // 2
        if x < xp[middle]:
            end = middle
        else:
            i = middle
    if i == count - 1 or xp[i] == x:
        return fp[i] * 1.0
    slope = (fp[i + 1] - fp[i]) / (xp[i + 1] - xp[i])
    value = slope * (x - xp[i]) + fp[i]
    if math.isnan(value):
        value = slope * (x - xp[i + 1]) + fp[i + 1]
        if math.isnan(value) and fp[i] == fp[i + 1]:
            value = fp[i] * 1.0
    return value


def dot(a, b):
    """The sum of the products of the elements of two vectors."""
    if len(a) != len(b):
        raise ValueError("dot() is given vectors of different lengths")
    total = 0.0
    for x, y in zip(a, b):  # noqa: B905  # the language has no strict
        total += x * y
    return total


def norm(x):
    """The length of a vector: the root of the sum of squares."""
    total = 0.0
    for element in x:
        total += element * element
    return math.sqrt(total)


def matmul(a, b, out):
    """The product ``a @ b`` of tables, of a table and a vector, or of a vector and a table."""
    if a.ndim == 2:
        if b.ndim == 2:
            _table_by_table(a, b, out)
        else:
            _table_by_vector(a, b, out)
    else:
        _vector_by_table(a, b, out)


def _table_by_table(a, b, out):
    rows, inner = a.shape
    columns = b.shape[1]
    if inner != b.shape[0] or rows != out.shape[0] or columns != out.shape[1]:
        raise ValueError("matmul(a, b, out): the shapes must be (n, k), (k, m) and (n, m)")
    for i in range(rows):
        for j in range(columns):
            total = 0.0
            for k in range(inner):
                total += a[i, k] * b[k, j]
            out[i, j] = total


def _table_by_vector(a, b, out):
    rows, inner = a.shape
    if inner != len(b) or rows != len(out):
        raise ValueError("matmul(a, b, out): the shapes must be (n, k), k and n")
    for i in range(rows):
        total = 0.0
        for k in range(inner):
            total += a[i, k] * b[k]
        out[i] = total


def _vector_by_table(a, b, out):
    inner, columns = b.shape
    if inner != len(a) or columns != len(out):
        raise ValueError("matmul(a, b, out): the shapes must be k, (k, m) and m")
    for j in range(columns):
        total = 0.0
        for k in range(inner):
            total += a[k] * b[k, j]
        out[j] = total


def transpose(a, out):
    """The transpose of a matrix."""
    rows, columns = a.shape
    if rows != out.shape[1] or columns != out.shape[0]:
        raise ValueError("transpose(a, out): the shapes must be (n, m) and (m, n)")
    for i in range(rows):
        for j in range(columns):
            out[j, i] = a[i, j]


def solve(a, b, out):
    """The solution of ``a @ out == b`` by elimination with pivots; b may be a table."""
    count = len(a)
    if a.shape[1] != count or len(b) != count or len(out) != count:
        raise ValueError("solve() is given a table that is not square, or does not fit")
    left = zeros((len(a), len(a)))
    for i in range(count):
        for j in range(count):
            left[i, j] = a[i, j]
    if b.ndim == 2:
        if b.shape[1] != out.shape[1]:
            raise ValueError("solve() is given tables whose shapes do not fit")
        for i in range(count):
            for j in range(b.shape[1]):
                out[i, j] = b[i, j]
    else:
        for i in range(count):
            out[i] = b[i]
    for k in range(count):
        _pivot_largest(left, out, k)
        if left[k, k] == 0.0:
            raise LinAlgError("Singular matrix")
        for i in range(k + 1, count):
            factor = left[i, k] / left[k, k]
            for j in range(k + 1, count):
                left[i, j] -= factor * left[k, j]
            _subtract_row(out, i, factor, k)
    for step in range(count):
        k = count - 1 - step
        for i in range(k + 1, count):
            _subtract_row(out, k, left[k, i], i)
        _divide_row(out, k, left[k, k])


def _pivot_largest(left, out, k):
    """Exchange row k for the one below with the largest number in column k."""
    largest = k
    for i in range(k + 1, len(left)):
        if abs(left[i, k]) > abs(left[largest, k]):
            largest = i
    if largest != k:
        for j in range(len(left)):
            left[k, j], left[largest, j] = left[largest, j], left[k, j]
        if out.ndim == 2:
            for j in range(out.shape[1]):
                out[k, j], out[largest, j] = out[largest, j], out[k, j]
        else:
            out[k], out[largest] = out[largest], out[k]


def _subtract_row(out, i, factor, k):
    if out.ndim == 2:
        for j in range(out.shape[1]):
            out[i, j] -= factor * out[k, j]
    else:
        out[i] -= factor * out[k]


def _divide_row(out, k, pivot):
    if out.ndim == 2:
        for j in range(out.shape[1]):
            out[k, j] /= pivot
    else:
        out[k] /= pivot
