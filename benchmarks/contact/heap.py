"""A thousand balls in a box, cosim and MuJoCo: time against error of the mean height; and balls apart."""

from __future__ import annotations

import sys
import time
from pathlib import Path

import numpy as np

import cosim
from cosim_mechanics import Multibody, shapes

sys.path.insert(0, str(Path(__file__).resolve().parent.parent))
from peers import PeerError, run_peer

COUNT, UNTIL, SIDE = 1000, 0.5, 1.1
METHODS = (
    ("runge_kutta_4", 1e-4),
    ("runge_kutta_4", 2e-4),
    ("runge_kutta_4", 5e-4),
    ("runge_kutta_4", 6.25e-4),
    ("runge_kutta_3", 5e-4),
    ("heun", 5e-4),
    ("heun", 1e-3),
)
"""The first shows the errors of the others."""


def places(count: int, pitch: float = 0.22) -> np.ndarray:
    """Centres of balls in a box: a grid of ten by ten, a little irregular."""
    random = np.random.default_rng(0)
    i = np.arange(count)
    grid = np.stack(
        [-0.99 + pitch * (i % 10), -0.99 + pitch * (i // 10 % 10), 0.12 + pitch * (i // 100)], axis=1
    )
    return grid + random.uniform(-0.005, 0.005, (count, 3))


def build(centers: np.ndarray) -> cosim.System:
    """Balls of 1 kg and 0.1 m in a box of 2.2 m x 2.2 m."""
    model = Multibody("heap")
    for i, center in enumerate(centers):
        ball = model.body(f"ball{i}", mass=1.0, inertia=(0.004,) * 3)
        model.joint("free", child=ball, q=[1, 0, 0, 0, *center])
    planes = [shapes.HalfSpace()]
    for axis in ((1, 0, 0), (-1, 0, 0), (0, 1, 0), (0, -1, 0)):
        turn = (-axis[1] * np.pi / 2, axis[0] * np.pi / 2, 0)
        planes.append(shapes.HalfSpace(([-SIDE * side for side in axis], turn)))
    balls = {f"ball{i}": shapes.Sphere(0.1) for i in range(len(centers))}
    model.collisions("heap", {"ground": planes, **balls}, stiffness=1e7, restitution=0.5, friction=0.5)
    return model.build()


def run(system: cosim.System, method: str, step: float) -> tuple[float, np.ndarray]:
    """CPU time, s, and the mean height at ten times."""
    simulator = cosim.Simulator(system, integrator=f"integrators.{method}", fixed_step=step)
    simulator.initialize()
    seconds, heights = 0.0, []
    for i in range(1, 11):
        start = time.process_time()
        simulator.advance_to(UNTIL * i / 10)
        seconds += time.process_time() - start
        heights.append(np.mean([simulator.state[f"ball{k}.z"] for k in range(COUNT)]))
    return seconds, np.array(heights)


def evaluation(count: int) -> float:
    """CPU time of a fixed step of Heun's method divided by the number of balls, which do not touch, s."""
    simulator = cosim.Simulator(build(places(count, 0.5)), integrator="integrators.heun", fixed_step=1e-6)
    simulator.initialize()
    simulator.advance_to(1e-5)
    best = np.inf
    for i in range(1, 6):
        start = time.process_time()
        simulator.advance_to(1e-5 + i * 2e-5)
        best = min(best, (time.process_time() - start) / 20)
    return best / count


def main() -> None:
    """Print a line for each setting: CPU time and largest error of the mean height."""
    for count in (100, 1000, 4000):
        print(f"cosim, {count} balls apart: {evaluation(count) * 1e6:.2f} µs a step and ball")
    system, right = build(places(COUNT)), None
    for method, step in METHODS:
        seconds, heights = run(system, method, step)
        right = heights if right is None else right
        print(f"cosim, {method}, step {step:.0e} s: {seconds:.2f} s, {abs(heights - right).max():.1e} m")
    try:
        runs = run_peer("mujoco", "contact/peer_mujoco_heap.py", [str(UNTIL), str(SIDE)])
    except PeerError as error:
        sys.exit(f"MuJoCo: {error}")
    for one in runs:
        error = abs(np.array(one["heights"]) - runs[-1]["heights"]).max()
        print(f"MuJoCo, {one['solver']}, step {one['step']:.0e} s: {one['seconds']:.2f} s, {error:.1e} m")


if __name__ == "__main__":
    main()
