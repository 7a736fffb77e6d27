"""The work for an accuracy on y' = -y(t - 1), y(5) = 19/120.

Ours, jitcdde (Bogacki–Shampine 3(2) with cubic Hermite, breaks stepped on) and ddeint (SciPy, sampled past),
in one run. Evaluations of the right-hand side are counted, not timed. Writes a table to stdout and a picture
beside this file.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import cosim

sys.path.insert(0, str(Path(__file__).parents[1]))
from peers import PeerError, run_peer

HERE = Path(__file__).parent
EXACT = 19 / 120


class Decay(cosim.Component):
    """y' = -felt."""

    felt = cosim.source()
    y = cosim.auxiliary_state(start=1.0)

    @cosim.kernel
    def derivatives(felt, y_dot):
        y_dot[0] = -felt


def ours(tolerance: float, **options: Any) -> tuple[float, int]:
    """Error at 5 s and evaluations; points inside of steps count as evaluations too."""
    model = cosim.Model("decay")
    model.add(Decay, "plant", felt="felt")
    model.add("measures.delay", "felt", source="plant.y", delay=1.0, **options)
    simulator = cosim.Simulator(model.build(), integrator="integrators.dormand_prince", accuracy=tolerance)
    simulator.advance_to(5.0)
    statistics = simulator.integrator.statistics
    inside = statistics.steps if options.get("interpolation") == "dense_output" else 0
    return abs(simulator.state["plant.y"] - EXACT), statistics.evaluations + inside


def main() -> None:
    """Measure, print, draw."""
    tolerances = (1e-4, 1e-6, 1e-8, 1e-10)
    rows_by_program = {
        "cosim, dense output": [ours(t, interpolation="dense_output") for t in tolerances],
        "cosim, Hermite": [ours(t) for t in tolerances],
    }
    try:
        peers = run_peer("jitcdde", "delays/peer_jitcdde.py")
        for name, rows in peers.items():
            rows_by_program[name] = [(row["error"], row["evaluations"]) for row in rows]
    except PeerError as error:
        print(error, file=sys.stderr)
    print("| solver | error at t = 5 (evaluations) |\n|---|---|")
    for name, rows in rows_by_program.items():
        print(f"| {name} | {', '.join(f'{error:.1e} ({count})' for error, count in rows)} |")
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=(6, 3.5))
    for name, rows in rows_by_program.items():
        axes.loglog([n for _, n in rows], [max(e, 1e-17) for e, _ in rows], "o-", label=name)
    axes.set(xlabel="evaluations of the right-hand side", ylabel="error of y(5)", title="y' = -y(t - 1)")
    axes.legend()
    figure.tight_layout()
    figure.savefig(HERE / "evaluations.png", dpi=120)


if __name__ == "__main__":
    main()
