"""Programs that the compiler refuses: each error names the file, the line, the expression and the remedy."""

from __future__ import annotations

import enum
import inspect
import math
from typing import Any

import numpy as np
import pytest

from cosim_compiler.errors import ContractError
from cosim_compiler.language.program import Program
from cosim_compiler.sources.run_source import run_source

SIGNATURE = "fF>v"


class Mode(enum.Enum):
    OPEN = 1


HALVES = np.array([0.5], dtype=np.float32)
PLACES = -2


def added(a, b):
    return a + b


def store(out, x):
    out[0] = x


def nothing_at_the_end(x):
    if x > 0.0:
        return 1.0


def tuple_and_number(x, out):
    v = (x, x, x)
    out[0] = v + x  # offends


def two_kinds(x, out):
    y = 1.0
    if x > 0:
        y = (1.0, 2.0)  # offends
    out[0] = y


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


def calls_itself(x, out):  # offends
    calls_itself(x, out)


def power(x, out):
    out[0] = x**2  # offends


def no_value_in_one_branch(x, out):
    if x > 0.0:
        y = 1.0
    out[0] = y  # offends


def no_value_in_no_turn(x, out):
    for i in range(len(out)):
        y = 1.0 + i
    out[0] = y  # offends


def real_into_a_range(x, out):
    for i in range(x):  # offends
        out[i] = 1.0


def text(x, out):
    out[0] = "one"  # offends


def number_or_nothing(x, out):
    out[0] = nothing_at_the_end(x)


def place_beyond(x, out):
    v = (1.0, x)
    out[0] = v[2]  # offends


def a_method(x, out):
    out[0] = out.sum()  # offends


def numpy_function(x, out):
    out[0] = np.sin(x)  # offends


def a_step(x, out):
    y = out[::2]  # offends
    out[0] = y[0]


def member_of_an_enum(x, out):
    out[0] = x + Mode.OPEN  # offends


def few_digits(x, out):
    out[0] = x * HALVES[0]  # offends


def large(x, out):
    out[0] = 9223372036854775808 * x  # offends


def condition_of_a_view(x, out):
    if out[0:2]:  # offends
        out[0] = 1.0


def number_or_number(x, out):
    out[0] = x or 1.0  # offends


def shifted_real(x, out):
    out[0] = x << 1  # offends


def shifted_back(x, out):
    out[0] = 8 << -3  # offends


def shifted_back_by_a_name(x, out):
    out[0] = 8 >> PLACES  # offends


def own_text(x, out):
    if x > 0.0:
        raise ValueError(x)  # offends


def compared_views(x, out):
    if out == x:  # offends
        out[0] = 1.0


def a_dictionary(x, out):
    y = {1: x}  # offends
    out[0] = y[1]


def nested(x, out):
    y = [x for _ in range(3)]  # offends
    out[0] = y[0]


def loop_over_a_number(x, out):
    for y in x:  # offends
        out[0] = y


def none(x, out):
    y = None  # offends
    out[0] = y


CASES: dict[Any, str] = {
    tuple_and_number: "`v + x`: `+` does not take a tuple of 3 numbers and a number: compute with",
    two_kinds: "'y' is a number in one branch and a tuple of 2 numbers in another: make it the same in all",
    too_few: "added(a, b) is called with others: missing a required argument: 'b'",
    too_many: "added(a, b) is called with others: too many positional arguments",
    place_that_is_no_integer: "the place [a number] is not a whole number: write int(…)",
    array_made: "this makes an array, and compiled code does not allocate: compute with its elements",
    function_of_a_view: "sin() does not take a view",
    nothing_stored: "a helper that returns nothing has no value: call it on a line of its own",
    tuple_stored: "an element is set to a tuple of 2 numbers: write its elements one by one",
    tuple_changed: "the elements of a tuple cannot be changed: make another one",
    wrong_length: "3 names are given the elements of a tuple of 2",
    element_of_a_number: "[…] is asked of a number, which has no elements",
    in_a_helper: "`*` does not take a tuple of 2 numbers and a number",
    calls_itself: "calls_itself() calls itself: write a loop",
    power: "write x * x, or math.pow(x, y) for a real exponent",
    no_value_in_one_branch: "'y' may have no value here: give it one before the branch or the loop",
    no_value_in_no_turn: "'y' may have no value here: give it one before the branch or the loop",
    real_into_a_range: "range() does not take a number: write int(…)",
    text: "this is a str, and the language has numbers, tuples and views",
    number_or_nothing: "the function may end here, and returns a number elsewhere",
    place_beyond: "the tuple has 2 items",
    a_method: "a view has no 'sum'",
    numpy_function: "np.sin() is not a function of the language",
    a_step: "a view is contiguous, and its parts have no step: write x[first:last]",
    member_of_an_enum: "Mode.OPEN is not a number: write Mode.OPEN.value",
    few_digits: "an array of float32 cannot be read: write numpy.asarray(…, float)",
    large: "9223372036854775808 does not fit into 64 bits: write 9.223372036854776e+18",
    condition_of_a_view: "a view is neither true nor false: compare its elements",
    number_or_number: "`and` and `or` join conditions, and this is a number: write x != 0",
    shifted_real: "`<<` takes whole numbers: write int(…)",
    shifted_back: "a shift by -3 places is an error in Python: write `>> 3`",
    shifted_back_by_a_name: "a shift by -2 places is an error in Python: write `<< 2`",
    own_text: 'the text of an exception is constant: write raise ValueError("…")',
    compared_views: "`==` does not take a view and a number: compute with their elements",
    a_dictionary: "the language has no dict",
    nested: "the language has no listcomp",
    loop_over_a_number: "a loop does not go over a number: write range(…)",
    none: "None is not a number: write math.nan",
}


@pytest.mark.parametrize(("function", "sentence"), CASES.items(), ids=lambda v: getattr(v, "__name__", ""))
def test_a_refused_program_is_answered_with_its_line_and_the_remedy(function: Any, sentence: str) -> None:
    offending_helpers = {in_a_helper: helper_that_offends, number_or_nothing: nothing_at_the_end}
    offender = offending_helpers.get(function, function)
    lines, first = inspect.getsourcelines(offender)
    marked = [first + i for i, code in enumerate(lines) if "offends" in code.partition("#")[2]]
    line = marked[0] if marked else first + 1
    with pytest.raises(ContractError) as caught:
        Program().root(function, SIGNATURE)
    message = str(caught.value)
    assert message.startswith(f"{__file__}:{line}: cannot be compiled: "), message
    assert sentence in message, message
    assert "\n" not in message


def test_a_helper_of_another_compiler_is_refused_with_the_remedy() -> None:
    class Dispatcher:
        """Like a dispatcher of numba: the author's function is at `py_func`."""

        py_func = staticmethod(added)

    namespace: dict[str, Any] = {"quick": Dispatcher()}

    kernel = run_source("def kernel(x, out):\n    out[0] = quick(x, x)\n", namespace)["kernel"]
    with pytest.raises(ContractError, match="another compiler .*write"):
        Program().root(kernel, SIGNATURE)


def test_a_signature_that_does_not_fit_the_function_is_refused() -> None:
    with pytest.raises(ContractError, match="returns a number"):
        Program().root(added, "ff>i")
    with pytest.raises(ContractError, match="2 arguments.*1"):
        Program().root(added, "f>f")
