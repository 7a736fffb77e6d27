"""Exudyn: the pendulum as a kinematic tree, with its explicit solvers at each accuracy."""

import json
import sys
import time
from pathlib import Path
from typing import NamedTuple

import exudyn as exu
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from exudyn_tree import build

TOO_LONG = 1.5  # s: tighter tolerances take longer still
METHODS = {
    "DOPRI5": exu.DynamicSolverType.DOPRI5,
    "ODE23": exu.DynamicSolverType.ODE23,
    # with fixed steps, whose length follows from the tolerance: h = 0.1 s * tolerance^(1/6)
    "RK44": exu.DynamicSolverType.RK44,
    "RK67": exu.DynamicSolverType.RK67,
}
FIXED = ("RK44", "RK67")


class Run(NamedTuple):
    """Wall time of a run, s, and the angle and rate of each joint at its end."""

    seconds: float
    states: list


def run(tree, method, accuracy, end):
    """A run of the tree until `end`, s, as a `Run`."""
    system = build(tree).system
    system.Assemble()
    settings = exu.SimulationSettings()
    settings.timeIntegration.endTime = end
    fixed = method in FIXED
    settings.timeIntegration.numberOfSteps = int(np.ceil(end / (0.1 * accuracy ** (1 / 6)))) if fixed else 1
    settings.timeIntegration.automaticStepSize = not fixed
    settings.timeIntegration.relativeTolerance = accuracy
    settings.timeIntegration.absoluteTolerance = accuracy
    settings.timeIntegration.initialStepSize = 1e-3
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
    start = time.perf_counter()
    system.SolveDynamic(settings, solverType=METHODS[method])
    seconds = time.perf_counter() - start
    q, u = system.systemData.GetODE2Coordinates(), system.systemData.GetODE2Coordinates_t()
    return Run(seconds, [[float(angle), float(rate)] for angle, rate in zip(q, u, strict=True)])


def main():
    """Print the runs with each method at each accuracy, until one takes too long."""
    task = json.loads(Path(sys.argv[1]).read_text())
    runs = []
    for method in METHODS:
        for accuracy in task["accuracies"]:
            try:
                seconds = min(
                    run(task["tree"], method, accuracy, task["marks"][-1]).seconds
                    for _ in range(task["rounds"])
                )
                if seconds > TOO_LONG:
                    break
                states = [run(task["tree"], method, accuracy, mark).states for mark in task["marks"]]
            except Exception as error:
                print(f"{method} at {accuracy}: {error}")
                continue
            runs.append({"method": method, "accuracy": accuracy, "seconds": seconds, "states": states})
    # what it prints itself comes before
    print("\n" + json.dumps({"name": f"Exudyn {exu.config.Version()}", "runs": runs}))


main()
