"""What each element of a result is computed from."""

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
    """What each element of a result comes from: of a function of a vector, a number and that result."""
    vector = View(REAL, 2, (n // table, table)) if table else View(REAL)
    typed = Program().function(function, (vector, REAL, View(REAL)))
    x, a, out = (name for name, _ in typed.parameters)
    found = element_flows(typed, {x: n, out: n, a: 1}, [x, a])
    listed = [found.get((out, i), 0) for i in range(n)]
    return [{j if j < n else "a" for j in range(n + 1) if bits >> j & 1} for bits in listed]


def neighbours(x, a, out):
    last = len(x) - 1
    for i in range(last + 1):
        left = x[i - 1] if i > 0 else a
        right = x[i + 1] if i < last else 0.0
        out[i] = left - 2.0 * x[i] + right


@pytest.mark.parametrize("n", [1, 2, 5])
def test_loops_over_neighbours(n):
    expected = [{j for j in (i - 1, i, i + 1) if 0 <= j < n} for i in range(n)]
    expected[0].add("a")
    assert sources(neighbours, n) == expected


def test_nothing_of_no_element():
    assert sources(neighbours, 0) == []


def from_the_end(x, a, out):
    for i in range(len(x)):
        out[i] = x[-1 - i]


def stretches(x, a, out):
    for i in range(len(x)):
        total = 0.0
        for value, weight in zip(x[i : i + 3], WEIGHTS):  # noqa: B905 (of unequal lengths at the end)
            total += value * weight
        out[i] = total


def by_constants(x, a, out):
    for i in range(len(x)):
        out[PLACES[i]] = x[i]


def by_parity(x, a, out):
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
        (from_the_end, [{2}, {1}, {0}]),
        (stretches, [{0, 1, 2}, {1, 2}, {2}]),
        (by_constants, [{0}, {2}, {1}]),
        (by_parity, [{0}, {"a"}, {1}]),
        (with_while, [{0, 2}, {1}, {2}]),
    ],
)
def test_indices_that_are_computed(function, expected):
    assert sources(function, 3) == expected


def either(left, right):
    if left > right:
        return left
    return right


def upwind(x, a, out):
    out[0] = 0.0
    for i in range(1, len(x)):
        out[i] = either(x[i - 1], x[i]) + clip(x[i], 0.0, 1.0)


def either_branch(x, a, out):
    for i in range(len(x)):
        value = 0.0
        if a > 0.0:
            value = x[0]
        elif x[1] < 3.0:
            value = a * x[i]
        out[i] = value


def leaves_early(x, a, out):
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
        (either_branch, [{0, "a"}, {0, 1, "a"}, {0, 2, "a"}]),
        (leaves_early, [{0}, {1}, {2}]),
        (refuses, [{0}, {1}, {2}]),
    ],
)
def test_conditions_on_numbers_join_both_branches(function, expected):
    assert sources(function, 3) == expected


def at_a_place(x, a, out):
    for i in range(len(x)):
        out[i] = x[int(a)]


def to_a_place(x, a, out):
    for i in range(len(x)):
        out[i] = 0.0
    out[int(a)] = x[1]


def until_settled(x, a, out):
    value = x[0]
    while abs(value) > 1e-3:
        value = 0.5 * value + a
    for i in range(len(x)):
        out[i] = value


def through_arrays(x, a, out):
    kept = zeros(3)
    for i in range(3):
        kept[i] = x[i]
    for i in range(len(x)):
        out[i] = kept[2 - i]


@pytest.mark.parametrize(
    ("function", "expected"),
    [
        (at_a_place, [{0, 1, 2}] * 3),
        (to_a_place, [{1}] * 3),
        (until_settled, [{0, "a"}] * 3),
        (through_arrays, [{2}, {1}, {0}]),
    ],
)
def test_what_is_not_known_stands_for_all(function, expected):
    assert sources(function, 3) == expected


def along_rows(x, a, out):
    for i in range(2):
        row = x[i]
        for j in range(3):
            out[3 * i + j] = row[j] - x[1 - i, j]


def test_tables():
    assert sources(along_rows, 6, table=3) == [{j, j + 3} for j in range(3)] * 2


def by_library(x, a, out):
    for i in range(len(x)):
        out[i] = interp(x[i], (0.0, 1.0), (0.0, 2.0))


def test_functions_of_the_library_are_followed():
    assert sources(by_library, 3) == [{0}, {1}, {2}]


def beyond(x, a, out):
    for i in range(len(x)):
        out[i] = x[i + 1]


def for_ever(x, a, out):
    total = 0.0
    for _ in range(10_000_000):
        total += x[0]
    for i in range(len(x)):
        out[i] = total


@pytest.mark.parametrize("function", [beyond, for_ever])
def test_what_cannot_be_followed_says_so(function, monkeypatch):
    monkeypatch.setattr("cosim_compiler.language.expression_flows.MOST_NODES", 10_000)
    with pytest.raises(UnclearError):
        sources(function, 3)
