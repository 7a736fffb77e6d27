"""Indices outside of an array are found where the class is made, if a loop or a helper reaches them."""

import pytest

import cosim
from cosim_compiler.language.out_of_bounds import check_bounds
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import REAL, View

FOUR = 4


def beyond_the_end(a, y):
    for i in range(1, 4):
        y[0] += a[i]


def before_the_start(a, y):
    for i in range(3):
        y[0] += a[i - 1]


def nested(a, y):
    for i in range(3):
        for j in range(3):
            y[0] += a[3 * i + j + 1]


def by_a_constant_of_the_module(a, y):
    for i in range(FOUR):
        y[0] += a[i]


def within(a, y):
    for i in range(3):
        y[0] += a[2 - i]
    for i in range(2, -1, -1):
        y[0] += a[i]


def behind_a_condition(a, y):
    for i in range(3):
        if i > 0:
            y[0] += a[i - 1]


def left_early(a, y):
    for i in range(9):
        if a[0] > i:
            break
        y[0] += a[i]


def with_another_number(a, y):
    for i in range(9):
        i = min(i, 2)
        y[0] += a[i]


def all_of(v, n):
    total = 0.0
    for i in range(n):
        total += v[i]
    return total + v[-1]


def through_a_helper(a, y):
    y[0] = all_of(a, 3)
    y[0] += all_of(a, 4)


def through_a_part(a, y):
    y[0] = all_of(a[0:2], 2)
    y[0] += all_of(a[1:3], 3)


def of_many_turns(a, y):
    for i in range(200):
        y[0] = a[i]


def behind_a_condition_that_is_not_known(a, y):
    for i in range(4):
        if y[0] > 0.5:
            y[0] = a[i]


@pytest.mark.parametrize(
    ("function", "index"),
    [
        (beyond_the_end, (3,)),
        (before_the_start, (-1,)),
        (nested, (9,)),
        (by_a_constant_of_the_module, (3,)),
        (through_a_helper, (3,)),
        (through_a_part, (3,)),
        (of_many_turns, (199,)),
        (within, None),
        (behind_a_condition, None),
        (behind_a_condition_that_is_not_known, None),
        (left_early, None),
        (with_another_number, None),
    ],
)
def test_the_first_index_outside_that_is_surely_reached(function, index):
    size = 9 if function is nested else 3
    typed = Program().function(function, (View(REAL), View(REAL)))
    out_of_bounds = check_bounds(typed, {"a": size, "y": 1}).out_of_bounds.get("a")
    assert (out_of_bounds and out_of_bounds.place) == index


def element(P, row, column):
    return P[row, column]


@pytest.mark.parametrize(
    ("row", "column", "is_inside"),
    [
        (0, -5, True),
        (-2, 4, True),
        (-2, -5, True),
        (0, -6, False),
        (-3, 0, False),
        (2, 0, False),
        (0, 5, False),
    ],
)
def test_a_helper_counts_from_the_end_of_each_axis(row, column, is_inside):
    """A table of two rows and five columns: the shorter axis does not bound the longer one."""

    def make():
        class Element(cosim.Component):
            """One element. Law: y = P[row, column]."""

            P = cosim.parameter(shape=(2, 5), default=[[0.0, 1.0, 2.0, 3.0, 4.0], [5.0, 6.0, 7.0, 8.0, 9.0]])
            y = cosim.output()

            @cosim.kernel
            def law(P, y):
                y[0] = element(P, row, column)

        return Element

    if not is_inside:
        with pytest.raises(cosim.ContractError, match="P has 2 rows and 5 columns, .* is outside"):
            make()
        return
    model = cosim.Model("table")
    model.add(make(), "element")
    result = cosim.simulate(model.build(), until=0.1, signals=["element.y"])
    assert result["element.y"][0] == 5.0 * (row % 2) + column % 5


def test_a_loop_that_leaves_a_vector():
    with pytest.raises(cosim.ContractError, match=r"bounds.py:\d+: .*law.*3 elements, \[3\]"):

        class Total(cosim.Component):
            """Sum. Law: y = a1 + a2 + a3."""

            a = cosim.parameter(shape=3)
            y = cosim.output()

            @cosim.kernel
            def law(a, y):
                total = 0.0
                for i in range(1, 4):
                    total += a[i]
                y[0] = total
