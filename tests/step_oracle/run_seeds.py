"""Prints the outcomes of seeds, one line of JSON each: ``python run_seeds.py most_steps 17 18``."""

from __future__ import annotations

import json
import sys

from oracle_run import run_plan
from random_systems import random_plan


def main(most_steps: str, *seeds: str) -> None:
    """With 0 steps runs are not limited."""
    for seed in seeds:
        print(json.dumps(run_plan(random_plan(int(seed)), most_steps=int(most_steps) or None)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
