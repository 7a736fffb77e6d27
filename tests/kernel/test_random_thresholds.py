"""Random systems that meet their thresholds exactly: no event is missed, and none comes twice."""

from __future__ import annotations

import random

import pytest
from exact_thresholds import Points, PushedPoints, on_paper, random_case, run
from how_many import many
from zero_methods import EVERY, EVERY_OF_SECOND_ORDER


def check_campaign(first, count, base, methods):
    """Compare the times of events of random systems, from the seed `first` on, with those on paper.

    Each system has a unit of its levels and a grid of its times; steps are multiples of the grid, or not.
    """
    for seed in range(first, first + count):
        draw = random.Random(seed)
        case = None
        while case is None:
            case = random_case(draw, base)
        method, step = methods[seed % len(methods)]
        unit = draw.choice((1.0, 0.25, 0.7, 0.1, 1.0 / 3.0, 1e3 / 7.0))
        grid = draw.choice((0.125, 0.1, 0.7))
        options = {"fixed_step": step * draw.choice((1.0, 2.0)) * grid / 0.1} if step else {}
        times = run(case, unit, grid, integrator=f"integrators.{method}", accuracy=1e-6, **options)
        expected = [float(time) for time in on_paper(case)]
        assert times == pytest.approx(expected, abs=1e-4), (seed, method, options, unit, grid, case)


@pytest.mark.thorough
def test_random_thresholds_that_are_met_exactly():
    check_campaign(0, many(60), Points, EVERY)
    check_campaign(0, many(60), PushedPoints, EVERY_OF_SECOND_ORDER)


@pytest.mark.thorough
def test_ten_thousand_random_thresholds_that_are_met_exactly():
    check_campaign(100_000, many(10_000), Points, EVERY)
    check_campaign(200_000, many(10_000), PushedPoints, EVERY_OF_SECOND_ORDER)


def test_a_share_of_the_random_cases_is_decided_on_paper():
    """Cases in which rounding decides are None; of the others most have events."""
    cases = [random_case(random.Random(seed)) for seed in range(200)]
    assert 40 < sum(case is None for case in cases) < 160
    assert sum(len(on_paper(case)) for case in cases if case is not None) > 60
