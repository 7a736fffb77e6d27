"""A crane moves a hanging load and brings it to rest: python crane.py (prints the search, writes crane.png).

The force on the trolley is a line through 31 points. A search along gradients of the run finds them.
"""

from __future__ import annotations

import math
from pathlib import Path

import numpy as np

import cosim

HERE = Path(__file__).parent
POINTS, UNTIL, LARGEST = 31, 3.0, 8.0  # of the force; s; N
WANTED = {"crane.x": 1.0, "crane.v": 0.0, "crane.angle": 0.0, "crane.rate": 0.0}
GRAVITY = 9.81  # m/s2
EFFORT = 1e-4  # of the integral of the squared force, beside the squares at the end


class Crane(cosim.Component):
    """Law: (M + m) x'' + m L (a'' cos a - a'^2 sin a) = F, x'' cos a + L a'' + g sin a = 0."""

    trolley = cosim.parameter(unit="kg", default=2.0, minimum=0.0)
    load = cosim.parameter(unit="kg", default=1.0, minimum=0.0)
    length = cosim.parameter(unit="m", default=0.6, minimum=0.0)
    forces = cosim.parameter(unit="N", shape=POINTS, default=np.zeros(POINTS))
    x = cosim.position(unit="m")
    angle = cosim.position(unit="rad")
    v = cosim.speed(unit="m/s")
    rate = cosim.speed(unit="rad/s")
    force = cosim.output(unit="N")

    @cosim.kernel
    def derivatives(s):
        place = s.t / UNTIL * (POINTS - 1)
        i = min(int(place), POINTS - 2)
        s.force = s.forces[i] + (place - i) * (s.forces[i + 1] - s.forces[i])
        sine, cosine = math.sin(s.angle), math.cos(s.angle)
        swing = s.load * sine * (s.length * s.rate * s.rate + GRAVITY * cosine)
        acceleration = (s.force + swing) / (s.trolley + s.load * sine * sine)
        s.x_dot = s.v
        s.angle_dot = s.rate
        s.v_dot = acceleration
        s.rate_dot = -(acceleration * cosine + GRAVITY * sine) / s.length


def distance(result: cosim.Result) -> tuple[float, dict[str, np.ndarray]]:
    """Squares at the end and the effort, and how this changes with each recorded value."""
    value, cotangents = cosim.objectives.integral_of_square("crane.force")(result)
    cotangents = {path: EFFORT * weights for path, weights in cotangents.items()}
    value *= EFFORT
    for path, wanted in WANTED.items():
        missed = result[path][-1] - wanted
        value += missed * missed
        cotangents[path] = np.zeros(len(result))
        cotangents[path][-1] = 2.0 * missed
    return value, cotangents


def find_forces() -> tuple[cosim.Result, int]:
    """The run with the forces that were found, and how many runs that took."""
    from scipy.optimize import minimize

    model = cosim.Model("crane")
    model.add(Crane(), "crane")
    system = model.build()
    state = system.default_state()

    def run(forces: np.ndarray) -> cosim.Result:
        start = state.copy()
        start["crane.forces"] = forces
        signals = ["crane.force", *WANTED]
        return cosim.simulate(
            system,
            UNTIL,
            accuracy=1e-8,
            output_interval=0.05,
            signals=signals,
            state=start,
            gradient=["crane.forces"],
        )

    def value_and_gradient(forces: np.ndarray) -> tuple[float, np.ndarray]:
        found = run(forces).gradient(distance)
        return found.value, found["crane.forces"]

    bounds = [(-LARGEST, LARGEST)] * POINTS
    answer = minimize(value_and_gradient, np.zeros(POINTS), jac=True, method="L-BFGS-B", bounds=bounds)
    return run(answer.x), int(answer.nfev)


def main() -> None:
    """Search, print, draw."""
    from matplotlib import pyplot as plt

    result, runs = find_forces()
    print(f"{runs} runs; at the end: {', '.join(f'{path} = {result[path][-1]:.4f}' for path in WANTED)}")
    figure, axes = plt.subplots(3, 1, sharex=True, figsize=(7, 5.4), layout="constrained")
    for axis, path, label in zip(
        axes, ("crane.x", "crane.angle", "crane.force"), ("x, m", "angle, rad", "force, N"), strict=True
    ):
        axis.plot(result.time, result[path], linewidth=0.9)
        axis.set_ylabel(label)
    axes[-1].set_xlabel("time, s")
    figure.savefig(HERE / "crane.png", dpi=120)


if __name__ == "__main__":
    main()
