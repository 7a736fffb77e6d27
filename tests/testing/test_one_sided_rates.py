"""Rates of quantities that kits accept beside kinks: those of either side, and those between both."""

import math

import numpy as np
import pytest

from cosim.testing.one_sided_rates import is_possible_rate, possible_rates


@pytest.mark.parametrize("place", [0.0, 1e-5, -1e-5, 3e-4, -3e-4, 2e-3, 1.0, -1.0])
def test_the_rate_of_one_side_of_a_kink_is_accepted(place):
    """The energy of a spring that only pushes, near its kink and far from it."""

    def energy(time):
        return 50.0 * min(place + 2.0 * time, 0.0) ** 2

    rate = 100.0 * min(place, 0.0) * 2.0
    assert is_possible_rate(rate, energy, 1e-3, 1e-9)
    assert not is_possible_rate(rate + 0.1, energy, 1e-3, 1e-9)


@pytest.mark.parametrize("rate", [-1.0, -0.3, 0.0, 1.0])
def test_at_a_kink_all_rates_between_both_sides_are_accepted(rate):
    assert is_possible_rate(rate, abs, 1e-3, 1e-9)
    assert not is_possible_rate(math.copysign(1.0 + 1e-6, rate), abs, 1e-3, 1e-9)


def test_the_first_rate_of_a_smooth_quantity_takes_four_evaluations():
    times = []
    (low, high, _) = next(possible_rates(lambda t: times.append(t) or math.sin(t), 1e-3))
    assert low == high == pytest.approx(1.0, abs=1e-11) and len(times) == 4


def test_any_rate_of_noise_is_accepted():
    random = np.random.default_rng(1)
    assert is_possible_rate(1e9, lambda t: float(random.uniform()), 1e-3, 1e-9)
