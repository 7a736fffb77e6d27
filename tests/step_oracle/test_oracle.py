"""Random systems against what an independent Step made of them, and compiled code against plain Python."""

from __future__ import annotations

import json
import os
import platform
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from draws import Draws
from how_many import many
from oracle_data import first_difference, written_outcomes
from oracle_run import run_plan
from random_systems import random_plan

NORMAL = 60  # of the seeds that were written down, in every run
PLAIN = 4  # of these, in plain Python too
BATCH = 20
SEEDS = list(written_outcomes())
OF_THIS_PLATFORM = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="the last bits are those of the mathematical functions of Linux on x86-64",
)


def difference(seed: int, expected: dict[str, Any], found: dict[str, Any]) -> str:
    """Where an outcome differs first, and of which system it is; empty where it does not."""
    if expected == found:
        return ""
    plan = random_plan(seed)
    return f"{first_difference(expected, found, plan.build())}\n{plan}"


def outcomes_in_other_mode(seeds: list[int]) -> dict[int, dict[str, Any]]:
    """The outcomes of seeds in a process in which kernel functions are plain Python."""
    run = subprocess.run(
        [sys.executable, str(Path(__file__).with_name("run_seeds.py")), *map(str, seeds)],
        env={**os.environ, "NUMBA_DISABLE_JIT": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = run.stdout.splitlines()
    assert run.returncode == 0, f"{random_plan(seeds[len(lines)])}\n{run.stderr}"
    return dict(zip(seeds, map(json.loads, lines), strict=True))


def test_draws_are_the_same_for_ever() -> None:
    draws = Draws(7)
    drawn = [draws.count(1, 6) for _ in range(8)]
    assert drawn == [4, 6, 3, 1, 2, 1, 5, 2]
    assert draws.fraction() == float.fromhex("0x1.98197bf2434c3p-1")
    assert draws.shuffled("abcde") == ["d", "a", "e", "b", "c"]


@OF_THIS_PLATFORM
@pytest.mark.parametrize(
    "seed",
    [*SEEDS[:NORMAL], *(pytest.param(seed, marks=pytest.mark.thorough) for seed in SEEDS[NORMAL:])],
)
def test_written_outcomes(seed: int) -> None:
    expected = written_outcomes()[seed]
    assert not difference(seed, expected, run_plan(random_plan(seed)))


@OF_THIS_PLATFORM
def test_written_outcomes_in_plain_python() -> None:
    for seed, found in outcomes_in_other_mode(SEEDS[:PLAIN]).items():
        assert not difference(seed, written_outcomes()[seed], found)


@pytest.mark.thorough
def test_compiled_code_and_plain_python_agree_on_fresh_seeds() -> None:
    first = int(os.environ.get("COSIM_TEST_SEED", int.from_bytes(os.urandom(6), "little")))
    seeds = range(first, first + many(334))
    for start in range(seeds.start, seeds.stop, BATCH):
        batch = list(seeds[start - seeds.start : start - seeds.start + BATCH])
        for seed, found in outcomes_in_other_mode(batch).items():
            assert not difference(seed, run_plan(random_plan(seed)), found)
