"""The outcomes of random systems with each of our methods have the digests of the file."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from method_digests import Digests, digest_of, digests_of, digests_of_all, methods, written_digests
from oracle_data import written_outcomes
from random_systems import random_plan
from test_oracle import OF_THIS_PLATFORM

SEEDS = list(written_outcomes())
SHORT_RUN = 3
"""The number of seeds in a short run."""
FELL_THROUGH = [
    (125, "integrators.dormand_prince"),
    (125, "integrators.radau5"),
    (615, "integrators.implicit_euler"),
]
"""Systems in which a ball once fell through: pressed to a shaken table, or thrown down by a write."""


def differing(expected: Digests, found: Digests) -> list[str]:
    """The methods with different digests."""
    return [name for name in methods() if expected.get(name) != found[name]]


def test_digests_differ_between_methods_and_not_between_runs() -> None:
    first, second = digests_of(SEEDS[14]), digests_of(SEEDS[14])
    assert first == second
    assert len(set(first.values())) > len(methods()) / 2


def test_the_file_has_all_systems_with_all_methods() -> None:
    assert list(written_digests()) == SEEDS
    assert all(tuple(digests) == methods() for digests in written_digests().values())


@OF_THIS_PLATFORM
@pytest.mark.parametrize("seed", SEEDS[:SHORT_RUN])
def test_digests_are_those_of_the_file(seed: int) -> None:
    assert not differing(written_digests()[seed], digests_of(seed))


@OF_THIS_PLATFORM
@pytest.mark.parametrize(("seed", "method"), FELL_THROUGH)
def test_a_ball_that_once_fell_through_has_the_digest_of_the_file(seed: int, method: str) -> None:
    plan = replace(random_plan(seed), integrator=method)
    assert digest_of(plan) == written_digests()[seed][method]


@OF_THIS_PLATFORM
@pytest.mark.thorough
def test_all_digests_are_those_of_the_file() -> None:
    computed = digests_of_all(SEEDS[SHORT_RUN:], int(os.environ.get("COSIM_TEST_PROCESSES", "2")))
    assert not {
        seed: names for seed, digests in computed if (names := differing(written_digests()[seed], digests))
    }
