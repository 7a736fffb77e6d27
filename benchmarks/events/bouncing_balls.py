"""Bouncing balls: derivative evaluations and wall time for each impact, beside Drake and Simbody, in one run.

Balls are dropped from 1 m to 10 m onto a floor at 0 and lose a twentieth of their speed at each impact. They
do not know of each other, but they are one system: the impact of each ends a step of all.

    python benchmarks/events/bouncing_balls.py [--balls 1 10 100] [--until 10] [--accuracy 1e-6]

Writes a table (markdown) to the standard output and, with ``--plot FILE``, a picture.
"""

from __future__ import annotations

import argparse
import math
import sys
import time
from pathlib import Path
from typing import Any

sys.path.insert(0, str(Path(__file__).parents[1]))
from peers import PeerError, run_peer

import cosim

RESTITUTION = 0.95
REPEATS = 3
RUNS = {  # program: peer, its script, method; methods of one order stand beside each other
    "cosim, Bogacki-Shampine": ("", "", "bogacki_shampine"),
    "Drake 1.51, Runge-Kutta 3": ("drake", "events/bouncing_balls_drake.py", "rk3"),
    "Simbody 3.7, Runge-Kutta 3": ("simbody", "events/bouncing_balls_simbody.cpp", "rk3"),
    "cosim, Runge-Kutta-Merson": ("", "", "runge_kutta_merson"),
    "Simbody 3.7, Runge-Kutta-Merson": ("simbody", "events/bouncing_balls_simbody.cpp", "merson"),
}


class Ball(cosim.Component):
    """A ball on a floor."""

    height = cosim.position(unit="m", start=1.0)
    speed = cosim.speed(unit="m/s")
    restitution = cosim.parameter(default=RESTITUTION)

    @cosim.kernel
    def derivatives(speed, height_dot, speed_dot):
        height_dot[0] = speed
        speed_dot[0] = -9.81

    @cosim.witness(direction="falling")
    def floor(height):
        return height

    @floor.rate
    def sinking(speed):
        return speed

    @cosim.on(floor, does="unrestricted")
    def bounce(speed, restitution, speed_next):
        speed_next[0] = -restitution * speed


def drop(count: int, i: int) -> float:
    """Height from which the i-th ball falls, m."""
    return 1.0 + 9.0 * i / max(1, count - 1)


def impact_times(height: float, until: float) -> list[float]:
    """The exact times, s."""
    fall = math.sqrt(2.0 * height / 9.81)
    times, flight = [fall], 2.0 * fall * RESTITUTION
    while times[-1] + flight <= until and flight > 1e-9:
        times.append(times[-1] + flight)
        flight *= RESTITUTION
    return [t for t in times if t <= until]


def ours(count: int, until: float, accuracy: float, method: str, repeats: int = REPEATS) -> dict[str, Any]:
    """The figures of the shortest of several runs in cosim.

    The numbers of impacts ("impacts") and of evaluations of all derivatives ("evaluations"), its times
    ("wall", "cpu", s), the lowest height at its end ("lowest", m), times of impact by ball ("times").
    """
    model = cosim.Model("balls")
    for i in range(count):
        model.add(Ball, f"ball{i}", height=drop(count, i))
    system = model.build()
    best: dict[str, Any] = {"wall": math.inf}
    for _ in range(repeats):
        simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=accuracy)
        simulator.initialize()
        began, began_on_processor = time.perf_counter(), time.process_time()
        simulator.advance_to(until)
        spent, on_processor = time.perf_counter() - began, time.process_time() - began_on_processor
        if spent < best["wall"]:
            figures = simulator.statistics
            times = [[e.time for e in simulator.events if e.owner == f"ball{i}"] for i in range(count)]
            lowest = min(simulator.state[f"ball{i}.height"] for i in range(count))
            best = {
                "impacts": len(simulator.events),
                # behind an impact only the rows of that ball are called: their share of all rows counts
                "evaluations": figures.evaluations + figures.partial_share,
                "wall": spent,
                "cpu": on_processor,
                "lowest": lowest,
                "times": times,
            }
    return best


def lateness(figures: dict[str, Any], until: float) -> float:
    """The largest error of a time of impact, s; NaN where times were not asked for, or one is missing."""
    largest, times = 0.0, figures.get("times", [])
    for i, times_of_ball in enumerate(times):
        exact = impact_times(drop(len(times), i), until)
        if len(times_of_ball) != len(exact):
            return math.nan
        largest = max([largest, *(abs(a - b) for a, b in zip(times_of_ball, exact, strict=True))])
    return largest if times else math.nan


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--balls", type=int, nargs="+", default=[1, 10, 100])
    parser.add_argument("--until", type=float, default=10.0)
    parser.add_argument("--accuracy", type=float, default=1e-6)
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    print("| balls | program | impacts | evaluations / impact | time / impact | largest error of a time |")
    print("|---|---|---|---|---|---|")
    runs_by_program: dict[str, list[tuple[int, dict[str, Any]]]] = {}
    for count in arguments.balls:
        numbers = [str(x) for x in (count, arguments.until, arguments.accuracy, RESTITUTION)]
        for name, (peer, script, method) in RUNS.items():
            try:
                figures = (
                    run_peer(peer, script, [*numbers, method])
                    if peer
                    else ours(count, arguments.until, arguments.accuracy, method)
                )
            except PeerError as error:
                print(f"| {count} | {name} | {error} | | | |", flush=True)
                continue
            runs_by_program.setdefault(name, []).append((count, figures))
            impacts = max(1, figures["impacts"])
            print(
                f"| {count} | {name} | {figures['impacts']} | {figures['evaluations'] / impacts:.2f} | "
                f"{1e6 * figures['wall'] / impacts:.0f} µs | {_lateness_text(figures, arguments.until)} |",
                flush=True,
            )
    if arguments.plot:
        draw(runs_by_program, arguments.plot)


def _lateness_text(figures: dict[str, Any], until: float) -> str:
    """The largest error of a time of impact, if times were asked for; a ball that fell through is named."""
    if figures["lowest"] < -1e-3:
        return f"fell through: {figures['lowest']:.3g} m"
    late = lateness(figures, until)
    return f"{late:.1e} s" if late == late else ""


def draw(runs_by_program: dict[str, list[tuple[int, dict[str, Any]]]], path: Path) -> None:
    """Draw evaluations and time for each impact over the number of balls."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(9.0, 4.2), layout="constrained")
    left, right = figure.subplots(1, 2)
    for name, runs in runs_by_program.items():
        counts = [count for count, _ in runs]
        for panel, key, scale in ((left, "evaluations", 1.0), (right, "wall", 1e6)):
            values = [scale * f[key] / max(1, f["impacts"]) for _, f in runs]
            panel.loglog(counts, values, "o-", label=name)
    left.set_ylabel("derivative evaluations / impact")
    right.set_ylabel("µs / impact")
    for panel in (left, right):
        panel.set_xlabel("balls in one system")
        panel.grid(True, alpha=0.3)
    figure.legend(*left.get_legend_handles_labels(), loc="outside upper center", ncols=3, frameon=False)
    figure.savefig(path, dpi=120)


if __name__ == "__main__":
    main()
