"""The N-four-bar mechanism through its singular positions, and Bricard's, beside MuJoCo and Exudyn.

    python benchmarks/singular/compare.py --plot errors.png

Prints the largest error of an angle, the change of the energy and the time, for 5 s of N = 1, 2, 5, 10, 40
loops and for 10 s of Bricard's mechanism (N = 0).
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np

ROOT = Path(__file__).parents[2]
sys.path[:0] = [str(ROOT / "benchmarks"), str(ROOT / "tests" / "dynamics")]
from peers import try_peer  # noqa: E402
from singular_mechanisms import (  # noqa: E402
    AXES,
    CORNERS,
    UPRIGHT,
    bricard,
    exact_angle,
    exact_bricard,
    four_bars,
)

SIZES = (1, 2, 5, 10, 40, 0)  # N; 0: Bricard's mechanism
GRID = 0.01  # s, between the points at which angles are compared
METHODS = {"Dormand-Prince 5(4)": "dormand_prince", "Runge-Kutta-Merson": "runge_kutta_merson"}
STEPS = {"mujoco": [1e-3, 1e-4], "exudyn": [1e-2, 1e-3]}  # s, by peer


def ours(loops: int, times: np.ndarray) -> list[dict[str, Any]]:
    """Our runs of N four-bars (N = 0: Bricard's mechanism), each done twice, since the first may compile.

    Each run has a name, its angles at `times` (rad, a column each), the change of the energy (J) and the time
    that the second one took (s).
    """
    model, runs = four_bars(loops) if loops else bricard(), []
    angles = ["pin0.angle", f"pin{loops}.angle"] if loops else ["hinge0.angle", "hinge4.angle"]
    for label, method in METHODS.items():
        for accuracy in (1e-6, 1e-8):
            options: dict[str, Any] = {
                "until": float(times[-1]),
                "integrator": f"integrators.{method}",
                "accuracy": accuracy,
                "relative_tolerance": accuracy,
                "output_interval": GRID,
                "signals": [*angles, "energy.total"],
            }
            model.simulate(**options)
            start = time.perf_counter()
            result = model.simulate(**options)
            seconds = time.perf_counter() - start
            rows = np.searchsorted(result.time, times - 1e-9)
            runs.append(
                {
                    "name": f"{label}, {accuracy:g}",
                    "angles": np.column_stack([result[name] for name in angles])[rows],
                    "energy": float(np.ptp(result["energy.total"])),
                    "time": seconds,
                }
            )
    return runs


def runs_of_programs(loops: int, times: np.ndarray) -> dict[str, list[dict[str, Any]]]:
    """The runs of all programs that can be run here, by name and version of the program; see `ours`."""
    runs = {"cosim": ours(loops, times)}
    request = {"loops": loops, "until": float(times[-1]), "grid": GRID, "steps": STEPS}
    request |= {"start": UPRIGHT if loops else 0.0, "corners": CORNERS.tolist(), "axes": AXES.tolist()}
    for peer in STEPS:
        answer = try_peer(peer, f"singular/peer_{peer}.py", [json.dumps(request)], timeout=1800)
        if answer is not None:
            runs[f"{peer} {answer['version']}"] = answer["runs"]
    return runs


def figures_of(run: dict[str, Any], exact: np.ndarray) -> tuple[str, list[float]]:
    """The cells of a run in the table; its largest error, rad, its change of the energy, J, its time, s.

    The error of a run that ended before its time is infinite.
    """
    angles = np.array(run["angles"])
    is_whole = len(angles) == len(exact)
    error = float(np.abs(angles - exact[:, None]).max()) if is_whole else np.inf
    error_text = f"{error:.1e}" if is_whole else f"ended at {GRID * (len(angles) - 1):.2f} s"
    energy_text = f"{run['energy']:.1e}" if "energy" in run else ""
    figures = [error, run.get("energy", np.nan), run["time"]]
    return f"{error_text} | {energy_text} | {run['time']:.3g}", figures


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--plot")
    options = parser.parse_args()
    table: dict[str, list[tuple[int, list[float]]]] = {}
    print("| N | program | largest error, rad | energy, J | time, s |\n|---|---|---|---|---|")
    for loops in options.sizes:
        times = GRID * np.arange(501 if loops else 1001)
        exact = exact_angle(loops, times) if loops else exact_bricard(times)
        for program, runs in runs_of_programs(loops, times).items():
            for run in runs:
                cells, figures = figures_of(run, exact)
                print(f"| {loops} | {program}, {run['name']} | {cells} |", flush=True)
                table.setdefault(f"{program}, {run['name']}", []).append((loops, figures))
    if options.plot:
        draw(table, options.plot)


def draw(table: dict[str, list[tuple[int, list[float]]]], path: str) -> None:
    """Errors, changes of the energy and times over N; Bricard's mechanism comes last."""
    from matplotlib.figure import Figure

    figure = Figure(figsize=(8.5, 7.5), layout="constrained")
    *panels, beside = figure.subplots(2, 2).flat
    beside.axis("off")
    sizes = list(dict.fromkeys(loops for rows in table.values() for loops, _ in rows))
    for name, rows in table.items():
        style = "o-" if name.startswith("cosim") else "s--" if name.startswith("mujoco") else "^:"
        places = [sizes.index(loops) for loops, _ in rows]
        for k, axes in enumerate(panels):
            values = np.array([figures[k] for _, figures in rows])
            label = name if k == 0 else None
            axes.semilogy(places, np.where(np.isfinite(values), values, np.nan), style, label=label)
    panels[0].axhline(1e-3, color="gray", linewidth=0.8)
    titles = ("largest error of an angle, rad", "change of the energy, J", "time, s")
    for axes, title in zip(panels, titles, strict=True):
        axes.set(title=title, xlabel="N four-bars")
        axes.set_xticks(range(len(sizes)), [str(loops) if loops else "Bricard" for loops in sizes])
        axes.grid(axis="y", alpha=0.3)
    beside.legend(*panels[0].get_legend_handles_labels(), loc="center", frameon=False)
    figure.savefig(path, dpi=110)


if __name__ == "__main__":
    main()
