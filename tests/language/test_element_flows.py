"""The elements of the arguments that each element of a result depends on."""

from __future__ import annotations

import math
from collections.abc import Callable

import pytest

from cosim.functions import clip, interp, zeros
from cosim_compiler.language.element_flows import element_flows
from cosim_compiler.language.flow_values import UnclearError
from cosim_compiler.language.program import Program
from cosim_compiler.language.types import REAL, View

WEIGHTS = (0.25, 0.5, 0.25)
PLACES = (0, 2, 1)


def sources(function: Callable[..., None], n: int, table: int = 0) -> list[set[int | str]]:
    """The elements that each element of the result of a function of a vector and a number `a` depends on."""
    vector = View(REAL, 2, (n // table, table)) if table else View(REAL)
    typed = Program().function(function, (vector, REAL, View(REAL)))
    x, a, out = (name for name, _ in typed.parameters)
    element_sources = element_flows(typed, {x: n, out: n, a: 1}, [x, a])
    listed = [element_sources.get((out, i), 0) for i in range(n)]
    return [{j if j < n else "a" for j in range(n + 1) if bits >> j & 1} for bits in listed]


def neighbours(x, a, out):
    last = len(x) - 1
    for i in range(last + 1):
        left = x[i - 1] if i > 0 else a
        right = x[i + 1] if i < last else 0.0
        out[i] = left - 2.0 * x[i] + right


@pytest.mark.parametrize("n", [1, 2, 5])
def test_a_loop_over_neighbours(n):
    expected = [{j for j in (i - 1, i, i + 1) if 0 <= j < n} for i in range(n)]
    expected[0].add("a")
    assert sources(neighbours, n) == expected


def test_a_result_without_elements():
    assert sources(neighbours, 0) == []


def reversed_copy(x, a, out):
    for i in range(len(x)):
        out[i] = x[-1 - i]


def weighted_sums(x, a, out):
    for i in range(len(x)):
        total = 0.0
        for value, weight in zip(x[i : i + 3], WEIGHTS):  # noqa: B905 (of unequal lengths at the end)
            total += value * weight
        out[i] = total


def permuted_by_constants(x, a, out):
    for i in range(len(x)):
        out[PLACES[i]] = x[i]


def by_parity_of_index(x, a, out):
    for i in range(len(x)):
        if i % 2 == 0:
            out[i] = x[i // 2]
        elif i & 1:
            out[i] = a


def with_while(x, a, out):
    i = 0
    while i < len(x):
        out[i] = x[i]
        i += 1
        if i == 2:
            continue
    for j in range(3):
        if j == 1:
            break
        out[0] += x[2]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (reversed_copy, [{2}, {1}, {0}]),
        (weighted_sums, [{0, 1, 2}, {1, 2}, {2}]),
        (permuted_by_constants, [{0}, {2}, {1}]),
        (by_parity_of_index, [{0}, {"a"}, {1}]),
        (with_while, [{0, 2}, {1}, {2}]),
    ],
)
def test_indices_that_follow_from_loops_and_constants(function, expected):
    assert sources(function, 3) == expected


def larger_by_branch(left, right):
    if left > right:
        return left
    return right


def upwind(x, a, out):
    out[0] = 0.0
    for i in range(1, len(x)):
        out[i] = larger_by_branch(x[i - 1], x[i]) + clip(x[i], 0.0, 1.0)


def branches_of_numbers(x, a, out):
    for i in range(len(x)):
        value = 0.0
        if a > 0.0:
            value = x[0]
        elif x[1] < 3.0:
            value = a * x[i]
        out[i] = value


def leaves_loop_early(x, a, out):
    for i in range(len(x)):
        out[i] = 0.0
    for i in range(len(x)):
        if x[i] > a:
            break
        out[i] = x[i]


def refuses(x, a, out):
    for i in range(len(x)):
        if x[i] < 0.0:
            raise ValueError("negative")
        out[i] = math.sqrt(x[i])


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (upwind, [set(), {0, 1}, {1, 2}]),
        (branches_of_numbers, [{0, "a"}, {0, 1, "a"}, {0, 2, "a"}]),
        (leaves_loop_early, [{0}, {1}, {2}]),
        (refuses, [{0}, {1}, {2}]),
    ],
)
def test_a_condition_on_a_number_joins_both_branches(function, expected):
    assert sources(function, 3) == expected


def reads_computed_index(x, a, out):
    for i in range(len(x)):
        out[i] = x[int(a)]


def writes_computed_index(x, a, out):
    for i in range(len(x)):
        out[i] = 0.0
    out[int(a)] = x[1]


def iterates_until_small(x, a, out):
    value = x[0]
    while abs(value) > 1e-3:
        value = 0.5 * value + a
    for i in range(len(x)):
        out[i] = value


def through_own_array(x, a, out):
    own_array = zeros(3)
    for i in range(3):
        own_array[i] = x[i]
    for i in range(len(x)):
        out[i] = own_array[2 - i]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (reads_computed_index, [{0, 1, 2}] * 3),
        (writes_computed_index, [{1}] * 3),
        (iterates_until_small, [{0, "a"}] * 3),
        (through_own_array, [{2}, {1}, {0}]),
    ],
)
def test_an_unknown_index_stands_for_all_elements(function, expected):
    assert sources(function, 3) == expected


def along_rows_of_table(x, a, out):
    for i in range(2):
        row = x[i]
        for j in range(3):
            out[3 * i + j] = row[j] - x[1 - i, j]


def test_rows_of_a_table():
    assert sources(along_rows_of_table, 6, table=3) == [{j, j + 3} for j in range(3)] * 2


def by_interp(x, a, out):
    for i in range(len(x)):
        out[i] = interp(x[i], (0.0, 1.0), (0.0, 2.0))


def test_the_functions_of_the_language_are_followed():
    assert sources(by_interp, 3) == [{0}, {1}, {2}]


def reads_beyond_the_end(x, a, out):
    for i in range(len(x)):
        out[i] = x[i + 1]


def loops_too_long(x, a, out):
    total = 0.0
    for _ in range(10_000_000):
        total += x[0]
    for i in range(len(x)):
        out[i] = total


@pytest.mark.parametrize("function", [reads_beyond_the_end, loops_too_long])
def test_a_function_that_cannot_be_followed_is_an_error(function, monkeypatch):
    monkeypatch.setattr("cosim_compiler.language.expression_flows.MOST_NODES", 10_000)
    with pytest.raises(UnclearError):
        sources(function, 3)
