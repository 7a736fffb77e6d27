"""`work_at_error` of the benchmarks: the work of a library for an error, interpolated between its runs."""

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


def work(runs, error):
    """The work for an error, from pairs of work and error."""
    return equal_errors.work_at_error([equal_errors.WorkAndError(*run) for run in runs], error)


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (1e-2, 1.0),
        (1e-3, math.sqrt(2.0)),
        (1e-4, 2.0),
        (1e-5, 4.0),
        (1e-6, 8.0),
        (1e-1, 1.0),  # the error of every run is smaller
    ],
)
def test_the_work_is_interpolated_linearly_in_logarithms(error, expected):
    assert work(CURVE, error) == pytest.approx(expected, rel=1e-12)
    assert work(CURVE[::-1], error) == work(CURVE, error)


def test_a_run_with_more_work_and_error_than_another_one_is_ignored():
    dominated = [(3.0, 2e-4), (2.0, 5e-4), (9.0, 1e-6)]
    assert work(CURVE + dominated, 1e-5) == work(CURVE, 1e-5)


def test_a_failed_run_is_ignored():
    assert work([(0.5, math.nan), (0.6, math.inf), *CURVE], 1e-5) == work(CURVE, 1e-5)


def test_the_work_for_an_error_that_no_run_reaches_is_nan():
    assert math.isnan(work(CURVE, 9.9e-7))
    assert math.isnan(work([], 1.0))


def test_a_run_with_an_error_of_zero():
    assert work([(1.0, 1e-2), (4.0, 0.0)], 1e-3) == 4.0
    assert work([(4.0, 0.0)], 0.0) == 4.0
    assert math.isnan(work([(1.0, 1e-2)], 0.0))
