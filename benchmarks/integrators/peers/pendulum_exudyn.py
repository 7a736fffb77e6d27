"""Exudyn: the pendulum as a kinematic tree, with its explicit solvers at each accuracy."""

import json
import sys
import time
from pathlib import Path

import exudyn as exu
import numpy as np
from exudyn.utilities import NodeGenericODE2, ObjectKinematicTree

TOO_LONG = 1.5  # s: tighter tolerances take longer still
METHODS = {
    "DOPRI5": exu.DynamicSolverType.DOPRI5,
    "ODE23": exu.DynamicSolverType.ODE23,
    # with fixed steps, which a tolerance stands for: h = 0.1 s * tolerance^(1/6)
    "RK44": exu.DynamicSolverType.RK44,
    "RK67": exu.DynamicSolverType.RK67,
}
FIXED = ("RK44", "RK67")


def build(links, q):
    system = exu.SystemContainer().AddSystem()
    node = system.AddNode(
        NodeGenericODE2(
            referenceCoordinates=[0.0] * links,
            initialCoordinates=[q] * links,
            initialCoordinates_t=[0.0] * links,
            numberOfODE2Coordinates=links,
        )
    )
    inertia = np.diag([1.0025 / 12, 1.0025 / 12, 0.005 / 12])
    system.AddObject(
        ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[exu.JointType.RevoluteY] * links,
            linkParents=[i - 1 for i in range(links)],
            jointTransformations=exu.Matrix3DList([np.eye(3)] * links),
            jointOffsets=exu.Vector3DList([[0.0, 0.0, 0.0 if i == 0 else -1.0] for i in range(links)]),
            linkInertiasCOM=exu.Matrix3DList([inertia] * links),
            linkCOMs=exu.Vector3DList([[0.0, 0.0, -0.5]] * links),
            linkMasses=[1.0] * links,
            gravity=[0.0, 0.0, -9.81],
        )
    )
    system.Assemble()
    return system


def run(task, method, accuracy, end):
    """Time of a run, s, and the states at its end."""
    system = build(task["links"], task["q"])
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
    return seconds, [[float(a), float(b)] for a, b in zip(q, u, strict=True)]


def main():
    task = json.loads(Path(sys.argv[1]).read_text())
    runs = []
    for method in METHODS:
        for accuracy in task["accuracies"]:
            try:
                seconds = min(
                    run(task, method, accuracy, task["marks"][-1])[0] for _ in range(task["rounds"])
                )
                if seconds > TOO_LONG:
                    break
                states = [run(task, method, accuracy, mark)[1] for mark in task["marks"]]
            except Exception as error:
                print(f"{method} at {accuracy}: {error}")
                continue
            runs.append({"method": method, "accuracy": accuracy, "seconds": seconds, "states": states})
    # what it prints itself comes before
    print("\n" + json.dumps({"name": f"Exudyn {exu.config.Version()}", "runs": runs}))


main()
