"""Random programs compute the same compiled and in plain Python, to the last bit."""

from __future__ import annotations

import os

import pytest
from programs_run import differences

from cosim_compiler.printers import llvm_arithmetic

BATCH = 25
FIRST = int(os.environ.get("COSIM_FIRST_PROGRAM", "0"))


@pytest.mark.parametrize("count", [50, pytest.param(100_000, marks=pytest.mark.thorough)])
def test_random_programs(count: int) -> None:
    compared = 0
    for first in range(FIRST, FIRST + count, BATCH):
        for difference in differences(range(first, first + BATCH)):
            assert difference is None, str(difference)
            compared += 1
    assert compared > 3 * count


@pytest.mark.few(1)
@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("min", llvm_arithmetic.OTHERS["max"]),
        ("max", llvm_arithmetic.OTHERS["min"]),
    ],
)
def test_a_wrong_instruction_is_noticed(monkeypatch: pytest.MonkeyPatch, name: str, broken: object) -> None:
    monkeypatch.setitem(llvm_arithmetic.OTHERS, name, broken)
    assert any(
        d is not None for first in range(0, 200, BATCH) for d in differences(range(first, first + BATCH))
    )
