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
from peers import PeerError, run_peer  # noqa: E402
from singular_mechanisms import (  # noqa: E402
    AXES,
    CORNERS,
    UPRIGHT,
    bricard,
    exact_angle,
    exact_bricard,
    four_bars,
)

SIZES = (1, 2, 5, 10, 40, 0)
GRID = 0.01
METHODS = {"Dormand-Prince 5(4)": "dormand_prince", "Runge-Kutta-Merson": "runge_kutta_merson"}
STEPS = {"mujoco": [1e-3, 1e-4], "exudyn": [1e-2, 1e-3]}


def ours(loops: int, times: np.ndarray) -> list[dict[str, Any]]:
    """Runs of this program; each is done twice, since the first one may compile."""
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
            spent = time.perf_counter() - start
            rows = np.searchsorted(result.time, times - 1e-9)
            found = np.column_stack([result[name] for name in angles])[rows]
            energy = float(np.ptp(result["energy.total"]))
            runs.append({"name": f"{label}, {accuracy:g}", "angles": found, "energy": energy, "time": spent})
    return runs


def program_runs(loops: int, times: np.ndarray) -> dict[str, list[dict[str, Any]]]:
    """The runs of all programs that can be run here."""
    found = {"cosim": ours(loops, times)}
    given = {"loops": loops, "until": float(times[-1]), "grid": GRID, "steps": STEPS}
    given |= {"start": UPRIGHT if loops else 0.0, "corners": CORNERS.tolist(), "axes": AXES.tolist()}
    for peer in STEPS:
        try:
            answer = run_peer(peer, f"singular/peer_{peer}.py", [json.dumps(given)], timeout=1800)
        except PeerError as error:
            print(f"{peer}: {error}", file=sys.stderr)
            continue
        found[f"{peer} {answer['version']}"] = answer["runs"]
    return found


def main() -> None:
    """Print the table, and draw it."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--sizes", type=int, nargs="+", default=SIZES)
    parser.add_argument("--plot")
    given = parser.parse_args()
    table: dict[str, list[tuple[int, list[float]]]] = {}
    print("| N | program | largest error, rad | energy, J | time, s |\n|---|---|---|---|---|")
    for loops in given.sizes:
        times = GRID * np.arange(501 if loops else 1001)
        exact = exact_angle(loops, times) if loops else exact_bricard(times)
        for program, runs in program_runs(loops, times).items():
            for run in runs:
                angles = np.array(run["angles"])
                whole = len(angles) == len(exact)
                error = float(np.abs(angles - exact[: len(angles), None]).max()) if whole else np.inf
                energy = f"{run['energy']:.1e}" if "energy" in run else ""
                text = f"{error:.1e}" if whole else f"ended at {GRID * (len(angles) - 1):.2f} s"
                print(
                    f"| {loops} | {program}, {run['name']} | {text} | {energy} | {run['time']:.3g} |",
                    flush=True,
                )
                figures = [error, run.get("energy", np.nan), run["time"]]
                table.setdefault(f"{program}, {run['name']}", []).append((loops, figures))
    if given.plot:
        draw(table, given.plot)


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
