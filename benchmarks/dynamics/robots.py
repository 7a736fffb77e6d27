"""One forward-dynamics evaluation of public robots, here, in MuJoCo and in Pinocchio, in one run.

    python benchmarks/dynamics/robots.py [--passes 3]

Robots are read by each library from the file itself. Ours and MuJoCo's evaluation have springs, dampers and
actuators of the file, Pinocchio's has none. Ours is a walk through the schedule from stage Time to
Acceleration in compiled code, MuJoCo's a step of its loop in C, Pinocchio's a call of `aba` from Python. The
best time of all passes counts; limits, contacts, dry friction and couplings of coordinates are left out.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from compare import machine, measure
from peers import run_peer

import cosim
from cosim_mechanics import Multibody

ROBOTS = (
    *("inverted_double_pendulum.xml", "half_cheetah.xml", "walker2d_v5.xml", "ant.xml", "humanoid.xml"),
    *(
        "double_pendulum_description/urdf/double_pendulum_continuous.urdf",
        "panda_description/urdf/panda.urdf",
    ),
    "laikago_description/urdf/laikago.urdf",
    "allegro_hand_description/urdf/allegro_right_hand.urdf",
)
LEFT_ASIDE = ("CoordinateStop", "CoordinateFriction", "CoordinateCoupler")


def build(path: Path) -> cosim.System:
    """The robot as a system of ours."""
    read = Multibody.from_mjcf if path.suffix == ".xml" else Multibody.from_urdf
    robot = read(path)
    for name in [n for n, part in robot.parts.items() if type(part).__name__ in LEFT_ASIDE]:
        del robot.parts[name]
    return robot.build()


def main(arguments: list[str] | None = None) -> int:
    """Measure and print a table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--passes", type=int, default=3, help="the best of so many passes counts")
    options = parser.parse_args(arguments)
    libraries = ("cosim", "MuJoCo", "Pinocchio")
    best: dict[str, dict[str, float]] = {name: {} for name in ROBOTS}
    speeds: dict[str, int] = {}
    for _ in range(options.passes):
        answer = run_peer("robots", "dynamics/peer_robots.py", list(ROBOTS))
        for name, times in answer["robots"].items():
            system = build(Path(times["path"]))
            times["cosim"], speeds[name] = measure(system), system.nu
            for library in libraries:
                if library in times:
                    best[name][library] = min(times[library], best[name].get(library, float("inf")))
    print(f"{machine()}; {answer['versions']}; µs for one evaluation")
    print(f"| robot | speeds | {' | '.join(libraries)} |")
    print("|---|---:|---:|---:|---:|")
    for name, times in best.items():
        cells = [f"{1e6 * times[library]:.2f}" if library in times else "" for library in libraries]
        print(f"| {Path(name).stem} | {speeds[name]} | {' | '.join(cells)} |")
    return 0


if __name__ == "__main__":
    raise SystemExit(main())
