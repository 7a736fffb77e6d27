"""A process: writes the outcome of each seed as a line of JSON; ``python run_seeds.py MOST_STEPS SEED …``."""

from __future__ import annotations

import json
import sys

from oracle_run import run_plan
from random_systems import random_plan


def main(most_steps: str, *seeds: str) -> None:
    """Run the plans of seeds; 0 stands for no limit of steps."""
    for seed in seeds:
        print(json.dumps(run_plan(random_plan(int(seed)), most_steps=int(most_steps) or None)), flush=True)


if __name__ == "__main__":
    main(*sys.argv[1:])
