"""Functions and numbers at the edges of arithmetic, with the answers that the language defines."""

from __future__ import annotations

import math

import numpy as np

LEAST, MOST = -(2**63), 2**63 - 1
INF, NAN = math.inf, math.nan


def divided(a, b):
    return a / b


def quotient(a, b):
    return a // b


def remainder(a, b):
    return a % b


def smaller(a, b):
    return min(a, b)


def larger(a, b):
    return max(a, b)


def shifted_left(a, b):
    return a << b


def shifted_right(a, b):
    return a >> b


def total(a, b):
    return a + b


def product(a, b):
    return a * b


def truncated(a, b):
    return int(a)


def floor(a, b):
    return math.floor(a)


def absolute(a, b):
    return abs(a)


def rounded(a, b):
    return round(a)


OF_REALS = [  # function, two arguments, answer
    (divided, 1.0, 0.0, INF),
    (divided, -1.0, 0.0, -INF),
    (divided, 1.0, -0.0, -INF),
    (divided, 0.0, 0.0, NAN),
    (quotient, 7.0, 2.0, 3.0),
    (quotient, -7.0, 2.0, -4.0),
    (quotient, 1.0, 0.0, INF),
    (quotient, 0.0, 0.0, NAN),
    (quotient, -0.5, INF, -1.0),
    (quotient, 0.0, -2.0, -0.0),
    (remainder, 5.5, -2.0, -0.5),
    (remainder, -5.5, 2.0, 0.5),
    (remainder, 4.0, -2.0, -0.0),
    (remainder, 0.0, -2.0, -0.0),
    (remainder, -4.0, 2.0, 0.0),
    (remainder, 1.0, 0.0, NAN),
    (remainder, -1.0, INF, INF),
    (smaller, NAN, 1.0, NAN),
    (smaller, 1.0, NAN, 1.0),
    (smaller, 0.0, -0.0, 0.0),
    (smaller, -0.0, 0.0, -0.0),
    (larger, NAN, 1.0, NAN),
    (larger, 1.0, NAN, 1.0),
    (larger, -0.0, 0.0, -0.0),
]
OF_WHOLE = [  # function, two arguments, answer
    (quotient, 7, 2, 3),
    (quotient, -7, 2, -4),
    (quotient, 7, -2, -4),
    (quotient, 7, 0, 0),
    (quotient, LEAST, -1, LEAST),
    (remainder, -7, 3, 2),
    (remainder, 7, -3, -2),
    (remainder, 7, 0, 0),
    (remainder, LEAST, -1, 0),
    (total, MOST, 1, LEAST),
    (product, 2**62, 4, 0),
    (shifted_left, 1, 63, LEAST),
    (shifted_left, 1, 64, 0),
    (shifted_left, 1, -1, 0),
    (shifted_right, -8, 1, -4),
    (shifted_right, -8, 64, -1),
    (shifted_right, 8, 64, 0),
    (shifted_right, 8, -1, 0),
    (absolute, LEAST, 0, LEAST),
]
TO_WHOLE = [  # function, argument, answer
    (truncated, 2.9, 2),
    (truncated, -2.9, -2),
    (truncated, NAN, LEAST),
    (truncated, INF, LEAST),
    (truncated, 1e30, LEAST),
    (truncated, -(2.0**63), LEAST),
    (floor, -0.5, -1),
    (floor, -INF, LEAST),
    (rounded, 0.5, 0),
    (rounded, 1.5, 2),
    (rounded, 2.5, 2),
    (rounded, -2.5, -2),
]


def raises_outside_0_to_1(x):
    if x > 1.0:
        raise ArithmeticError("too large")
    assert x > 0.0, "not positive"
    return x


def calls_raising_function(x):
    return raises_outside_0_to_1(x) + 1.0


TABLE = np.array([[1, 2, 3], [4, 5, 6]])
WEIGHTS = np.array([0.5, 0.25])


def reads_module_arrays(i, j):
    return WEIGHTS[i] * TABLE[i, j] + len(WEIGHTS)


def functions_of_math(x, n):
    fraction, whole_part = math.modf(x)
    mantissa, exponent = math.frexp(x)
    q, r = divmod(n, 7)
    return (
        fraction + 3.0 * whole_part + 5.0 * mantissa + 7.0 * exponent + 11.0 * math.ldexp(x, n)
        + 13.0 * q + 17.0 * r + math.gcd(n, 12) + math.degrees(x) + math.radians(x) + sum((x, 2, n))
        + math.gamma(x + 3.0) + math.lgamma(x + 3.0) + math.erf(x) + max((x, 1.0, n))
    )  # fmt: skip
