"""Exudyn: steps of its explicit Euler solver on a kinematic tree, in its own loop in C++."""

import json
import sys
import time
from pathlib import Path

import exudyn as exu
import numpy as np

sys.path.insert(0, str(Path(__file__).resolve().parents[1]))
from exudyn_tree import build

SOLVERS = exu.LinearSolverType
INVERSIONS = ((SOLVERS.EXUdense, False), (SOLVERS.EigenSparse, False), (SOLVERS.EXUdense, True))
"""Linear solvers, and whether the mass matrix is inverted body by body: the fastest one counts."""


def run(system, steps, linear_solver, by_body):
    """Wall time of a run of some steps, with all that the program does around them, s."""
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.endTime = 1e-9 * steps
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.linearSolver.solverType = linear_solver
    settings.timeIntegration.explicitIntegration.computeMassMatrixInversePerBody = by_body
    start = time.perf_counter()
    system.SolveDynamic(settings, solverType=exu.DynamicSolverType.ExplicitEuler)
    return time.perf_counter() - start


def main():
    """Print the time of an evaluation and the accelerations of each tree of a JSON file."""
    answers = {}
    for tree in json.loads(Path(sys.argv[1]).read_text()):
        system, _, hinges = build(tree)
        system.Assemble()
        fastest = np.inf
        count = max(100, 20000 // (1 + len(hinges)))
        for linear_solver, by_body in INVERSIONS:
            # two lengths: their difference is free of what happens once
            short = min(run(system, 10, linear_solver, by_body) for _ in range(tree["rounds"]))
            long = min(run(system, 10 + count, linear_solver, by_body) for _ in range(tree["rounds"]))
            fastest = min(fastest, (long - short) / count)
        # those of the last run, which are the same for all linear solvers
        udot = np.array(system.systemData.GetODE2Coordinates_tt())
        answers[tree["name"]] = {"seconds": fastest, "udot": udot[hinges].tolist()}
    # what it prints itself comes before
    print("\n" + json.dumps({"version": exu.config.Version(), "trees": answers}))


main()
