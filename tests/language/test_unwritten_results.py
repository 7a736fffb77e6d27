"""A kernel function that leaves a result unwritten on some path is refused when its class is made."""

from __future__ import annotations

import math
from typing import Any

import pytest

import cosim
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import REAL, WHOLE, View
from cosim_compiler.language.unwritten import paths_through, unwritten_results

SIZE = 3
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
    for i in range(SIZE):
        y[i] = t


def short_loop(t, y):
    for i in range(SIZE - 1):
        y[i] = t


def loop_of_no_turn(t, y):
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


def leaves_loop_early(t, y):
    for i in range(3):
        if t > 1.0:
            break
        y[i] = t


def skips_a_turn(t, y):
    for i in range(3):
        if t > i:
            continue
        y[i] = t


def computed_place(n, y):
    for i in range(n):
        y[i] = 1.0


def writes_two(v, x):
    v[0] = x
    v[1] = 2.0 * x


def writes_one_branch(v, x):
    if x > 0.0:
        v[0] = x


def through_helper(t, y):
    writes_two(y, t)
    y[2] = t


def through_parts(t, y):
    writes_two(y[0:2], t)
    writes_two(y[1:3], t)


def through_one_part(t, y):
    writes_two(y[1:3], t)


def through_helper_of_one_branch(t, x_dot):
    writes_one_branch(x_dot, t)


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


def writes_chosen_view(t, y):
    v = y[0:1] if t > 0.5 else y[1:2]
    v[0] = t


def over_pairs(t, y):
    for i, x in enumerate((t, 2.0)):
        y[i] = x


def over_all_elements(t, y):
    for i, x in enumerate(y):
        y[i] = x + t


CASES: dict[Any, tuple[int, int | None]] = {  # the size of the result, and the element that may be left out
    one_branch: (1, 0),
    both_branches: (1, None),
    before_the_branch: (1, None),
    early_return: (1, 0),
    early_raise: (1, None),
    one_of_three: (3, 1),
    loop: (3, None),
    short_loop: (3, 2),
    loop_of_no_turn: (1, 0),
    whole_loop: (3, None),
    nested_loops: (6, None),
    nested_loops_with_a_hole: (6, 3),
    leaves_loop_early: (3, 0),
    skips_a_turn: (3, 0),
    computed_place: (3, None),
    through_helper: (3, None),
    through_parts: (3, None),
    through_one_part: (3, 0),
    through_helper_of_one_branch: (1, 0),
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
    writes_chosen_view: (2, None),
    over_pairs: (3, 2),
    over_all_elements: (3, None),
}


def unwritten(function: Any, result: str, size: int) -> dict[str, tuple[int, int]]:
    """The elements of the result that a function of a number may leave out, with the line where it does."""
    first = WHOLE if function.__code__.co_varnames[0] == "n" else REAL
    sizes = {result: size}
    return unwritten_results(paths_through(Program().function(function, (first, View(REAL))), sizes), sizes)


@pytest.mark.parametrize(("function", "case"), CASES.items(), ids=lambda v: getattr(v, "__name__", ""))
def test_the_first_element_that_may_be_left_out(function: Any, case: tuple[int, int | None]) -> None:
    size, expected = case
    result = function.__code__.co_varnames[1]
    left_out = unwritten(function, result, size)
    assert (left_out[result][0] if left_out else None) == expected


def test_the_line_is_that_of_the_return() -> None:
    _, line = unwritten(early_return, "x_dot", 1)["x_dot"]
    assert line == early_return.__code__.co_firstlineno + 2


def test_a_class_with_an_unwritten_derivative_is_refused() -> None:
    with pytest.raises(cosim.ContractError, match=r"x_dot\[0\].*been written"):

        class Held(cosim.Component):
            """Has no derivative after 0.5 s."""

            x = cosim.auxiliary_state(start=1.0)

            @cosim.kernel
            def f(t, x_dot):
                if t < 0.5:
                    x_dot[0] = 1.0 + t


def test_a_next_value_may_stay_unwritten() -> None:
    class Counter(cosim.Component):
        """Counts to three."""

        count = cosim.discrete(dtype=int)

        @cosim.every(0.5, does="discrete")
        def tick(count, count_next):
            if count < 3:
                count_next[0] = count + 1

    assert Counter.declarations["count"].kind == "integer"


def test_a_slot_that_a_check_writes_on_one_path_is_allowed() -> None:
    class Checked(cosim.Component):
        """Checks a parameter."""

        a = cosim.parameter(default=1.0)
        work = cosim.cache_slot(shape=2)

        @cosim.kernel(refuses=["too small"])
        def check(a, work):
            if a < 0.0:
                work[0] = a
                return 1.0
            return 0.0

    assert "work" in Checked.declarations
