"""A process: runs a bouncing ball with a delay from time to time and writes its State.

Usage: ball_run.py times result [saved], the times separated by commas
"""

import sys
from pathlib import Path

from kernel_parts import BouncingBall

import cosim


def main(times, result, saved=None):
    """Go on from `saved`, or from the start."""
    model = cosim.Model("ball")
    model.add(BouncingBall, "ball", restitution=0.7)
    model.add("measures.delay", "late", source="ball.height", delay=0.15)
    system = model.build()
    state = system.state_from_bytes(Path(saved).read_bytes()) if saved else None
    simulator = cosim.Simulator(system, state, accuracy=1e-7)
    for time in times.split(","):
        simulator.advance_to(float(time))
    Path(result).write_bytes(simulator.state.to_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
