"""Computes the file of outcomes again: ``python write_oracle.py [SEED …]``.

Without seeds all of the file are computed; else only these are changed or added.
"""

from __future__ import annotations

import sys

from oracle_data import write_outcomes, written_outcomes
from oracle_run import run_plan
from random_systems import random_plan


def main(seeds: list[str]) -> None:
    written = written_outcomes()
    chosen = [int(seed) for seed in seeds] or list(written)
    write_outcomes({**written, **{seed: run_plan(random_plan(seed)) for seed in chosen}})


if __name__ == "__main__":
    main(sys.argv[1:])
