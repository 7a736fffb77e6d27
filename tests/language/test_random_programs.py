"""Random programs do the same compiled and in plain Python, to the last bit."""

from __future__ import annotations

import itertools
import os
import time

import pytest
from programs_run import differences

from cosim_compiler.printers import llvm_arithmetic

BATCH = 25
SECONDS = 20.0
THOROUGH = 100_000
FIRST = int(os.environ.get("COSIM_FIRST_PROGRAM", "0"))
FEWEST = 500
"""Calls that have to be compared in any case."""


def check(batches: itertools.count[int] | range, seconds: float) -> int:
    """Compare programs batch by batch until the time is over; how many calls were compared."""
    begin, compared = time.process_time(), 0
    for first in batches:
        for difference in differences(range(first, first + BATCH)):
            assert difference is None, str(difference)
            compared += 1
        if time.process_time() - begin > seconds and compared >= FEWEST:
            break
    return compared


def test_random_programs() -> None:
    assert check(itertools.count(FIRST, BATCH), SECONDS) >= FEWEST


@pytest.mark.thorough
def test_a_hundred_thousand_programs() -> None:
    assert check(range(FIRST, FIRST + THOROUGH, BATCH), float("inf")) > THOROUGH


@pytest.mark.parametrize(
    ("name", "broken"),
    [
        ("min", llvm_arithmetic.OTHERS["max"]),
        ("max", llvm_arithmetic.OTHERS["min"]),
    ],
)
def test_a_wrong_rule_is_found(monkeypatch: pytest.MonkeyPatch, name: str, broken: object) -> None:
    monkeypatch.setitem(llvm_arithmetic.OTHERS, name, broken)
    assert any(
        d is not None for first in range(0, 200, BATCH) for d in differences(range(first, first + BATCH))
    )
