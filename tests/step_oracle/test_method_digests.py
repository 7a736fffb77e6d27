"""Every method of ours makes of the random systems what it made of them when it was written down."""

from __future__ import annotations

import os
from dataclasses import replace

import pytest
from method_digests import Digests, digest_of, digests_of, digests_of_all, methods, written_digests
from oracle_data import written_outcomes
from random_systems import random_plan
from test_oracle import OF_THIS_PLATFORM

SEEDS = list(written_outcomes())
NORMAL = 3
"""Of the seeds, in every run."""
FELL_THROUGH = [
    (125, "integrators.dormand_prince"),
    (125, "integrators.radau5"),
    (615, "integrators.implicit_euler"),
]
"""Balls that may not fall through: pressed to a shaken table, or turned down behind a write of its speed."""


def differing(expected: Digests, found: Digests) -> list[str]:
    """Methods whose outcome is another one."""
    return [name for name in methods() if expected.get(name) != found[name]]


def test_methods_differ_and_repeat() -> None:
    one, again = digests_of(SEEDS[14]), digests_of(SEEDS[14])
    assert one == again
    assert len(set(one.values())) > len(methods()) / 2


def test_all_systems_are_there_with_all_methods() -> None:
    assert list(written_digests()) == SEEDS
    assert all(tuple(digests) == methods() for digests in written_digests().values())


@OF_THIS_PLATFORM
@pytest.mark.parametrize("seed", SEEDS[:NORMAL])
def test_written_digests(seed: int) -> None:
    assert not differing(written_digests()[seed], digests_of(seed))


@OF_THIS_PLATFORM
@pytest.mark.parametrize(("seed", "method"), FELL_THROUGH)
def test_balls_stay_above(seed: int, method: str) -> None:
    plan = replace(random_plan(seed), integrator=method)
    assert digest_of(plan) == written_digests()[seed][method]


@OF_THIS_PLATFORM
@pytest.mark.thorough
def test_all_written_digests() -> None:
    found = digests_of_all(SEEDS[NORMAL:], int(os.environ.get("COSIM_TEST_PROCESSES", "2")))
    assert not {
        seed: names for seed, digests in found if (names := differing(written_digests()[seed], digests))
    }
