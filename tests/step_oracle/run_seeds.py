"""Prints the outcomes of seeds, one line of JSON each: ``python run_seeds.py 17 18``."""

from __future__ import annotations

import json
import sys

from oracle_run import run_plan
from random_systems import random_plan


def main(seeds: list[str]) -> None:
    for seed in seeds:
        print(json.dumps(run_plan(random_plan(int(seed)))), flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
