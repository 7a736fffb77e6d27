"""The length of the next step: the branch that skips the power returns the value of the full formula."""

from __future__ import annotations

import math

import numpy as np
import pytest

from cosim_integrators.kit.step_length import CAUTION, LARGEST_GROWTH, LEAST_GROWTH, next_step


def by_formula(ideal: float, step: float, error: float, order: float) -> float:
    """Return the next step after one that was cut short and not rejected, by the full formula."""
    factor = 0.0 if error == 0.0 else CAUTION * math.pow(error, -1.0 / order)
    longer = min(LARGEST_GROWTH, factor) * step
    return longer if longer > LEAST_GROWTH * ideal else ideal


def test_short_steps_with_random_errors() -> None:
    random = np.random.default_rng(3)
    longer_steps = 0
    for _ in range(2000):
        step = random.uniform(0.0, 0.949)  # of an ideal step of 1; from 0.95 on a step is not short
        error = float(random.choice([0.0, 1.0, 10.0 ** random.uniform(-12.0, 0.0)]))
        order = float(random.integers(1, 9))
        expected = by_formula(1.0, step, error, order)
        longer_steps += expected > 1.0
        assert next_step(1.0, step, error, 0.5, order, False) == expected
        assert next_step(1.0, step, error, 0.5, order, True) == 1.0
    assert 100 < longer_steps < 1900  # both branches occur


@pytest.mark.parametrize("step", [0.22, math.nextafter(0.22, 1.0), math.nextafter(0.22, 0.0)])
def test_a_step_at_the_limit_of_growth(step: float) -> None:
    assert LARGEST_GROWTH * 0.22 == LEAST_GROWTH
    assert next_step(1.0, step, 1e-12, 0.5, 5.0, False) == by_formula(1.0, step, 1e-12, 5.0)
