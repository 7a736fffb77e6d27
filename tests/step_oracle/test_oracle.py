"""Random systems against outcomes of an independent Step, and compiled code against plain Python."""

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

SHORT_RUN = 20  # the number of seeds in a short run
PLAIN = 4  # the number of seeds in plain Python
BATCH = 20  # the number of new seeds in one process of plain Python
STEPS = 200  # the largest number of steps of a new seed
SEEDS = list(written_outcomes())
OF_THIS_PLATFORM = pytest.mark.skipif(
    sys.platform != "linux" or platform.machine() != "x86_64",
    reason="the last bits are those of the mathematical functions of Linux on x86-64",
)


def difference(seed: int, expected: dict[str, Any], actual: dict[str, Any]) -> str:
    """The first difference of an outcome and its system; an empty text if there is none."""
    if expected == actual:
        return ""
    plan = random_plan(seed)
    return f"{first_difference(expected, actual, plan.build())}\n{plan}"


def outcomes_in_plain_python(seeds: list[int], most_steps: int = 0) -> dict[int, dict[str, Any]]:
    """The outcomes of seeds in a process in which kernel functions are plain Python."""
    script = str(Path(__file__).with_name("run_seeds.py"))
    run = subprocess.run(
        [sys.executable, script, str(most_steps), *map(str, seeds)],
        env={**os.environ, "COSIM_PLAIN": "1"},
        capture_output=True,
        text=True,
        check=False,
    )
    lines = run.stdout.splitlines()
    assert run.returncode == 0, f"{random_plan(seeds[len(lines)])}\n{run.stderr}"
    return dict(zip(seeds, map(json.loads, lines), strict=True))


def test_draws_do_not_depend_on_the_version_of_numpy() -> None:
    draws = Draws(7)
    drawn = [draws.count(1, 6) for _ in range(8)]
    assert drawn == [4, 6, 3, 1, 2, 1, 5, 2]
    assert draws.fraction() == float.fromhex("0x1.98197bf2434c3p-1")
    assert draws.shuffled("abcde") == ["d", "a", "e", "b", "c"]


def test_the_file_has_300_systems() -> None:
    assert len(SEEDS) == 300


@OF_THIS_PLATFORM
@pytest.mark.parametrize(
    "seed",
    [*SEEDS[:SHORT_RUN], *(pytest.param(seed, marks=pytest.mark.thorough) for seed in SEEDS[SHORT_RUN:])],
)
def test_an_outcome_is_that_of_the_file(seed: int) -> None:
    expected = written_outcomes()[seed]
    assert not difference(seed, expected, run_plan(random_plan(seed)))


@OF_THIS_PLATFORM
def test_outcomes_in_plain_python_are_those_of_the_file() -> None:
    for seed, actual in outcomes_in_plain_python(SEEDS[:PLAIN]).items():
        assert not difference(seed, written_outcomes()[seed], actual)


@pytest.mark.thorough
def test_compiled_code_and_plain_python_agree_on_new_seeds() -> None:
    """A monitor ends each run after some steps: plain Python is slow, and some runs are endless."""
    first = int(os.environ.get("COSIM_TEST_SEED", int.from_bytes(os.urandom(6), "little")))
    count = many(334)
    for start in range(first, first + count, BATCH):
        batch = list(range(start, min(start + BATCH, first + count)))
        for seed, actual in outcomes_in_plain_python(batch, STEPS).items():
            assert not difference(seed, run_plan(random_plan(seed), most_steps=STEPS), actual)
