"""The answers of compiled code at the edges of arithmetic, where Python, C and processors differ."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from edge_parts import (
    LEAST,
    MOST,
    OF_REALS,
    OF_WHOLE,
    TO_WHOLE,
    calls_raising_function,
    functions_of_math,
    reads_module_arrays,
)
from language_tools import compiled, is_same


@pytest.mark.parametrize(("function", "a", "b", "expected"), OF_REALS)
def test_an_operation_on_reals(function: Any, a: float, b: float, expected: float) -> None:
    compiled_result = compiled(function, "ff>f")(a, b)
    assert is_same(compiled_result, expected), compiled_result
    with np.errstate(all="ignore"):  # as the product runs plain Python
        plain_result = float(function(np.float64(a), np.float64(b)))
    assert is_same(plain_result, expected), plain_result


@pytest.mark.parametrize(("function", "a", "b", "expected"), OF_WHOLE)
def test_an_operation_on_whole_numbers(function: Any, a: int, b: int, expected: int) -> None:
    assert compiled(function, "ii>i")(a, b) == expected
    with np.errstate(all="ignore"):
        assert int(function(np.int64(a), np.int64(b))) == expected


@pytest.mark.parametrize(("function", "a", "expected"), TO_WHOLE)
def test_a_conversion_of_a_real_to_a_whole_number(function: Any, a: float, expected: int) -> None:
    assert compiled(function, "ff>i")(a, 0.0) == expected
    if math.isfinite(a) and abs(a) < 2.0**63:  # else Python raises an error, or has a larger number
        assert function(np.float64(a), 0.0) == expected


def by_powers_of_two(a, b):
    return (a // 1, a % 1, a // 2, a % 2, a // 8, a % 8, a // 4611686018427387904, a % 4611686018427387904)[b]


@pytest.mark.parametrize("a", [LEAST, LEAST + 1, -9, -8, -7, -1, 0, 1, 7, 8, 9, 2**62, MOST])
def test_quotients_by_powers_of_two_round_down(a: int) -> None:
    function = compiled(by_powers_of_two, "ii>i")
    assert [function(a, i) for i in range(8)] == [by_powers_of_two(a, i) for i in range(8)]


def digits_of_slice(a, i, j):
    part = a[i:j]
    s = 0.0
    for x in part:
        s = s * 10.0 + x
    return s + 1000.0 * len(part)


@pytest.mark.few(14)
@pytest.mark.parametrize("first", [-9, -3, -1, 0, 1, 3, 9])
@pytest.mark.parametrize("last", [-9, -2, 0, 2, 3, 9])
def test_slices_are_clipped_as_in_python(first: int, last: int) -> None:
    a = np.array([1.0, 2.0, 3.0])
    assert compiled(digits_of_slice, "Fii>f")(a, first, last) == digits_of_slice(a, first, last)


def element(a, i):
    return a[i]


@pytest.mark.parametrize("i", [0, 2, -1, -3])
def test_negative_indices_count_from_the_end(i: int) -> None:
    a = np.array([1.0, 2.0, 3.0])
    assert compiled(element, "Fi>f")(a, i) == a[i]


def test_exceptions_keep_their_class_and_text() -> None:
    called = compiled(calls_raising_function, "f>f")
    assert called(0.5) == 1.5
    with pytest.raises(ArithmeticError, match="^too large$"):
        called(2.0)
    with pytest.raises(AssertionError, match="^not positive$"):
        called(0.0)


def test_arrays_of_the_module_can_be_read() -> None:
    called = compiled(reads_module_arrays, "ii>f")
    assert [called(i, j) for i in (0, 1, -1) for j in (0, 2)] == [
        reads_module_arrays(i, j) for i in (0, 1, -1) for j in (0, 2)
    ]


def test_functions_of_math_that_return_several_kinds_of_numbers() -> None:
    called = compiled(functions_of_math, "fi>f")
    for x in (-1.75, -0.3, 0.0, 0.7, 2.0, 4.5):
        for n in (-30, -7, 0, 1, 36):
            assert is_same(called(x, n), functions_of_math(np.float64(x), n)), (x, n)


def loops_of_no_turn(x, y):
    for _ in range(0):
        y = x
    for y in range(3, 3):
        x = y
    return x - y


def loops_of_one_turn(x, y):
    for i in range(1):
        z = x + i
    for y in (x, 2.0):
        z += y
    return z - y


def test_names_set_in_a_loop_of_no_turn_keep_their_values() -> None:
    assert compiled(loops_of_no_turn, "ff>f")(5.0, 2.0) == loops_of_no_turn(5.0, 2.0) == 3.0
    assert compiled(loops_of_one_turn, "ff>f")(5.0, 1.0) == loops_of_one_turn(5.0, 1.0) == 10.0


def append_digit(a, x):
    a[0] += 1.0
    a[1] = 10.0 * a[1] + x
    return x


def chained_comparison(a, x):
    if append_digit(a, 1.0) < append_digit(a, x) < append_digit(a, 3.0):
        return 1.0
    return 0.0


@pytest.mark.parametrize(("x", "order"), [(2.0, 123.0), (0.5, 10.5), (3.0, 133.0)])
def test_operands_of_a_chained_comparison_are_computed_once_and_in_order(x: float, order: float) -> None:
    for called in (chained_comparison, compiled(chained_comparison, "Ff>f")):
        a = np.zeros(2)
        assert called(a, x) == (1.0 if x == 2.0 else 0.0)
        assert a.tolist() == [len(str(int(order))), order]


def never_returns(x):
    if x > 0.0:
        raise ValueError("positive")
    else:
        raise ArithmeticError("not positive")


def test_a_function_may_raise_on_every_path() -> None:
    called = compiled(never_returns, "f>f")
    with pytest.raises(ValueError, match="^positive$"):
        called(1.0)
    with pytest.raises(ArithmeticError, match="^not positive$"):
        called(0.0)
