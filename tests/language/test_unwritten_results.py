"""A result that is not written on every way through a kernel function is refused where the class is made."""

from __future__ import annotations

import math
from typing import Any

import pytest

import cosim
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import REAL, WHOLE, View
from cosim_compiler.language.unwritten import paths_through, unwritten_results

WIDE = 3
IS_ON = True


def one_branch(t, x_dot):
    if t < 0.5:
        x_dot[0] = 1.0


def both_branches(t, x_dot):
    if t < 0.5:
        x_dot[0] = 1.0
    else:
        x_dot[0] = 2.0


def before_the_branch(t, x_dot):
    x_dot[0] = 0.0
    if t < 0.5:
        x_dot[0] = 1.0


def early_return(t, x_dot):
    if t < 0.5:
        return
    x_dot[0] = 1.0


def early_raise(t, x_dot):
    if t < 0.5:
        raise ValueError("too early")
    x_dot[0] = 1.0


def one_of_three(t, y):
    y[0], y[2] = t, t


def loop(t, y):
    for i in range(WIDE):
        y[i] = t


def short_loop(t, y):
    for i in range(WIDE - 1):
        y[i] = t


def no_turn(t, y):
    for i in range(0):
        y[i] = t


def whole_loop(t, y):
    for i in range(len(y)):
        y[i] = t


def nested_loops(t, y):
    for i in range(3):
        for j in range(2):
            y[2 * i + j] = t


def nested_loops_with_a_hole(t, y):
    for i in range(3):
        for j in range(2):
            if i + j != 2:
                y[2 * i + j] = t


def left_early(t, y):
    for i in range(3):
        if t > 1.0:
            break
        y[i] = t


def turn_left_out(t, y):
    for i in range(3):
        if t > i:
            continue
        y[i] = t


def computed_place(n, y):
    for i in range(n):
        y[i] = 1.0


def helper(v, x):
    v[0] = x
    v[1] = 2.0 * x


def careless(v, x):
    if x > 0.0:
        v[0] = x


def through_helper(t, y):
    helper(y, t)
    y[2] = t


def through_parts(t, y):
    helper(y[0:2], t)
    helper(y[1:3], t)


def through_one_part(t, y):
    helper(y[1:3], t)


def through_careless_helper(t, x_dot):
    careless(x_dot, t)


def through_another_name(t, y):
    v = y[1:3]
    v[0] = t
    v[-1] = t
    y[0] = t


def added_to(t, x_dot):
    x_dot[0] = 0.0
    x_dot[0] += t


def constant_condition(t, x_dot):
    if IS_ON:
        x_dot[0] = t


def over_a_tuple(t, y):
    for i in (0, 2, 1):
        y[i] = t


def while_loop(t, x_dot):
    n = 0
    while n < 3:
        x_dot[0] = t
        n += 1


def only_math(t, x_dot):
    x_dot[0] = math.sin(len(x_dot))


def known_in_one_branch(t, y):
    n = 3
    if t > 0.5:
        n = 2
    for i in range(n):
        y[i] = t
    y[2] = t


def the_same_in_both_branches(t, y):
    if t > 0.5:  # noqa: SIM108
        n = 2
    else:
        n = 2
    for i in range(n):
        y[i] = t


def with_numbers(v, first, last):
    for i in range(first, last):
        v[i] = 1.0


def through_numbers(t, y):
    with_numbers(y, 0, 2)
    with_numbers(y, 2, len(y))


def through_fewer_numbers(t, y):
    with_numbers(y, 0, 1)
    with_numbers(y, 2, len(y))


def of_a_choice(t, y):
    v = y[0:1] if t > 0.5 else y[1:2]
    v[0] = t


def over_pairs(t, y):
    for i, x in enumerate((t, 2.0)):
        y[i] = x


def over_all(t, y):
    for i, x in enumerate(y):
        y[i] = x + t


CASES: dict[Any, tuple[int, int | None]] = {
    one_branch: (1, 0),
    both_branches: (1, None),
    before_the_branch: (1, None),
    early_return: (1, 0),
    early_raise: (1, None),
    one_of_three: (3, 1),
    loop: (3, None),
    short_loop: (3, 2),
    no_turn: (1, 0),
    whole_loop: (3, None),
    nested_loops: (6, None),
    nested_loops_with_a_hole: (6, 3),
    left_early: (3, 0),
    turn_left_out: (3, 0),
    computed_place: (3, None),
    through_helper: (3, None),
    through_parts: (3, None),
    through_one_part: (3, 0),
    through_careless_helper: (1, 0),
    through_another_name: (3, None),
    added_to: (1, None),
    constant_condition: (1, None),
    over_a_tuple: (3, None),
    while_loop: (1, None),
    only_math: (1, None),
    known_in_one_branch: (3, None),
    the_same_in_both_branches: (3, 2),
    through_numbers: (3, None),
    through_fewer_numbers: (3, 1),
    of_a_choice: (2, None),
    over_pairs: (3, 2),
    over_all: (3, None),
}


def unwritten(function: Any, result: str, size: int) -> dict[str, tuple[int, int]]:
    """Of a function of a number and a result."""
    first = WHOLE if function.__code__.co_varnames[0] == "n" else REAL
    sizes = {result: size}
    return unwritten_results(paths_through(Program().function(function, (first, View(REAL))), sizes), sizes)


@pytest.mark.parametrize(("function", "case"), CASES.items(), ids=lambda v: getattr(v, "__name__", ""))
def test_the_least_element_that_may_be_left_out(function: Any, case: tuple[int, int | None]) -> None:
    size, expected = case
    result = function.__code__.co_varnames[1]
    found = unwritten(function, result, size)
    assert (found[result][0] if found else None) == expected


def test_the_line_is_that_where_the_function_is_left() -> None:
    _, line = unwritten(early_return, "x_dot", 1)["x_dot"]
    assert line == early_return.__code__.co_firstlineno + 2


def test_a_class_is_refused() -> None:
    with pytest.raises(cosim.ContractError, match=r"x_dot\[0\].*been written"):

        class Held(cosim.Component):
            """Stands still from some time on."""

            x = cosim.auxiliary_state(start=1.0)

            @cosim.kernel
            def f(t, x_dot):
                if t < 0.5:
                    x_dot[0] = 1.0 + t


def only_added_to(t, x_dot):
    x_dot[0] += t


def read_first(t, y):
    y[0] = 0.5 * y[1]
    y[1] = t


def read_behind(t, y):
    y[1] = t
    y[0] = 0.5 * y[1]


def read_where_it_is_written(t, y):
    if t > 0.5:
        y[0] = t
    else:
        y[0] = 2.0 * t
    y[0] += 1.0


def read_in_one_branch(t, y):
    if t > 0.5:
        y[0] = t
    y[0] = y[0] + 1.0


def summed(v, n):
    for i in range(n):
        v[0] += i


def through_a_helper_that_adds(t, y):
    y[0] = t
    summed(y, 3)


def through_a_helper_alone(t, y):
    summed(y, 3)


def turn_by_turn(t, y):
    y[0] = t
    for i in range(1, 3):
        y[i] = 2.0 * y[i - 1]


def computed_places(t, y):
    for i in range(len(y)):
        y[i] = t
    for i in range(int(t)):
        y[i] += y[int(t) - i]


EARLY = {
    only_added_to: (1, 0),
    read_first: (2, 1),
    read_behind: (2, None),
    read_where_it_is_written: (1, None),
    read_in_one_branch: (1, 0),
    through_a_helper_that_adds: (1, None),
    through_a_helper_alone: (1, 0),
    turn_by_turn: (3, None),
    computed_places: (3, None),
}


@pytest.mark.parametrize(("function", "case"), EARLY.items(), ids=lambda v: getattr(v, "__name__", ""))
def test_the_first_element_that_is_read_too_early(function: Any, case: tuple[int, int | None]) -> None:
    size, expected = case
    result = function.__code__.co_varnames[1]
    typed = Program().function(function, (REAL, View(REAL)))
    found = paths_through(typed, {result: size}).read_before_written
    assert (found[result][0] if found else None) == expected


def test_a_class_that_adds_to_what_was_before_is_refused() -> None:
    with pytest.raises(cosim.ContractError, match=r"x_dot\[0\].*read before.*.*x_dot\[0\] = …"):

        class Growing(cosim.Component):
            """Its rate grows with each evaluation."""

            x = cosim.auxiliary_state(start=1.0)

            @cosim.kernel
            def f(t, x_dot):
                x_dot[0] += t


def test_what_is_next_may_be_left_as_it_is() -> None:
    class Counter(cosim.Component):
        """Counts while it may."""

        count = cosim.discrete(dtype=int)

        @cosim.every(0.5, does="discrete")
        def tick(count, count_next):
            if count < 3:
                count_next[0] = count + 1

    assert Counter.declarations["count"].kind == "integer"


def test_the_slot_of_a_check_is_memory_to_compute_in() -> None:
    class Checked(cosim.Component):
        """Looks at a parameter."""

        a = cosim.parameter(default=1.0)
        work = cosim.cache_slot(shape=2)

        @cosim.kernel(refuses=["too small"])
        def looks(a, work):
            if a < 0.0:
                work[0] = a
                return 1.0
            return 0.0

    assert "work" in Checked.declarations
