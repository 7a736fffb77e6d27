"""Error of the coupling over the communication step, for every master algorithm.

    python benchmarks/masters/orders.py [--plot orders.png]

Two masses, cut by force and motion and by motion and motion; both participants step exactly, so what is
left is the error of the coupling. The error is the largest of the four states after 2 s against the matrix
exponential of the whole; the order is its slope over the smallest steps. Adaptive algorithms are shown over
the mean length of their exchanges. Extrapolation begins with inputs that are held, which costs an error of
second order once; "started" is the error of what comes after the first four steps.
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
from cuts import Cut, TwoMasses  # noqa: E402

from cosim_fmu import CoSimulation  # noqa: E402

UNTIL = 2.0
STEPS = [0.1 * 0.5**i for i in range(6)]
TOLERANCES = [1e-2, 1e-3, 1e-4, 1e-5, 1e-6]
STARTED = ", started"
"""Ends the name of an algorithm whose error is that after the first four steps."""
TIGHT = {"tolerance": 1e-12, "absolute_tolerance": 1e-13}
"""Options with which iterations converge to rounding."""
FIXED: dict[str, tuple[str, dict[str, Any]]] = {
    "jacobi": ("jacobi", {}),
    "jacobi, linear": ("jacobi", {"extrapolation": 1}),
    "jacobi, quadratic": ("jacobi", {"extrapolation": 2}),
    "gauss_seidel": ("gauss_seidel", {}),
    "gauss_seidel, linear": ("gauss_seidel", {"extrapolation": 1}),
    "gauss_seidel, quadratic": ("gauss_seidel", {"extrapolation": 2}),
    "waveform_iteration": ("waveform_iteration", TIGHT),
    "interface_newton": ("interface_newton", TIGHT),
}
ADAPTIVE = ("adaptive",)
CUTS = {
    "force and motion": TwoMasses().force_and_motion(),
    "motion and motion": TwoMasses().motion_and_motion(),
}


def run(
    cut: Cut, follows: bool, algorithm: str, step: float, options: dict[str, Any], since: int = 0
) -> tuple[float, float]:
    """Mean length of an exchange (s), and the error at the end of what comes after point `since`."""
    loop = CoSimulation(cut.make(follows), cut.links, algorithm, step, options=options)
    result = loop.simulate(UNTIL, record=cut.signals)
    states = np.array([result[name] for name in cut.signals])
    expected = cut.after(UNTIL - result.time[since], states[:, since])
    exchanges = result.statistics["algorithm"].get("exchanges", result.statistics["steps"])
    return UNTIL / exchanges, float(np.max(np.abs(states[:, -1] - expected)))


def measure(cut: Cut, follows: bool) -> dict[str, list[tuple[float, float]]]:
    """For each algorithm (length, error), from long to short."""
    table = {
        name: [run(cut, follows, algorithm, step, options) for step in STEPS]
        for name, (algorithm, options) in FIXED.items()
    }
    for name in ("jacobi, quadratic", "gauss_seidel, quadratic"):
        algorithm, options = FIXED[name]
        table[name + STARTED] = [run(cut, follows, algorithm, step, options, since=4) for step in STEPS]
    for name in ADAPTIVE:
        options = [{"tolerance": size, "absolute_tolerance": size} for size in TOLERANCES]
        table[name] = [run(cut, follows, name, 0.25, chosen) for chosen in options]
    return table


def order(points: list[tuple[float, float]]) -> float:
    """Slope of the last three points."""
    lengths, errors = np.log(np.array(points[-3:])).T
    return float(np.polyfit(lengths, errors, 1)[0])


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").splitlines()[0])
    parser.add_argument("--plot", type=Path)
    arguments = parser.parse_args()
    tables = {
        (name, follows): measure(cut, follows) for name, cut in CUTS.items() for follows in (False, True)
    }
    titles = [f"{name}, {'slopes' if follows else 'held'}" for name, follows in tables]
    print("| error at 6.25 ms (order) | " + " | ".join(titles) + " |")
    print("|---" * (len(titles) + 1) + "|")
    for algorithm in next(iter(tables.values())):
        cells = [_cell(table[algorithm], algorithm) for table in tables.values()]
        print(f"| `{algorithm}` | " + " | ".join(cells) + " |")
    if arguments.plot:
        plot(dict(zip(titles, tables.values(), strict=True)), arguments.plot)


def _cell(points: list[tuple[float, float]], algorithm: str) -> str:
    """The error of the smallest step and the order of an algorithm; of an adaptive one the order alone."""
    if algorithm in ADAPTIVE:
        return f"({order(points):.2f})"
    return f"{points[4][1]:.1e} ({order(points):.2f})"


def plot(tables: dict[str, dict[str, list[tuple[float, float]]]], path: Path) -> None:
    """A panel for each cut."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(12, 8), layout="constrained")
    panels = figure.subplots(2, 2, sharex=True, sharey=True)
    for axes, (title, table) in zip(panels.ravel(), tables.items(), strict=True):
        for name, points in table.items():
            lengths, errors = np.array(points).T
            axes.loglog(lengths, errors, "s--" if name in ADAPTIVE else "o-", markersize=3, label=name)
        for power in (1, 2, 3):
            ends = np.array([STEPS[-1], STEPS[0]])
            axes.loglog(ends, 0.3 * ends**power, ":", color="grey", linewidth=0.8)
            axes.annotate(f"{power}", (ends[0], 0.3 * ends[0] ** power), color="grey", fontsize="small")
        axes.set_title(f"{title} over a step" if "held" in title else title.replace("slopes", "along slopes"))
        axes.grid(True, which="both", alpha=0.2)
    figure.legend(*panels[0, 0].get_legend_handles_labels(), loc="outside right upper", fontsize="small")
    figure.supxlabel("communication step; mean length of an exchange, s")
    figure.supylabel("largest error of the states after 2 s")
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
