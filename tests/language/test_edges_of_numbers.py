"""One rule for each edge: what compiled code answers where Python, C and processors differ."""

from __future__ import annotations

import math
import struct
from typing import Any

import numpy as np
import pytest
from language_tools import compiled

LEAST, MOST = -(2**63), 2**63 - 1
INF, NAN = math.inf, math.nan


def divided(a, b):
    return a / b


def quotient(a, b):
    return a // b


def rest(a, b):
    return a % b


def least(a, b):
    return min(a, b)


def greatest(a, b):
    return max(a, b)


def left(a, b):
    return a << b


def right(a, b):
    return a >> b


def summed(a, b):
    return a + b


def times(a, b):
    return a * b


def whole(a, b):
    return int(a)


def floor(a, b):
    return math.floor(a)


def size(a, b):
    return abs(a)


def nearest(a, b):
    return round(a)


OF_REALS = [
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
    (rest, 5.5, -2.0, -0.5),
    (rest, -5.5, 2.0, 0.5),
    (rest, 4.0, -2.0, -0.0),
    (rest, 0.0, -2.0, -0.0),
    (rest, -4.0, 2.0, 0.0),
    (rest, 1.0, 0.0, NAN),
    (rest, -1.0, INF, INF),
    (least, NAN, 1.0, NAN),
    (least, 1.0, NAN, 1.0),
    (least, 0.0, -0.0, 0.0),
    (least, -0.0, 0.0, -0.0),
    (greatest, NAN, 1.0, NAN),
    (greatest, 1.0, NAN, 1.0),
    (greatest, -0.0, 0.0, -0.0),
]
OF_WHOLE = [
    (quotient, 7, 2, 3),
    (quotient, -7, 2, -4),
    (quotient, 7, -2, -4),
    (quotient, 7, 0, 0),
    (quotient, LEAST, -1, LEAST),
    (rest, -7, 3, 2),
    (rest, 7, -3, -2),
    (rest, 7, 0, 0),
    (rest, LEAST, -1, 0),
    (summed, MOST, 1, LEAST),
    (times, 2**62, 4, 0),
    (left, 1, 63, LEAST),
    (left, 1, 64, 0),
    (left, 1, -1, 0),
    (right, -8, 1, -4),
    (right, -8, 64, -1),
    (right, 8, 64, 0),
    (right, 8, -1, 0),
    (size, LEAST, 0, LEAST),
]
TO_WHOLE = [
    (whole, 2.9, 2),
    (whole, -2.9, -2),
    (whole, NAN, LEAST),
    (whole, INF, LEAST),
    (whole, 1e30, LEAST),
    (whole, -(2.0**63), LEAST),
    (floor, -0.5, -1),
    (floor, -INF, LEAST),
    (nearest, 0.5, 0),
    (nearest, 1.5, 2),
    (nearest, 2.5, 2),
    (nearest, -2.5, -2),
]


def is_same(one: Any, other: Any) -> bool:
    if isinstance(one, float) or isinstance(other, float):
        return (one != one and other != other) or struct.pack("d", one) == struct.pack("d", other)
    return bool(one == other)


@pytest.mark.parametrize(("function", "a", "b", "expected"), OF_REALS)
def test_reals(function: Any, a: float, b: float, expected: float) -> None:
    found = compiled(function, "ff>f")(a, b)
    assert is_same(found, expected), found
    with np.errstate(all="ignore"):  # as the product runs plain Python
        plain = float(function(np.float64(a), np.float64(b)))
    assert is_same(plain, expected), plain


@pytest.mark.parametrize(("function", "a", "b", "expected"), OF_WHOLE)
def test_whole_numbers(function: Any, a: int, b: int, expected: int) -> None:
    assert compiled(function, "ii>i")(a, b) == expected
    with np.errstate(all="ignore"):
        assert int(function(np.int64(a), np.int64(b))) == expected


@pytest.mark.parametrize(("function", "a", "expected"), TO_WHOLE)
def test_reals_become_whole_numbers(function: Any, a: float, expected: int) -> None:
    assert compiled(function, "ff>i")(a, 0.0) == expected
    if math.isfinite(a) and abs(a) < 2.0**63:  # beyond, Python raises, or has a larger number
        assert function(np.float64(a), 0.0) == expected


def by_powers_of_two(a, b):
    return (a // 1, a % 1, a // 2, a % 2, a // 8, a % 8, a // 4611686018427387904, a % 4611686018427387904)[b]


@pytest.mark.parametrize("a", [LEAST, LEAST + 1, -9, -8, -7, -1, 0, 1, 7, 8, 9, 2**62, MOST])
def test_quotients_by_powers_of_two_round_down(a: int) -> None:
    function = compiled(by_powers_of_two, "ii>i")
    assert [function(a, i) for i in range(8)] == [by_powers_of_two(a, i) for i in range(8)]


def section(a, i, j):
    part = a[i:j]
    s = 0.0
    for x in part:
        s = s * 10.0 + x
    return s + 1000.0 * len(part)


@pytest.mark.few(14)
@pytest.mark.parametrize("first", [-9, -3, -1, 0, 1, 3, 9])
@pytest.mark.parametrize("last", [-9, -2, 0, 2, 3, 9])
def test_sections_end_where_python_s_do(first: int, last: int) -> None:
    a = np.array([1.0, 2.0, 3.0])
    assert compiled(section, "Fii>f")(a, first, last) == section(a, first, last)


def element(a, i):
    return a[i]


@pytest.mark.parametrize("i", [0, 2, -1, -3])
def test_negative_places_count_from_the_end(i: int) -> None:
    a = np.array([1.0, 2.0, 3.0])
    assert compiled(element, "Fi>f")(a, i) == a[i]


def refuses(x):
    if x > 1.0:
        raise ArithmeticError("too large")
    assert x > 0.0, "not positive"
    return x


def through(x):
    return refuses(x) + 1.0


def test_what_is_raised_arrives_as_it_was_written() -> None:
    called = compiled(through, "f>f")
    assert called(0.5) == 1.5
    with pytest.raises(ArithmeticError, match="^too large$"):
        called(2.0)
    with pytest.raises(AssertionError, match="^not positive$"):
        called(0.0)


TABLE = np.array([[1, 2, 3], [4, 5, 6]])
WEIGHTS = np.array([0.5, 0.25])


def of_the_module(i, j):
    return WEIGHTS[i] * TABLE[i, j] + len(WEIGHTS)


def test_arrays_of_the_module_are_constants() -> None:
    called = compiled(of_the_module, "ii>f")
    assert [called(i, j) for i in (0, 1, -1) for j in (0, 2)] == [
        of_the_module(i, j) for i in (0, 1, -1) for j in (0, 2)
    ]


def of_math(x, n):
    fraction, whole_part = math.modf(x)
    mantissa, exponent = math.frexp(x)
    q, r = divmod(n, 7)
    return (
        fraction + 3.0 * whole_part + 5.0 * mantissa + 7.0 * exponent + 11.0 * math.ldexp(x, n)
        + 13.0 * q + 17.0 * r + math.gcd(n, 12) + math.degrees(x) + math.radians(x) + sum((x, 2, n))
        + math.gamma(x + 3.0) + math.lgamma(x + 3.0) + math.erf(x) + max((x, 1.0, n))
    )  # fmt: skip


def test_the_rest_of_math() -> None:
    called = compiled(of_math, "fi>f")
    for x in (-1.75, -0.3, 0.0, 0.7, 2.0, 4.5):
        for n in (-30, -7, 0, 1, 36):
            assert is_same(called(x, n), of_math(np.float64(x), n)), (x, n)


def loop_without_a_turn(x, y):
    for _ in range(0):
        y = x
    for y in range(3, 3):
        x = y
    return x - y


def loop_with_a_turn(x, y):
    for i in range(1):
        z = x + i
    for y in (x, 2.0):
        z += y
    return z - y


def test_what_a_loop_without_a_turn_sets_keeps_its_value() -> None:
    assert compiled(loop_without_a_turn, "ff>f")(5.0, 2.0) == loop_without_a_turn(5.0, 2.0) == 3.0
    assert compiled(loop_with_a_turn, "ff>f")(5.0, 1.0) == loop_with_a_turn(5.0, 1.0) == 10.0


def counted(a, x):
    a[0] += 1.0
    a[1] = 10.0 * a[1] + x
    return x


def chained(a, x):
    if counted(a, 1.0) < counted(a, x) < counted(a, 3.0):
        return 1.0
    return 0.0


@pytest.mark.parametrize(("x", "order"), [(2.0, 123.0), (0.5, 10.5), (3.0, 133.0)])
def test_each_of_a_chain_is_computed_once_and_in_order(x: float, order: float) -> None:
    for called in (chained, compiled(chained, "Ff>f")):
        a = np.zeros(2)
        assert called(a, x) == (1.0 if x == 2.0 else 0.0)
        assert a.tolist() == [len(str(int(order))), order]


def never_returns(x):
    if x > 0.0:
        raise ValueError("positive")
    else:
        raise ArithmeticError("not positive")


def test_a_function_may_raise_on_every_way() -> None:
    called = compiled(never_returns, "f>f")
    with pytest.raises(ValueError, match="^positive$"):
        called(1.0)
    with pytest.raises(ArithmeticError, match="^not positive$"):
        called(0.0)
