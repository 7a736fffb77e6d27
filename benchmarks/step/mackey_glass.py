"""The equation of Mackey and Glass to 60 s, to 1e-4 and 1e-8, beside jitcdde.

Usage: python benchmarks/step/mackey_glass.py [--passes 2]

y' = 2 y(t - 2) / (1 + y(t - 2)^9.65) - y, y = 1/2 before the start. Errors are those at 60 s, against
two runs of ours at 1e-13 that agree, with two methods and two interpolations of the past. The
integration alone is timed: jitcdde's compiled C, ours through `Simulator.advance_to`.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2] / "tests" / "measures"))
from delay_equations import MACKEY_GLASS_DELAY, MACKEY_GLASS_POWER, MACKEY_GLASS_START, mackey_glass
from runs import OURS, Run, best, fastest, of_peer, rows, run_and_print

import cosim

UNTIL, RUNS = 60.0, 5
LEVELS = (1e-4, 1e-8)
METHODS = ("runge_kutta_merson", "dormand_prince", "tsitouras", "dormand_prince_853")
OUR_TOLERANCES = [m * 10.0**-e for e in range(3, 11) for m in (3.0, 1.0)]
PEER_TOLERANCES = [m * 10.0**-e for e in range(4, 13) for m in (3.0, 1.0)]
REFERENCE_TOLERANCE = 1e-10


def seconds_and_end(system: cosim.System, method: str, tolerance: float) -> tuple[float, float]:
    """CPU time of one integration, s, and y at its end."""
    options = {"accuracy": tolerance, "relative_tolerance": tolerance}
    simulator = cosim.Simulator(system, integrator=f"integrators.{method}", **options)
    simulator.initialize()
    began = time.process_time()
    simulator.advance_to(UNTIL)
    return time.process_time() - began, float(simulator.state["plant.y"])


def compare(passes: int) -> list[str]:
    """Rows of the table."""
    systems = {name: mackey_glass(interpolation=name).build() for name in ("dense_output", "hermite")}
    _, exact = seconds_and_end(systems["dense_output"], "dormand_prince", 1e-13)
    _, other = seconds_and_end(systems["hermite"], "tsitouras", 1e-13)
    if abs(exact - other) > REFERENCE_TOLERANCE:
        raise SystemExit(f"the reference is not certain enough: {abs(exact - other):.1e}")

    def ours() -> list[Run]:
        our_runs = []
        for interpolation, built in systems.items():
            for method in METHODS:
                for tolerance in OUR_TOLERANCES:
                    times = [seconds_and_end(built, method, tolerance) for _ in range(RUNS)]
                    seconds, end = min(times)
                    name = f"{method}, {interpolation.replace('_', ' ')}"
                    our_runs.append(Run(OURS, name, tolerance, abs(end - exact), seconds))
        return our_runs

    task = {
        "delay": MACKEY_GLASS_DELAY,
        "power": MACKEY_GLASS_POWER,
        "start": MACKEY_GLASS_START,
        "until": UNTIL,
        "tolerances": PEER_TOLERANCES,
        "runs": RUNS,
    }
    jitcdde_runs = of_peer(
        "jitcdde", "mackey_glass_jitcdde.py", json.dumps(task), lambda run: abs(run["end"][0] - exact)
    )
    runs, lines = best([ours, jitcdde_runs], passes), []
    for level in LEVELS:
        lines += rows(f"Mackey–Glass, right to {level:.0e}", fastest(runs, level))
    return lines


if __name__ == "__main__":
    run_and_print(compare)
