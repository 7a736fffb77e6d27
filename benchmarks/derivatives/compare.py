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
from problems import Ball, Oscillator, measured, measured_with_run

import cosim

PEERS = ("diffrax", "casadi", "jaxonomy")


class BouncingBall(cosim.Component):
    """Law: height' = speed, speed' = -9.81; at the floor speed becomes -e speed."""

    e = cosim.parameter(default=Ball.restitution)
    height = cosim.position(unit="m", start=Ball.height)
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

    k = cosim.parameter(default=Oscillator.stiffness)
    c = cosim.parameter(default=Oscillator.damping)
    f = cosim.parameter(shape=1000, default=Oscillator.forces)
    y = cosim.position(start=Oscillator.start)
    v = cosim.speed()

    @cosim.kernel
    def derivatives(t, k, c, f, y, v, y_dot, v_dot):
        i = min(int(t / 0.01), 998)
        s = t / 0.01 - i
        y_dot[0] = v
        v_dot[0] = -k * y - c * v + (1.0 - s) * f[i] + s * f[i + 1]


def own_ball() -> dict[str, Any]:
    """Our gradient of the ball: its time and the gradient."""
    model = cosim.Model("ball")
    model.add(BouncingBall(), "b")
    paths = ["b.e", "b.height"]

    def slopes() -> list[float]:
        run = model.simulate(Ball.end, derivatives=paths, output_interval=Ball.end, accuracy=1e-10)
        return [run.derivative("b.height", path)[-1] for path in paths]

    return measured(slopes)


def own_oscillator() -> dict[str, Any]:
    """Our gradient of the oscillator by the adjoint: its time, that of a run, and the gradient."""
    model = cosim.Model("driven")
    model.add(Driven(), "x")
    settings = {"until": Oscillator.end, "output_interval": Oscillator.end, "accuracy": 1e-8}
    return measured_with_run(
        lambda: model.gradient("x.y", ["x.k", "x.c", "x.f"], **settings).vector,
        lambda: model.simulate(**settings)["x.y"][-1],
    )


def table(title: str, problem: str, exact: np.ndarray, tools: list[dict[str, Any]]) -> str:
    """The rows of all tools, as Markdown."""
    lines = [
        f"\n## {title}\n",
        "| tool | largest error | ms | times cosim's | first call, s | runs |",
        "|---|---|---|---|---|---|",
    ]
    own_seconds = tools[0][problem]["seconds"]
    for tool in tools:
        row = tool.get(problem) or {"error": "not tried"}
        if "error" in row:
            lines.append(f"| {tool['name']} | {row['error']} | | | | |")
            continue
        error = np.max(np.abs(np.array(row["slopes"]) - exact)) / np.max(np.abs(exact))
        runs = f"{row['seconds'] / row['run']:.1f}" if "run" in row else ""
        times = f"{1e3 * row['seconds']:.2f} | {row['seconds'] / own_seconds:.2f} | {row['first']:.1f}"
        lines.append(f"| {tool['name']} | {error:.1e} | {times} | {runs} |")
    return "\n".join(lines)


def main() -> None:
    """Print a table for each problem."""
    tools = [{"name": f"cosim {cosim.__version__}", "ball": own_ball(), "oscillator": own_oscillator()}]
    for peer in PEERS:
        try:
            tools.append(run_peer(peer, f"derivatives/peer_{peer}.py"))
        except PeerError as error:
            text = f"left out: {str(error).strip().splitlines()[-1][:120]}"
            tools.append({"name": peer, "ball": {"error": text}, "oscillator": {"error": text}})
    print(table("A ball with three bounces, by e and by its height", "ball", Ball.exact_slopes(), tools))
    print(table("An end value by 1,002 parameters", "oscillator", Oscillator.exact_slopes(), tools))


if __name__ == "__main__":
    main()
