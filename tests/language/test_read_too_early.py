"""A result that is read before it is written has the value of an earlier evaluation: the class is refused."""

from __future__ import annotations

from typing import Any

import pytest

import cosim
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import REAL, View
from cosim_compiler.language.unwritten import paths_through

WIDE = 3


def early(function: Any) -> dict[str, tuple[int, int]]:
    return paths_through(Program().function(function, (REAL, View(REAL))), {"y": WIDE}).read_before_written


def added(x, y):
    y[0] += x


def read(x, y):
    y[0] = y[0] + x


def other_element(x, y):
    y[0] = y[1]
    y[1] = x
    y[2] = x


def one_branch(x, y):
    if x > 0.0:
        y[0] = x
    y[0] += 1.0


def condition(x, y):
    if y[2] > 0.0:
        y[2] = x


def bound(x, y):
    while y[0] < x:
        y[0] = 1.0


def accumulate(into, x):
    into[0] += x


def by_helper(x, y):
    accumulate(y, x)


def by_helper_of_a_part(x, y):
    y[0] = x
    accumulate(y[1:], x)


def short_loop(x, y):
    for i in range(WIDE - 1):
        y[i] = x
    y[0] += y[2]


@pytest.mark.parametrize(
    ("function", "index"),
    [
        (added, 0),
        (read, 0),
        (other_element, 1),
        (one_branch, 0),
        (condition, 2),
        (bound, 0),
        (by_helper, 0),
        (by_helper_of_a_part, 1),
        (short_loop, 2),
    ],
)
def test_what_is_read_before_it_is_written(function: Any, index: int) -> None:
    (found,) = early(function).items()
    assert (found[0], found[1][0]) == ("y", index)
    assert found[1][1] > function.__code__.co_firstlineno


def first(x, y):
    y[0] = x
    y[0] += 1.0
    y[1] = y[0]


def both_branches(x, y):
    if x > 0.0:
        y[0] = x
    else:
        y[0] = -x
    y[0] *= 2.0


def in_turns(x, y):
    y[0] = x
    for i in range(1, WIDE):
        y[i] = y[i - 1] * x


def helper_behind(x, y):
    y[0] = x
    accumulate(y, x)


def unknown_place(x, y):
    y[int(x)] += 1.0


def clear(into):
    for i in range(len(into)):
        into[i] = 0.0


def cleared(x, y):
    clear(y)
    accumulate(y, x)


@pytest.mark.parametrize("function", [first, both_branches, in_turns, helper_behind, unknown_place, cleared])
def test_what_is_written_first_or_not_known(function: Any) -> None:
    assert early(function) == {}


def grows(x, x_dot):
    x_dot[0] += -x


def test_the_class_is_refused_with_the_line() -> None:
    with pytest.raises(
        cosim.ContractError,
        match=r"test_read_too_early\.py:\d+.*x_dot\[0\].*read before",
    ):
        type("Block", (cosim.Component,), {"x": cosim.auxiliary_state(), "grow": cosim.kernel(grows)})


def test_accumulators_and_next_values_are_there_to_be_added_to() -> None:
    class Block(cosim.Component):
        """Adds to what has a value."""

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
