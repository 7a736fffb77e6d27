"""What only the compiler finds is said in one line: file, line, kind, what to do."""

import math
import os

import numba
import pytest

import cosim
from cosim_compiler.with_numba.fresh import OPTIONS, compiled_anew, lift_by_name

SCALAR_AND_VIEW = "fF>v"


def added(a, b):
    return a + b


def store(out, x):
    out[0] = x


def tuple_and_number(x, out):
    v = (x, x, x)
    out[0] = v + x  # offends


def two_kinds(x, out):
    y = 1.0
    if x > 0:
        y = (1.0, 2.0)
    out[0] = y  # offends


def too_few(x, out):
    out[0] = added(x)  # offends


def too_many(x, out):
    out[0] = added(x, 1.0, 2.0)  # offends


def place_that_is_no_integer(x, out):
    out[0] = out[x]  # offends


def array_made(x, out):
    y = out[0:2]
    z = y * 2.0  # offends
    out[0] = z[0]


def mixed_tuple(x, out):
    v = (x, 1)
    for i in range(2):
        out[i] = v[i]  # offends


def function_of_a_view(x, out):
    y = out[0:2]
    out[0] = math.sin(y)  # offends


def nothing_stored(x, out):
    out[0] = store(out, x)  # offends


def tuple_stored(x, out):
    out[0] = (x, x)  # offends


def tuple_changed(x, out):
    v = (x, x)
    v[0] = 1.0  # offends
    out[0] = v[0]


def wrong_length(x, out):
    a, _b, _c = added((x,), (x,))  # offends
    out[0] = a


def element_of_a_number(x, out):
    y = 2.0 * x
    out[0] = y[0]  # offends


def in_a_helper(x, out):
    out[0] = helper_that_offends((x, x), x)


def helper_that_offends(a, b):
    return a * b  # offends


CASES = {
    tuple_and_number: "`+` does not take a tuple of 3 numbers and a number",
    two_kinds: "in another: make it the same in all",
    too_few: "a helper with the arguments (a, b) is called with others: missing a required argument: 'b'",
    too_many: "called with others: too many positional arguments",
    place_that_is_no_integer: "the place [a number] is no whole number: write int(…)",
    array_made: "this makes an array, and compiled code does not allocate",
    mixed_tuple: "make them all 1.0, not 1",
    function_of_a_view: "sin() does not take a view",
    nothing_stored: "an element is set to nothing: needs a number",
    tuple_stored: "an element is set to a tuple of 2 numbers: write its elements one by one",
    tuple_changed: "the elements of a tuple cannot be changed",
    wrong_length: "3 names are given the elements of a tuple of 2",
    element_of_a_number: "[…] is asked of a number, which has no elements",
    in_a_helper: "`*` does not take a tuple of 2 numbers and a number",
}


@pytest.mark.skipif(os.environ.get("NUMBA_DISABLE_JIT", "0") != "0", reason="nothing is compiled")
@pytest.mark.parametrize(("function", "text"), CASES.items(), ids=lambda v: getattr(v, "__name__", ""))
def test_one_line_with_the_authors_place(function, text):
    import inspect

    offender = helper_that_offends if function is in_a_helper else function
    lines, first = inspect.getsourcelines(offender)
    line = next(first + i for i, code in enumerate(lines) if "offends" in code.partition("#")[2])
    with pytest.raises(cosim.ContractError) as raised:
        compiled_anew(function, SCALAR_AND_VIEW, OPTIONS, lift_by_name)
    said = str(raised.value)
    assert said.startswith(f"{__file__}:{line}: cannot be compiled: "), said
    assert text in said
    assert "\n" not in said
    assert isinstance(raised.value.__cause__, numba.core.errors.NumbaError)
