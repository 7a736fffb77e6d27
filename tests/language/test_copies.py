"""Loops that copy numbers become one call where possible, with the same results for overlapping views."""

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


def copy_elements(target, source, count):
    i = -1
    for i in range(count):
        target[i] = source[i]
    return i


def copy_doubled(target, source, count):
    for i in range(count):
        target[i] = 2.0 * source[i]
    return count


def copy_shifted(target, source, count):
    for i in range(count):
        target[i + 1] = source[i]
    return count


def copy_from_second(target, source, count):
    for i in range(1, count):
        target[i] = source[i]
    return count


def copy_converted(target, source, count):
    for i in range(count):
        target[i] = source[i]
    return count


def text_of(function: object, signature: str) -> str:
    program = Program()
    return text_for_llvm(program, [("entry", program.root(function, signature), signature)])


@pytest.mark.parametrize("kind", ["F", "I"])
@pytest.mark.parametrize("count", [-1, 0, 1, MANY - 1, MANY, MANY + 1, SIZE // 2])
@pytest.mark.parametrize(
    ("target_start", "source_start"), [(0, 0), (0, 1), (1, 0), (0, MANY), (MANY, 0), (SIZE // 2, 0), (0, 40)]
)
def test_overlapping_views_are_copied_as_by_a_loop(
    kind: str, count: int, target_start: int, source_start: int
) -> None:
    called = compiled(copy_elements, f"{kind}{kind}i>i")

    def run(function: object) -> tuple[int, NDArray[np.generic]]:
        numbers = np.arange(SIZE, dtype=np.int64 if kind == "I" else np.float64)
        return function(numbers[target_start:], numbers[source_start:], count), numbers  # type: ignore[operator]

    (last, numbers), (expected_last, expected) = run(called), run(copy_elements)
    assert last == expected_last and np.array_equal(numbers, expected)


def test_a_signaling_nan_is_copied_without_a_change() -> None:
    bits = np.full(SIZE, 0x7FF0_0000_0000_0001, dtype=np.int64)  # a signaling NaN
    target = np.zeros(SIZE)
    compiled(copy_elements, "FFi>i")(target, bits.view(np.float64), SIZE)
    assert np.array_equal(target.view(np.int64), bits)


def test_only_loops_that_do_nothing_but_copy_become_calls() -> None:
    assert MOVE in text_of(copy_elements, "FFi>i") and MOVE in text_of(copy_elements, "IIi>i")
    others = [copy_doubled, copy_shifted, copy_from_second]
    assert not any(MOVE in text_of(function, "FFi>i") for function in others)
    assert MOVE not in text_of(copy_converted, "FIi>i")


def test_loops_can_be_marked_so_that_they_are_not_unrolled() -> None:
    text = lower({"copy_elements": (copy_elements, "FFi>i")})
    marked_text = with_loops_kept(text)
    assert marked_text != text and "llvm.loop.unroll.disable" in marked_text
    assert len(marked_text.splitlines()) == len(text.splitlines())
