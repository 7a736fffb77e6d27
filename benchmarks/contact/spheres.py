"""Spheres that fall onto a floor and come to rest there: cosim and MuJoCo, time against error of the heights.

The two have different laws of contact, so the error of each is against its own run at the finest setting.
"""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import cosim
from cosim_mechanics import Multibody, shapes

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from peers import PeerError, run_peer

COUNT, HEIGHT, UNTIL = 100, 0.3, 2.0
ACCURACIES = (1e-3, 1e-4, 1e-5)


LAW = {"stiffness": 1e7, "restitution": 0.5}


def build(count: int, friction: float, heap: bool = False) -> cosim.System:
    """Spheres of 1 kg and 0.1 m above a floor, a grid of ten in a row; a contact for each, or one heap."""
    model = Multibody("spheres")
    for i in range(count):
        ball = model.body(f"ball{i}", mass=1.0, inertia=(0.004,) * 3)
        place = [1, 0, 0, 0, 0.3 * (i % 10), 0.3 * (i // 10), HEIGHT]
        model.joint("free", child=ball, q=place)
        if not heap:
            model.add(
                "mechanics.sphere_contact", f"floor{i}", body1="ground", body2=ball, radius=0.1,
                static_friction=friction, dynamic_friction=friction, **LAW,
            )  # fmt: skip
    if heap:
        balls = {f"ball{i}": shapes.Sphere(0.1) for i in range(count)}
        model.collisions("heap", {"ground": shapes.HalfSpace(), **balls}, friction=friction, **LAW)
    return model.build()


def run(system: cosim.System, accuracy: float, rounds: int) -> tuple[float, np.ndarray]:
    """CPU time, the best of some rounds, s, and heights of the first ball at twenty times."""
    best, heights = np.inf, []
    for _ in range(rounds):
        simulator = cosim.Simulator(system, accuracy=accuracy)
        simulator.initialize()
        heights = []
        start = time.process_time()
        for i in range(1, 21):
            simulator.advance_to(UNTIL * i / 20)
            heights.append(float(simulator.state["ball0.z"]))
        best = min(best, time.process_time() - start)
    return best, np.array(heights)


def main() -> None:
    """Print one line for each setting: CPU time of the run and largest error of a height."""
    for heap, friction in ((False, 0.0), (False, 0.5), (True, 0.0), (True, 0.5)):
        system = build(COUNT, friction, heap)
        _, right = run(build(1, friction, heap), 1e-9, 1)
        for accuracy in ACCURACIES:
            seconds, heights = run(system, accuracy, 3)
            error = abs(heights - right).max()
            kind = "heap" if heap else "contacts"
            print(f"cosim, {kind}, friction {friction}, {accuracy:.0e}: {seconds:.3f} s, {error:.1e} m")
    try:
        runs = run_peer("mujoco", "contact/peer_mujoco.py", [str(COUNT), str(HEIGHT), str(UNTIL)])
    except PeerError as error:
        sys.exit(f"MuJoCo: {error}")
    right = np.array(runs[-1]["heights"])
    for one in runs[:-1]:
        error = abs(np.array(one["heights"]) - right).max()
        print(f"MuJoCo, friction 1, step {one['step']:.0e} s: {one['seconds']:.3f} s, {error:.1e} m")


if __name__ == "__main__":
    main()
