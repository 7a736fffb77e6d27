"""Exudyn: the pendulum as a kinematic tree; sensors keep its angles and rates once in each interval.

With error control a step is as long as an interval at most, so that there are as many rows; they are
those at the ends of steps.
"""

import json
import sys
from functools import partial
from pathlib import Path

import exudyn as exu
from exudyn.utilities import SensorNode
from least import least

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
from exudyn_tree import build

METHODS = {
    "DOPRI5": exu.DynamicSolverType.DOPRI5,
    "RK44": exu.DynamicSolverType.RK44,
    "RK67": exu.DynamicSolverType.RK67,
}
Values = exu.OutputVariableType


def add_sensors(system, node):
    """Sensors of the angles and of the rates of a tree."""
    kinds = (Values.Coordinates, Values.Coordinates_t)
    return [
        system.AddSensor(SensorNode(nodeNumber=node, storeInternal=True, outputVariableType=k)) for k in kinds
    ]


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
    """Print CPU time and end of the runs: with error control, and with steps of each length."""
    task = json.loads(Path(sys.argv[1]).read_text())
    system, node, _ = build(task["tree"])
    sensors = add_sensors(system, node)
    system.Assemble()
    runs = []
    choices = [("DOPRI5", task["intervals"], tolerance) for tolerance in task["tolerances"]]
    choices += [
        (method, task["intervals"] * k, None)
        for method in ("RK44", "RK67")
        for k in task["steps_in_interval"]
    ]
    for method, steps, tolerance in choices:
        seconds, _ = least(partial(solve, system, task, method, steps, tolerance), task["runs"])
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
