"""Time of one forward-dynamics evaluation, and of one integration step, for pendulums of 1 to 30 links."""

from __future__ import annotations

import argparse
import platform
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numba
import numpy as np

import cosim
from cosim_mechanics import Multibody

LINKS = (1, 2, 5, 10, 30)
REPEAT_SIGNATURE = "TIiifFFFIFFi>i"
ABOUT_Y = (1.0, 0.0, 0.0, 0.0, 0.0, 1.0, 0.0, -1.0, 0.0)


def chain(links: int, solver: str) -> cosim.System:
    """Identical links of 1 m and 1 kg on hinges about y; at q = 0 they hang down."""
    model = Multibody("chain")
    model.settings["dynamics"] = solver
    for i in range(links):
        inertia = (1.0025 / 12, 1.0025 / 12, 0.005 / 12)
        body = model.body(f"link{i}", mass=1.0, center_of_mass=(0.0, 0.0, -0.5), inertia=inertia)
        place = (*ABOUT_Y, 0.0, 0.0, 0.0 if i == 0 else -1.0)
        parent = "ground" if i == 0 else f"link{i - 1}"
        hinge = (*ABOUT_Y, 0.0, 0.0, 0.0)
        model.joint("pin", child=body, parent=parent, frame_on_parent=place, frame_on_child=hinge, q=0.3)
    return model.build()


def best(run: Callable[[], int], rounds: int) -> float:
    """Shortest time of a unit of work over some rounds, s; `run` returns how many units it did."""
    times = []
    for _ in range(rounds):
        start = time.perf_counter()
        done = run()
        times.append((time.perf_counter() - start) / done)
    return min(times)


def evaluation(system: cosim.System, rounds: int) -> float:
    """One walk through the stages Time … Acceleration, in compiled code, s."""
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    walk = cosim.compile_function(cosim.repeat_walk, REPEAT_SIGNATURE)
    first, last = system.derivative_range
    count = max(200, 60_000 // (1 + system.nu))

    def run() -> int:
        if walk(system.table, system.ints, first, last, 0.0, *system.arrays(state), count):
            raise SystemExit("an evaluation failed")
        return count

    run()
    return best(run, rounds)


def step(system: cosim.System, rounds: int) -> float:
    """One step of the simulator with Runge-Kutta-Merson (five evaluations and the shell around them), s."""
    simulator = cosim.Simulator(system, integrator="integrators.runge_kutta_merson", fixed_step=1e-5)
    simulator.initialize()

    def run() -> int:
        for _ in range(500):
            simulator.step()
        return 500

    run()
    return best(run, rounds)


def machine() -> str:
    """What this was measured on."""
    cpu = platform.processor() or platform.machine()
    info = Path("/proc/cpuinfo")
    if info.exists():
        names = [
            line.partition(":")[2].strip()
            for line in info.read_text().splitlines()
            if line.startswith("model name")
        ]
        cpu = names[0] if names else cpu
    versions = f"cosim {cosim.__version__}, numba {numba.__version__}, numpy {np.__version__}"
    return f"{cpu}; {platform.system()}; Python {platform.python_version()}; {versions}"


def main(arguments: list[str] | None = None) -> int:
    """Print the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7, help="the best of this many rounds counts")
    rounds = parser.parse_args(arguments).rounds
    print(machine())
    print("links  evaluation: dynamics.sval  dynamics.articulated_body  simulator.step()  [us]")
    for links in LINKS:
        sval = chain(links, "dynamics.sval")
        times = [
            evaluation(sval, rounds),
            evaluation(chain(links, "dynamics.articulated_body"), rounds),
            step(sval, rounds),
        ]
        a, b, c = (1e6 * t for t in times)
        print(f"{links:5d} {a:26.2f} {b:26.2f} {c:17.1f}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
