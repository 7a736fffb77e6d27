"""Spheres that fall onto a floor: cosim, Simbody and MuJoCo, CPU time against the error of heights.

    python benchmarks/contact/spheres.py [one] [many]

From one height (a contact for each, and one heap), and from many (one heap). MuJoCo has another law of
contact, so the error of each is against its own finest run; cosim also runs with Simbody's law (Hunt and
Crossley), and both have to fall alike.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Sequence
from pathlib import Path

import numpy as np

import cosim
from cosim_mechanics import Multibody, shapes

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from peers import PeerError, run_peer

COUNT, UNTIL = 100, 2.0
SCENES = {"one": (0.3, 0.3), "many": (0.3, 0.5)}
"""Lowest and highest centre, m."""
METHODS = ("dormand_prince", "bogacki_shampine")
ACCURACIES = (1e-3, 5e-4, 1e-4, 1e-5)
SHOWN = [k * (COUNT - 1) // 4 for k in range(5)]
"""Spheres whose heights count."""

LAW = {"stiffness": 1e7, "restitution": 0.5}
SIMBODY_LAW = {"stiffness": 1e7, "dissipation": 0.25}


def build(heights: Sequence[float], friction: float, heap: bool, law: dict[str, float]) -> cosim.System:
    """Spheres of 1 kg and 0.1 m above a floor, a grid of ten in a row; a contact for each, or one heap."""
    model = Multibody("spheres")
    for i, height in enumerate(heights):
        ball = model.body(f"ball{i}", mass=1.0, inertia=(0.004,) * 3)
        place = [1, 0, 0, 0, 0.3 * (i % 10), 0.3 * (i // 10), height]
        model.joint("free", child=ball, q=place)
        if not heap:
            model.add(
                "mechanics.sphere_contact", f"floor{i}", body1="ground", body2=ball, radius=0.1,
                static_friction=friction, dynamic_friction=friction, **law,
            )  # fmt: skip
    if heap:
        balls = {f"ball{i}": shapes.Sphere(0.1) for i in range(len(heights))}
        model.collisions("heap", {"ground": shapes.HalfSpace(), **balls}, friction=friction, **law)
    return model.build()


def run(
    system: cosim.System, accuracy: float, rounds: int, shown: Sequence[int], method: str = METHODS[0]
) -> tuple[float, np.ndarray]:
    """CPU time, the best of some rounds, s, and heights of some balls at twenty times, (20, balls)."""
    best, heights = np.inf, []
    for _ in range(rounds):
        simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=accuracy)
        simulator.initialize()
        heights = []
        start = time.process_time()
        for i in range(1, 21):
            simulator.advance_to(UNTIL * i / 20)
            heights.append([float(simulator.state[f"ball{k}.z"]) for k in shown])
        best = min(best, time.process_time() - start)
    return best, np.array(heights)


def ours(heights: np.ndarray, friction: float, heap: bool, law: dict[str, float]) -> np.ndarray:
    """Print the runs of cosim, and return the heights of the finest, of each sphere by itself."""
    alone: dict[float, np.ndarray] = {}
    for height in heights[SHOWN]:
        if height not in alone:
            alone[height] = run(build([height], friction, heap, law), 1e-9, 1, [0])[1][:, 0]
    right = np.array([alone[height] for height in heights[SHOWN]]).T
    system = build(heights, friction, heap, law)
    kind = ("heap" if heap else "contacts") + (", law of Simbody" if law is SIMBODY_LAW else "")
    for method in METHODS:
        for accuracy in ACCURACIES:
            seconds, positions = run(system, accuracy, 2, SHOWN, method)
            setting = f"{kind}, friction {friction}, {method}, {accuracy:.0e}"
            print(f"cosim, {setting}: {seconds:.3f} s, {abs(positions - right).max():.1e} m", flush=True)
    return right


def compare(scene: str) -> None:
    """Print one line for each setting: CPU time of the run and largest error of a height."""
    low, high = SCENES[scene]
    heights = low + (high - low) * np.arange(COUNT) / (COUNT - 1)
    print(f"{scene} height{'s' if high > low else ''}:")
    for heap in (False, True) if scene == "one" else (True,):
        for friction in (0.0, 0.5):
            ours(heights, friction, heap, LAW)
    common = ours(heights, 0.0, True, SIMBODY_LAW)
    numbers = [str(number) for number in (COUNT, low, high, UNTIL)]
    for peer, script, more in (
        ("simbody", "contact/peer_simbody.cpp", [str(value) for value in SIMBODY_LAW.values()]),
        ("mujoco", "contact/peer_mujoco.py", []),
    ):
        try:
            runs = run_peer(peer, script, [*numbers, *more])
        except PeerError as error:
            print(f"{peer}: {error}")
            continue
        fine = np.array(runs[-1]["heights"])
        for one in runs[:-1]:
            setting = f"step {one['step']:.0e} s" if "step" in one else f"accuracy {one['accuracy']:.0e}"
            error = abs(np.array(one["heights"]) - fine).max()
            print(f"{peer}, {setting}: {one['seconds']:.3f} s, {error:.1e} m", flush=True)
        if peer == "simbody":
            print(f"  cosim and Simbody with one law differ by {abs(fine - common.ravel()).max():.1e} m")


if __name__ == "__main__":
    for chosen in sys.argv[1:] or SCENES:
        compare(chosen)
