"""Exudyn: the pendulum as a kinematic tree; sensors keep its angles and rates once in each interval.

With error control a step is as long as an interval at most, so that there are as many rows; they are
those at the ends of steps.
"""

import json
import sys
from pathlib import Path

import exudyn as exu
import numpy as np
from exudyn.utilities import NodeGenericODE2, ObjectKinematicTree, SensorNode
from least import least

METHODS = {
    "DOPRI5": exu.DynamicSolverType.DOPRI5,
    "RK44": exu.DynamicSolverType.RK44,
    "RK67": exu.DynamicSolverType.RK67,
}
Values = exu.OutputVariableType


def build(tree):
    """The system, and its sensors of angles and rates."""
    system = exu.SystemContainer().AddSystem()
    bodies = tree["bodies"]
    n = len(bodies)
    node = system.AddNode(
        NodeGenericODE2(
            referenceCoordinates=[0.0] * n,
            initialCoordinates=[tree["q"]] * n,
            initialCoordinates_t=[tree["u"]] * n,
            numberOfODE2Coordinates=n,
        )
    )
    system.AddObject(
        ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=[exu.JointType.RevoluteY] * n,
            linkParents=[body["parent"] for body in bodies],
            jointTransformations=exu.Matrix3DList([np.eye(3)] * n),
            jointOffsets=exu.Vector3DList([body["position"] for body in bodies]),
            linkInertiasCOM=exu.Matrix3DList([np.diag(body["inertia"]) for body in bodies]),
            linkCOMs=exu.Vector3DList([body["center"] for body in bodies]),
            linkMasses=[body["mass"] for body in bodies],
            gravity=list(tree["gravity"]),
        )
    )
    kinds = (Values.Coordinates, Values.Coordinates_t)
    sensors = [
        system.AddSensor(SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=k)) for k in kinds
    ]
    system.Assemble()
    return system, sensors


def solve(system, task, method, steps, tolerance):
    """One run; a tolerance of None means fixed steps."""
    settings = exu.SimulationSettings()
    settings.timeIntegration.endTime = task["until"]
    settings.timeIntegration.numberOfSteps = steps
    settings.timeIntegration.automaticStepSize = tolerance is not None
    if tolerance is not None:
        settings.timeIntegration.relativeTolerance = settings.timeIntegration.absoluteTolerance = tolerance
        settings.timeIntegration.initialStepSize = 1e-3
    settings.timeIntegration.verboseMode = 0
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = task["until"] / task["intervals"]
    settings.linearSolver.solverType = exu.LinearSolverType.EXUdense
    system.SolveDynamic(settings, solverType=METHODS[method])


def main():
    task = json.loads(Path(sys.argv[1]).read_text())
    system, sensors = build(task["tree"])
    runs = []
    ways = [("DOPRI5", task["intervals"], tolerance) for tolerance in task["tolerances"]]
    ways += [
        (method, task["intervals"] * k, None)
        for method in ("RK44", "RK67")
        for k in task["steps_in_interval"]
    ]
    for method, steps, tolerance in ways:
        seconds, _ = least(lambda way=(method, steps, tolerance): solve(system, task, *way), task["runs"])
        rows = [system.GetSensorStoredData(sensor) for sensor in sensors]
        runs.append(
            {
                "method": method,
                "tolerance": task["until"] / steps if tolerance is None else tolerance,
                "seconds": seconds,
                "rows": len(rows[0]),
                "end": [*rows[0][-1, 1:].tolist(), *rows[1][-1, 1:].tolist()],
            }
        )
    # what it prints itself comes before
    print("\n" + json.dumps({"name": f"Exudyn {exu.config.Version()}", "runs": runs}))


main()
