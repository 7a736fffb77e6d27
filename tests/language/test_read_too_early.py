"""A kernel function that reads an element of a result before it writes it is refused: the value is old."""

from __future__ import annotations

from typing import Any

import pytest

import cosim
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import REAL, View
from cosim_compiler.language.unwritten import paths_through

SIZE = 3
"""The number of elements of the result y."""


def read_too_early(function: Any) -> dict[str, tuple[int, int]]:
    """The first element of y that a function reads too early, and the line where it does."""
    typed = Program().function(function, (REAL, View(REAL)))
    return paths_through(typed, {"y": SIZE}).read_before_written


# functions that read too early


def adds_to_result(x, y):
    y[0] += x


def reads_on_the_right_side(x, y):
    y[0] = y[0] + x


def reads_another_element(x, y):
    y[0] = y[1]
    y[1] = x
    y[2] = x


def adds_after_one_branch(x, y):
    if x > 0.0:
        y[0] = x
    y[0] += 1.0


def reads_after_one_branch(x, y):
    if x > 0.5:
        y[0] = x
    y[0] = y[0] + 1.0


def reads_in_a_condition(x, y):
    if y[2] > 0.0:
        y[2] = x


def reads_in_a_loop_condition(x, y):
    while y[0] < x:
        y[0] = 1.0


def accumulate(into, x):
    into[0] += x


def adds_through_a_helper(x, y):
    accumulate(y, x)


def adds_through_a_helper_to_a_part(x, y):
    y[0] = x
    accumulate(y[1:], x)


def add_numbers(into, n):
    for i in range(n):
        into[0] += i


def adds_in_the_loop_of_a_helper(x, y):
    add_numbers(y, 3)


def reads_beyond_a_short_loop(x, y):
    for i in range(SIZE - 1):
        y[i] = x
    y[0] += y[2]


@pytest.mark.parametrize(
    ("function", "index"),
    [
        (adds_to_result, 0),
        (reads_on_the_right_side, 0),
        (reads_another_element, 1),
        (adds_after_one_branch, 0),
        (reads_after_one_branch, 0),
        (reads_in_a_condition, 2),
        (reads_in_a_loop_condition, 0),
        (adds_through_a_helper, 0),
        (adds_through_a_helper_to_a_part, 1),
        (adds_in_the_loop_of_a_helper, 0),
        (reads_beyond_a_short_loop, 2),
    ],
)
def test_the_first_element_that_is_read_too_early(function: Any, index: int) -> None:
    ((name, (element, line)),) = read_too_early(function).items()
    assert (name, element) == ("y", index)
    assert line > function.__code__.co_firstlineno


# functions that write first, or whose index is unknown


def writes_first(x, y):
    y[0] = x
    y[0] += 1.0
    y[1] = y[0]


def writes_the_other_element_first(x, y):
    y[1] = x
    y[0] = 0.5 * y[1]


def writes_in_both_branches(x, y):
    if x > 0.0:
        y[0] = x
    else:
        y[0] = -x
    y[0] *= 2.0


def reads_the_element_of_the_turn_before(x, y):
    y[0] = x
    for i in range(1, SIZE):
        y[i] = y[i - 1] * x


def writes_before_a_helper(x, y):
    y[0] = x
    accumulate(y, x)


def writes_before_the_loop_of_a_helper(x, y):
    y[0] = x
    add_numbers(y, 3)


def adds_at_an_unknown_index(x, y):
    y[int(x)] += 1.0


def writes_all_before_unknown_indices(x, y):
    for i in range(len(y)):
        y[i] = x
    for i in range(int(x)):
        y[i] += y[int(x) - i]


def clear(into):
    for i in range(len(into)):
        into[i] = 0.0


def clears_by_a_helper(x, y):
    clear(y)
    accumulate(y, x)


@pytest.mark.parametrize(
    "function",
    [
        writes_first,
        writes_the_other_element_first,
        writes_in_both_branches,
        reads_the_element_of_the_turn_before,
        writes_before_a_helper,
        writes_before_the_loop_of_a_helper,
        adds_at_an_unknown_index,
        writes_all_before_unknown_indices,
        clears_by_a_helper,
    ],
)
def test_a_function_that_writes_first_or_at_an_unknown_index_is_allowed(function: Any) -> None:
    assert read_too_early(function) == {}


# classes


def grows_by_state(x, x_dot):
    x_dot[0] += -x


def grows_by_time(t, x_dot):
    x_dot[0] += t


@pytest.mark.parametrize("function", [grows_by_state, grows_by_time])
def test_a_class_that_adds_to_a_derivative_is_refused_with_the_line(function: Any) -> None:
    with pytest.raises(
        cosim.ContractError,
        match=r"test_read_too_early\.py:\d+.*x_dot\[0\].*read before.*x_dot\[0\] = …",
    ):
        type("Block", (cosim.Component,), {"x": cosim.auxiliary_state(), "grow": cosim.kernel(function)})


def test_accumulators_and_next_values_may_be_added_to() -> None:
    class Block(cosim.Component):
        """Adds to an accumulator, which starts at 0, and to a next value, which starts at the present one."""

        x = cosim.auxiliary_state(start=1.0)
        n = cosim.discrete()
        total = cosim.output(accumulates=True)

        @cosim.kernel
        def derivatives(x, x_dot, total):
            x_dot[0] = -x
            total[0] += x

        @cosim.every(0.5, does="discrete")
        def count(n_next):
            n_next[0] += 1.0

    model = cosim.Model("m")
    model.add(Block, "p")
    result = model.simulate(until=1.2)
    assert result["p.n"][-1] == 3.0
    assert result["p.total"].tolist() == result["p.x"].tolist()
