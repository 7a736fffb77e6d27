"""The work for an error, as benchmarks compare it."""

from __future__ import annotations

import importlib.util
import math
from pathlib import Path

import pytest

PATH = Path(__file__).parent.parent / "benchmarks" / "equal_errors.py"
SPEC = importlib.util.spec_from_file_location("equal_errors", PATH)
assert SPEC is not None and SPEC.loader is not None
equal_errors = importlib.util.module_from_spec(SPEC)
SPEC.loader.exec_module(equal_errors)

CURVE = [(1.0, 1e-2), (2.0, 1e-4), (8.0, 1e-6)]


def work(runs, wanted):
    return equal_errors.work_at_error([equal_errors.WorkAndError(*run) for run in runs], wanted)


@pytest.mark.parametrize(
    ("wanted", "expected"),
    [
        (1e-2, 1.0),
        (1e-3, math.sqrt(2.0)),
        (1e-4, 2.0),
        (1e-5, 4.0),
        (1e-6, 8.0),
        (1e-1, 1.0),  # all are more exact
    ],
)
def test_the_work_lies_on_a_line_through_logarithms(wanted, expected):
    assert work(CURVE, wanted) == pytest.approx(expected, rel=1e-12)
    assert work(CURVE[::-1], wanted) == work(CURVE, wanted)


def test_runs_that_another_beats_do_not_count():
    beaten = [(3.0, 2e-4), (2.0, 5e-4), (9.0, 1e-6)]
    assert work(CURVE + beaten, 1e-5) == work(CURVE, 1e-5)


def test_runs_that_have_failed_do_not_count():
    assert work([(0.5, math.nan), (0.6, math.inf), *CURVE], 1e-5) == work(CURVE, 1e-5)


def test_an_error_that_no_run_reaches_has_no_work():
    assert math.isnan(work(CURVE, 9.9e-7))
    assert math.isnan(work([], 1.0))


def test_a_run_without_an_error():
    assert work([(1.0, 1e-2), (4.0, 0.0)], 1e-3) == 4.0
    assert work([(4.0, 0.0)], 0.0) == 4.0
    assert math.isnan(work([(1.0, 1e-2)], 0.0))
