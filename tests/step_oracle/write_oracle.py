"""Writes tests/data/step_oracle anew from the seeds that are in it: ``python write_oracle.py [seed …]``."""

from __future__ import annotations

import sys

from oracle_data import write_outcomes, written_outcomes
from oracle_run import run_plan
from random_systems import random_plan


def main(seeds: list[str]) -> None:
    chosen = [int(seed) for seed in seeds] or list(written_outcomes())
    write_outcomes({seed: run_plan(random_plan(seed)) for seed in chosen})


if __name__ == "__main__":
    main(sys.argv[1:])
