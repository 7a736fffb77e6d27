"""All comparisons of whole runs with other programs, one after the other in one run.

Usage: python benchmarks/step/beside_peers.py [--passes 2]
"""

from __future__ import annotations

import balls
import brusselator
import mackey_glass
import pendulum
import sampler
from runs import run_and_print

if __name__ == "__main__":
    run_and_print(*(task.compare for task in (pendulum, sampler, mackey_glass, brusselator, balls)))
