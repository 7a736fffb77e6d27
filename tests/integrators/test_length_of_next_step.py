"""The length of the next step: what leaves out a power has the value that the formula has."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cosim_integrators.kit.step_length import CAUTION, LARGEST_GROWTH, LEAST_GROWTH, next_step


def by_formula(ideal: float, step: float, error: float, order: float) -> float:
    """The next step after one that was made short and was not rejected before."""
    factor = 0.0 if error == 0.0 else CAUTION * math.pow(error, -1.0 / order)
    longer = min(LARGEST_GROWTH, factor) * step
    return longer if longer > LEAST_GROWTH * ideal else ideal


def test_after_short_steps() -> None:
    random = np.random.default_rng(3)
    longer = 0
    for _ in range(2000):
        step = random.uniform(0.0, 0.949)
        error = float(random.choice([0.0, 1.0, 10.0 ** random.uniform(-12.0, 0.0)]))
        order = float(random.integers(1, 9))
        expected = by_formula(1.0, step, error, order)
        longer += expected > 1.0
        assert next_step(1.0, step, error, 0.5, order, False) == expected
        assert next_step(1.0, step, error, 0.5, order, True) == 1.0
    assert 100 < longer < 1900


@pytest.mark.parametrize("step", [0.22, math.nextafter(0.22, 1.0), math.nextafter(0.22, 0.0)])
def test_at_the_border_of_what_growth_allows(step: float) -> None:
    assert LARGEST_GROWTH * 0.22 == LEAST_GROWTH
    assert next_step(1.0, step, 1e-12, 0.5, 5.0, False) == by_formula(1.0, step, 1e-12, 5.0)
