"""Loops that copy numbers: all at once where they may, with what the loop leaves behind."""

from __future__ import annotations

import numpy as np
import pytest
from language_tools import compiled
from numpy.typing import NDArray

from cosim_compiler.code import text_for_llvm
from cosim_compiler.kept_loops import with_loops_kept
from cosim_compiler.language.program import Program
from cosim_compiler.native import lower
from cosim_compiler.printers.llvm import MANY, MOVE

SIZE = 3 * MANY


def copied(target, source, count):
    i = -1
    for i in range(count):
        target[i] = source[i]
    return i


def copied_twice_as_much(target, source, count):
    for i in range(count):
        target[i] = 2.0 * source[i]
    return count


def copied_one_further(target, source, count):
    for i in range(count):
        target[i + 1] = source[i]
    return count


def copied_from_second(target, source, count):
    for i in range(1, count):
        target[i] = source[i]
    return count


def converted(target, source, count):
    for i in range(count):
        target[i] = source[i]
    return count


def text_of(function: object, signature: str) -> str:
    program = Program()
    return text_for_llvm(program, [("entry", program.root(function, signature), signature)])


@pytest.mark.parametrize("kind", ["F", "I"])
@pytest.mark.parametrize("count", [-1, 0, 1, MANY - 1, MANY, MANY + 1, SIZE // 2])
@pytest.mark.parametrize(
    ("to", "out_of"), [(0, 0), (0, 1), (1, 0), (0, MANY), (MANY, 0), (SIZE // 2, 0), (0, 40)]
)
def test_overlapping_views_are_copied_turn_by_turn(kind: str, count: int, to: int, out_of: int) -> None:
    called = compiled(copied, f"{kind}{kind}i>i")

    def run(function: object) -> tuple[int, NDArray[np.generic]]:
        numbers = np.arange(SIZE, dtype=np.int64 if kind == "I" else np.float64)
        return function(numbers[to:], numbers[out_of:], count), numbers  # type: ignore[operator]

    (last, numbers), (expected_last, expected) = run(called), run(copied)
    assert last == expected_last and np.array_equal(numbers, expected)


def test_bits_that_are_no_number_stay() -> None:
    bits = np.full(SIZE, 0x7FF0_0000_0000_0001, dtype=np.int64)  # a signaling NaN
    target = np.zeros(SIZE)
    compiled(copied, "FFi>i")(target, bits.view(np.float64), SIZE)
    assert np.array_equal(target.view(np.int64), bits)


def test_only_plain_copies_are_calls() -> None:
    assert MOVE in text_of(copied, "FFi>i") and MOVE in text_of(copied, "IIi>i")
    others = [copied_twice_as_much, copied_one_further, copied_from_second]
    assert not any(MOVE in text_of(function, "FFi>i") for function in others)
    assert MOVE not in text_of(converted, "FIi>i")


def test_loops_can_be_kept() -> None:
    text = lower({"copied": (copied, "FFi>i")})
    kept = with_loops_kept(text)
    assert kept != text and "llvm.loop.unroll.disable" in kept
    assert len(kept.splitlines()) == len(text.splitlines())
