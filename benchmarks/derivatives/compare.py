"""Derivatives of a run: this package, diffrax, CasADi and jaxonomy on the same problems; error and time.

``python benchmarks/derivatives/compare.py`` prints the tables of the README as Markdown.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))

from peers import PeerError, run_peer
from problems import (
    DAMPING,
    FORCES,
    HEIGHT,
    START,
    STIFFNESS,
    UNTIL,
    UNTIL_BALL,
    E,
    ball_slopes,
    measured,
    oscillator_slopes,
)

import cosim

PEERS = ("diffrax", "casadi", "jaxonomy")


class Ball(cosim.Component):
    """Law: height' = speed, speed' = -9.81; at the floor speed becomes -e speed."""

    e = cosim.parameter(default=E)
    height = cosim.position(unit="m", start=HEIGHT)
    speed = cosim.speed(unit="m/s")

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @cosim.on(floor, does="unrestricted")
    @cosim.kernel
    def bounce(e, speed, speed_next):
        speed_next[0] = -e * speed


class Driven(cosim.Component):
    """Law: y'' = -k y - c y' + f(t), where f is a line between two of 1,000 numbers."""

    k = cosim.parameter(default=STIFFNESS)
    c = cosim.parameter(default=DAMPING)
    f = cosim.parameter(shape=1000, default=FORCES)
    y = cosim.position(start=START)
    v = cosim.speed()

    @cosim.kernel
    def derivatives(t, k, c, f, y, v, y_dot, v_dot):
        i = min(int(t / 0.01), 998)
        s = t / 0.01 - i
        y_dot[0] = v
        v_dot[0] = -k * y - c * v + (1.0 - s) * f[i] + s * f[i + 1]


def own() -> dict[str, Any]:
    ball, driven = cosim.Model("ball"), cosim.Model("driven")
    ball.add(Ball(), "b")
    driven.add(Driven(), "x")
    by, settings = (
        ["b.e", "b.height"],
        {"until": UNTIL_BALL, "output_interval": UNTIL_BALL, "accuracy": 1e-10},
    )

    def of_ball() -> list[float]:
        run = ball.simulate(derivatives=by, **settings)
        return [run.derivative("b.height", path)[-1] for path in by]

    named = {"until": UNTIL, "output_interval": UNTIL, "accuracy": 1e-8}

    def of_oscillator() -> np.ndarray:
        return driven.gradient("x.y", ["x.k", "x.c", "x.f"], **named).vector

    alone = measured(lambda: driven.simulate(**named)["x.y"][-1])
    return {
        "name": f"cosim {cosim.__version__}",
        "ball": measured(of_ball),
        "oscillator": {**measured(of_oscillator), "run": alone["seconds"]},
    }


def table(title: str, problem: str, exact: np.ndarray, found: list[dict[str, Any]]) -> str:
    lines = [
        f"\n## {title}\n",
        "| tool | largest error | ms | times cosim's | first call, s | runs |",
        "|---|---|---|---|---|---|",
    ]
    unit = found[0][problem]["seconds"]
    for tool in found:
        row = tool.get(problem) or {"error": "not tried"}
        if "error" in row:
            lines.append(f"| {tool['name']} | {row['error']} | | | | |")
            continue
        error = np.max(np.abs(np.array(row["found"]) - exact)) / np.max(np.abs(exact))
        runs = f"{row['seconds'] / row['run']:.1f}" if "run" in row else ""
        times = f"{1e3 * row['seconds']:.2f} | {row['seconds'] / unit:.2f} | {row['first']:.1f}"
        lines.append(f"| {tool['name']} | {error:.1e} | {times} | {runs} |")
    return "\n".join(lines)


def main() -> None:
    found = [own()]
    for peer in PEERS:
        try:
            found.append(run_peer(peer, f"derivatives/peer_{peer}.py"))
        except PeerError as error:
            text = f"left out: {str(error).strip().splitlines()[-1][:120]}"
            found.append({"name": peer, "ball": {"error": text}, "oscillator": {"error": text}})
    print(table("A ball with three bounces, by e and by its height", "ball", np.array(ball_slopes()), found))
    print(table("An end value by 1,002 parameters", "oscillator", oscillator_slopes(), found))


if __name__ == "__main__":
    main()
