"""The printer of C: it computes what LLVM and Python compute, and its text reads like the source."""

from __future__ import annotations

import math
import shutil
from collections.abc import Iterable
from typing import Any

import numpy as np
import pytest
from edge_parts import (
    OF_REALS,
    OF_WHOLE,
    TO_WHOLE,
    calls_raising_function,
    functions_of_math,
    reads_module_arrays,
)
from how_many import many
from language_tools import compiled, compiled_together, is_same
from programs_run import differences, lowered_differences

from cosim_compiler.called import Called
from cosim_compiler.calls import indirect_call
from cosim_compiler.code import BY_C, BY_LLVM, Coder, text_in_c
from cosim_compiler.language.program import Program
from cosim_compiler.road import ROADS

pytestmark = pytest.mark.skipif(
    not any(map(shutil.which, ("cc", "gcc", "clang"))), reason="there is no C compiler here"
)


def compiled_by_c(functions: Iterable[Any], signature: str) -> dict[Any, Called]:
    """Functions compiled by C in one file, because most of the time is that to start the compiler."""
    different = dict.fromkeys(functions)
    return dict(zip(different, compiled_together(different, signature, BY_C), strict=True))


def test_edges_of_reals() -> None:
    by_function = compiled_by_c((function for function, *_ in OF_REALS), "ff>f")
    for function, a, b, expected in OF_REALS:
        actual = by_function[function](a, b)
        assert is_same(actual, expected), (function, a, b, actual)


def test_edges_of_whole_numbers() -> None:
    by_function = compiled_by_c((function for function, *_ in OF_WHOLE), "ii>i")
    for function, a, b, expected in OF_WHOLE:
        assert by_function[function](a, b) == expected, (function, a, b)
    by_function = compiled_by_c((function for function, *_ in TO_WHOLE), "ff>i")
    for function, x, expected in TO_WHOLE:
        assert by_function[function](x, 0.0) == expected, (function, x)


def test_functions_of_math() -> None:
    called = compiled(functions_of_math, "fi>f", BY_C)
    for x in (-1.75, 0.0, 0.7, 4.5):
        for n in (-30, 0, 36):
            assert is_same(called(x, n), functions_of_math(np.float64(x), n)), (x, n)
    assert compiled(reads_module_arrays, "ii>f", BY_C)(-1, 2) == reads_module_arrays(-1, 2)


def test_an_exception() -> None:
    called = compiled(calls_raising_function, "f>f", BY_C)
    assert called(0.5) == 1.5
    with pytest.raises(ArithmeticError, match="^too large$"):
        called(2.0)


def test_random_programs() -> None:
    assert sum(d is None or pytest.fail(str(d)) for d in differences(range(7000, 7020), BY_C)) > 50


def test_random_programs_as_native_libraries_contain_them() -> None:
    compared = 0
    for difference in lowered_differences(range(8000, 8000 + many(10))):
        assert difference is None, str(difference)
        compared += 1
    assert compared > many(25)


@pytest.mark.thorough
def test_many_random_programs() -> None:
    for first in range(0, 10_000, 100):
        for difference in differences(range(first, first + 100), BY_C):
            assert difference is None, str(difference)


call_by_address = indirect_call("fF>f")


def add_tenfold(x, y):
    return x + 10.0 * y[0]


def increment(y):
    y[0] += 1.0
    return y[0]


def calls_by_address(address, y):
    return call_by_address(address, (increment(y), y))


@pytest.mark.parametrize("coder", [BY_LLVM, BY_C], ids=["llvm", "c"])
def test_arguments_of_a_call_by_address_are_computed_once(coder: Coder) -> None:
    called = compiled(add_tenfold, "fF>f", coder)
    address = coder.machine.address_of(called._unit.symbol(0))
    y = np.zeros(1)
    assert compiled(calls_by_address, "iF>f", coder)(address, y) == 11.0 and y[0] == 1.0


def uses_names_of_the_printer(x: Any, a: Any) -> Any:
    """Uses names that the printer gives to counters, bounds and intermediate values."""
    i_1, n_1, value_1, k_doubled, constant_0 = 5, 7, 0.5, 0.25, 2.0
    NAN, int64_t, tuple_trre = 1.0, 3.0, 4.0  # noqa: N806
    for i_2 in range(n_1):
        for i_3 in range(i_1, i_2, -1):
            value_1 += WEIGHTS[i_2 % 3] * doubled(i_3 - i_2)[0]
    i_4 = 2
    while i_4 >= 0:
        for n_2 in range(3):
            a[n_2] += value_1 * x
        i_4 -= 1
    return k_doubled + constant_0 + value_1 + NAN + int64_t + tuple_trre + a[0] + a[2] - i_4


WEIGHTS = (0.5, 1.0, 0.125)


def doubled(x: Any) -> Any:
    return x + x, x


def reads_between_calls(a: Any) -> Any:
    """Reads elements between calls that change them."""
    first = (increment(a) + a[0]) * increment(a)
    second = (a[0] + a[1]) - increment(a) * (a[1] + a[0])
    return first + 3.0 * second


def sums_of_changing_items(a: Any) -> Any:
    return 2.0 * sum((increment(a), a[1])) - sum((a[0], increment(a)))


@pytest.mark.parametrize("coder", [BY_LLVM, BY_C], ids=["llvm", "c"])
@pytest.mark.parametrize("function", [reads_between_calls, sums_of_changing_items])
def test_order_and_parentheses_are_those_of_python(function: Any, coder: Coder) -> None:
    compiled_array, plain_array = np.array([1.5, -0.25]), np.array([1.5, -0.25])
    assert compiled(function, "F>f", coder)(compiled_array) == function(plain_array)
    assert compiled_array.tolist() == plain_array.tolist()


@pytest.mark.parametrize("coder", [BY_LLVM, BY_C], ids=["llvm", "c"])
def test_names_of_an_author_do_not_clash_with_those_of_the_printer(coder: Coder) -> None:
    compiled_array, plain_array = np.zeros(3), np.zeros(3)
    result = compiled(uses_names_of_the_printer, "fF>f", coder)(0.5, compiled_array)
    assert result == uses_names_of_the_printer(0.5, plain_array)
    assert compiled_array.tolist() == plain_array.tolist()


def stretch(x: Any, stiffness: Any, limit: Any, f: Any) -> None:
    """The force of a spring whose deflection is limited."""
    reach = min(abs(x), limit)
    if x < 0.0:
        reach = -reach
    f[0] = -stiffness * (reach + 0.5 * reach * reach) / (1.0 + math.sin(x))


EXPECTED = """\
static void k_stretch(double x, double stiffness, double limit, reals f) {
    double reach = least(fabs(x), limit);
    if (x < 0.0) reach = -reach;
    f.at[0] = -stiffness * (reach + 0.5 * reach * reach) / (1.0 + sin(x));
}
"""


def test_c_reads_like_its_source() -> None:
    program = Program()
    program.root(stretch, "fffF>v")
    assert EXPECTED in text_in_c(program, [])


def test_the_names_of_the_compilers() -> None:
    assert set(ROADS) == {"llvm", "c", "plain"}
