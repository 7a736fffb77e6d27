"""A process: runs a bouncing ball with a delay to one time after the other and writes its State.

Usage: ball_run.py TIMES RESULT_FILE [SAVED_FILE], where the times are separated by commas
"""

import sys
from pathlib import Path

from kernel_parts import BouncingBall

import cosim


def main(times, result_file, saved_file=None):
    """Start from the State in the saved file, or from the default State."""
    model = cosim.Model("ball")
    model.add(BouncingBall, "ball", restitution=0.7)
    model.add("measures.delay", "late", source="ball.height", delay=0.15)
    system = model.build()
    state = system.state_from_bytes(Path(saved_file).read_bytes()) if saved_file else None
    simulator = cosim.Simulator(system, state, accuracy=1e-7)
    for time in times.split(","):
        simulator.advance_to(float(time))
    Path(result_file).write_bytes(simulator.state.to_bytes())


if __name__ == "__main__":
    main(*sys.argv[1:])
