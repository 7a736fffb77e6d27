"""Steps of mechanisms with many loops, here and in MuJoCo, and how the time grows with their number.

    python benchmarks/structure/loops.py [--sizes 50 200 800] [--peers ""]

Pairs of pendulums with a rod between their tips, explicit Euler; a ladder of rods between two hanging
chains of links, Runge-Kutta 4. All times are CPU times of one step, the best of several rounds.
"""

from __future__ import annotations

import argparse
import json
import math
import sys
import time
from collections.abc import Sequence
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parents[1]))

from peers import try_peer

import cosim
from cosim_mechanics import Multibody

STEP, STEPS, ROUNDS = 1e-4, 20, 5
START = {"pairs": 0.3, "ladder": 0.01}
METHODS = {"pairs": "integrators.explicit_euler", "ladder": "integrators.runge_kutta_4"}
AXES = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0)
LINK = {"mass": 1.0, "center_of_mass": (0.0, -0.5, 0.0), "inertia": (1 / 12, 0.01, 1 / 12)}


def hang(model: Multibody, name: str, parent: str, x: float, y: float, q: float = 0.0) -> None:
    """A link of 1 m on a pin."""
    model.body(name, **LINK)
    model.joint("pin", name=f"pin_{name}", child=name, parent=parent, frame_on_parent=(*AXES, x, y, 0.0), q=q)


def model_of(case: str, count: int) -> Multibody:
    """`count` pairs of pendulums with a rod between their tips ("pairs"), or a ladder of that many rods."""
    model = Multibody(case, gravity=(0.0, -9.81, 0.0))
    q = START[case]
    for i in range(count):
        for side, x in (("left", 0.0), ("right", 1.0)):
            if case == "pairs":
                hang(model, f"{side}{i}", "ground", 3.0 * i + x, 0.0, q)
            elif i == 0:
                hang(model, f"{side}0", "ground", x, 0.0, q)
            else:
                hang(model, f"{side}{i}", f"{side}{i - 1}", 0.0, -1.0)
        point = (0.0, -1.0 if case == "pairs" else -0.5, 0.0)
        ends = {"body1": f"left{i}", "body2": f"right{i}", "point1": point, "point2": point}
        model.constraint("rod", f"rod{i}", length=1.0, **ends)
    return model


def measure(case: str, count: int) -> float:
    """CPU time of one step of a model with `count` loops, s: the best of `ROUNDS` rounds of `STEPS` steps."""
    simulator = cosim.Simulator(model_of(case, count).build(), integrator=METHODS[case], fixed_step=STEP)
    simulator.initialize()
    best = math.inf
    for i in range(1, ROUNDS + 1):
        start = time.process_time()
        simulator.advance_to(i * STEPS * STEP)
        best = min(best, (time.process_time() - start) / STEPS)
    return best


def times_in_mujoco(sizes: Sequence[int]) -> dict[str, dict[str, list[float]]]:
    """MuJoCo's times of a step, s, by its name and version, mechanism and size; empty if it cannot run."""
    cases = [[case, n] for case in METHODS for n in sizes]
    request = {"cases": cases, "q": START, "step": STEP, "steps": STEPS, "rounds": ROUNDS}
    answer = try_peer("mujoco", "structure/peer_mujoco.py", [json.dumps(request)])
    if answer is None:
        return {}
    times: dict[str, list[float]] = {case: [] for case in METHODS}
    for case, _, seconds in answer["rows"]:
        times[case].append(seconds)
    return {f"MuJoCo {answer['version']}": times}


def exponents(sizes: Sequence[int], times: Sequence[float]) -> list[float]:
    """The growth of the time from each size to the next, as exponents."""
    pairs = zip(sizes, sizes[1:], times, times[1:], strict=False)
    return [math.log(t2 / t1) / math.log(n2 / n1) for n1, n2, t1, t2 in pairs]


def main() -> None:
    """Print a row for each mechanism and program: microseconds a step by size, and how they grow."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=[50, 200, 800])
    parser.add_argument("--peers", default="mujoco")
    options = parser.parse_args()
    programs = {"cosim": {case: [measure(case, n) for n in options.sizes] for case in METHODS}}
    if options.peers:
        programs |= times_in_mujoco(options.sizes)
    heads = [f"{n}, µs" for n in options.sizes]
    print(f"| mechanism | program | {' | '.join(heads)} | exponents |")
    print("|---" * (3 + len(heads)) + "|")
    for case in METHODS:
        for program, times in programs.items():
            shown = [f"{1e6 * t:.4g}" for t in times[case]]
            grows = ", ".join(f"{x:.2f}" for x in exponents(options.sizes, times[case]))
            print(f"| {case} | {program} | {' | '.join(shown)} | {grows} |")


if __name__ == "__main__":
    main()
