"""Loops of a known length over the items of tuples, and indices that cannot be negative, in machine code."""

from __future__ import annotations

import numpy as np
import pytest
from language_tools import compiled

from cosim_compiler.code import text_for_llvm
from cosim_compiler.language.program import Program

SIX = np.arange(1.0, 7.0)


def put(view, first, values):
    for i in range(6):
        view[first + i] = values[i]


def puts(view):
    put(view, 0, (6.0, 5.0, 4.0, 3.0, 2.0, 1.0))
    return view[0] - view[5]


def counts_down(view):
    items = (1.0, 10.0, 100.0)
    total = 0.0
    for i in range(2, -1, -1):
        total = total / 3.0 + items[i] * view[i]
    return total


def takes_twice(view):
    items = ((1.0, 2.0), (3.0, 5.0))
    total = 0.0
    for i in range(2):
        for j in range(2):
            total = total * 7.0 + items[i][j] * view[2 * i + j]
    return total


def leaves_and_skips(view):
    items = (1.0, 10.0, 100.0, 1000.0, 10000.0)
    total = 0.0
    for i in range(5):
        if i == 1:
            continue
        if i == 4:
            break
        total += items[i] * view[i]
    else:
        total = -1.0
    return total + 0.5 * i


def runs_to_its_end(view):
    items = (1.0, 10.0)
    total = 0.0
    for i in range(2):
        total += items[i] * view[i]
    else:
        total += 1000.0
    return total + 0.5 * i


def counts_beyond_a_tuple(view):
    items = (1.0, 10.0)
    total = 0.0
    for i in range(4):
        total += (items[i] if i < 2 else 7.0) * view[i]
    return total


def moves_its_count(view):
    items = (1.0, 10.0, 100.0)
    total = 0.0
    for i in range(3):
        total += items[i] * view[i]
        i = i - 2
        total += view[i]
    return total + i


def counts_negative_items(view):
    items = (1.0, 10.0, 100.0)
    total = 0.0
    for i in range(-3, 0):
        total = total * 3.0 + items[i] * view[i]
    return total


LOOPS = (
    puts, counts_down, takes_twice, leaves_and_skips, runs_to_its_end, counts_beyond_a_tuple, moves_its_count,
    counts_negative_items,
)  # fmt: skip


@pytest.mark.parametrize("function", LOOPS)
def test_an_unrolled_loop_computes_what_python_computes(function) -> None:
    compiled_view, plain_view = SIX.copy(), SIX.copy()
    assert compiled(function, "F>f")(compiled_view) == function(plain_view)
    assert compiled_view.tobytes() == plain_view.tobytes()


def text_of(function, signature: str) -> str:
    program = Program()
    return text_for_llvm(program, [("entry", program.root(function, signature), signature)])


@pytest.mark.parametrize("function", [f for f in LOOPS if f not in (counts_beyond_a_tuple, moves_its_count)])
def test_an_item_of_a_tuple_in_an_unrolled_loop_needs_no_switch(function) -> None:
    assert "switch" not in text_of(function, "F>f")


def over_many(view, n):
    items = (1.0, 2.0, 4.0)
    total = 0.0
    for i in range(n):
        total += items[i % 3] * view[i]
    return total


def test_a_loop_of_unknown_length_is_not_unrolled() -> None:
    assert "switch" in text_of(over_many, "Fi>f")
    assert compiled(over_many, "Fi>f")(SIX, 6) == over_many(SIX, 6)


def backward(view, n):
    total = 0.0
    for i in range(n - 1, -1, -1):
        total = total / 3.0 + view[i]
    return total


def from_the_end(view, n):
    total = 0.0
    for i in range(-n, 0):
        total = total / 3.0 + view[i]
    return total


def down_below_zero(view, n):
    total = 0.0
    for i in range(n - 1, -n - 1, -1):
        total = total / 3.0 + view[i]
    return total


def less_one(view, n):
    total = 0.0
    for i in range(n):
        total = total / 3.0 + view[i - 1]
    return total


def counts_twice(view, n):
    total = 0.0
    for i in range(n):
        total += view[i]
    for i in range(-n, 0):
        total = total / 3.0 + view[i]
    return total


def reads_after_loop(view, n):
    i = -1
    for i in range(n):
        if view[i] > 3.5:
            break
    return view[i]


@pytest.mark.parametrize(
    "function", [backward, from_the_end, down_below_zero, less_one, counts_twice, reads_after_loop]
)
def test_an_index_that_may_be_negative_counts_from_the_end(function) -> None:
    called = compiled(function, "Fi>f")
    for n in (0, 1, 2, 6):
        assert called(SIX, n) == function(SIX, n)


def test_an_index_that_cannot_be_negative_is_not_compared_with_zero() -> None:
    def is_compared(function) -> bool:
        return "!prof" in "".join(
            line for line in text_of(function, "Fi>f").splitlines() if line.startswith("  br i1")
        )

    assert not is_compared(backward)
    assert all(map(is_compared, (from_the_end, down_below_zero, less_one, counts_twice, reads_after_loop)))


def uses_previous_turn(view, n):
    total, before = 0.0, 0.0
    for i in range(n):
        total = total / 3.0 + before
        if view[i] > 2.5:
            before = view[i]
    return total + 100.0 * before


def assigned_in_a_branch(view, n):
    total = 0.0
    for i in range(n):
        pair = (view[i], 2.0 * view[i])
        if i > 1:
            total += pair[1]
        total = total / 3.0 + pair[0]
    return total


@pytest.mark.parametrize("function", [uses_previous_turn, assigned_in_a_branch])
def test_a_variable_that_is_assigned_in_a_loop_or_branch(function) -> None:
    called = compiled(function, "Fi>f")
    for n in (0, 1, 3, 6):
        assert called(SIX, n) == function(SIX, n)
