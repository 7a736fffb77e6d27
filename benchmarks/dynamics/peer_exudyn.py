"""Exudyn: steps of its explicit Euler solver on a kinematic tree, in its own loop in C++.

Kinematic trees have joints of one degree of freedom: a free body is carried by three sliders and three pins.
"""

import json
import sys
import time
from pathlib import Path

import exudyn as exu
import numpy as np
from exudyn.utilities import NodeGenericODE2, ObjectKinematicTree

HINGE = {0: exu.JointType.RevoluteX, 1: exu.JointType.RevoluteY, 2: exu.JointType.RevoluteZ}
FREE = [exu.JointType.PrismaticX, exu.JointType.PrismaticY, exu.JointType.PrismaticZ, *HINGE.values()]


def build(tree):
    kinds, parents, offsets, masses, centers, inertias, q, u, hinges = [], [], [], [], [], [], [], [], []
    last = []
    for body in tree["bodies"]:
        carrier = -1 if body["parent"] < 0 else last[body["parent"]]
        is_pin = body["joint"] == "pin"
        joints = [HINGE[int(np.argmax(body["axis"]))]] if is_pin else FREE
        for i, kind in enumerate(joints):
            kinds.append(kind)
            parents.append(carrier)
            offsets.append(list(body["position"]) if i == 0 else [0.0, 0.0, 0.0])
            carries = i == len(joints) - 1
            masses.append(body["mass"] if carries else 0.0)
            centers.append(list(body["center"]) if carries else [0.0, 0.0, 0.0])
            inertias.append(np.diag(body["inertia"]) if carries else np.zeros((3, 3)))
            q.append(tree["q"] if is_pin else 0.0)
            u.append(tree["u"] if is_pin else 0.0)
            hinges.append(is_pin)
            carrier = len(kinds) - 1
        last.append(carrier)
    system = exu.SystemContainer().AddSystem()
    n = len(kinds)
    node = system.AddNode(
        NodeGenericODE2(
            referenceCoordinates=[0.0] * n,
            initialCoordinates=q,
            initialCoordinates_t=u,
            numberOfODE2Coordinates=n,
        )
    )
    system.AddObject(
        ObjectKinematicTree(
            nodeNumber=node,
            jointTypes=kinds,
            linkParents=parents,
            jointTransformations=exu.Matrix3DList([np.eye(3)] * n),
            jointOffsets=exu.Vector3DList(offsets),
            linkInertiasCOM=exu.Matrix3DList(inertias),
            linkCOMs=exu.Vector3DList(centers),
            linkMasses=masses,
            gravity=list(tree["gravity"]),
        )
    )
    system.Assemble()
    return system, np.array(hinges)


def run(system, steps, linear_solver, by_body):
    """The time of a number of steps with all that the program does around them, s."""
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
    result = {}
    for tree in json.loads(Path(sys.argv[1]).read_text()):
        system, hinges = build(tree)
        best = np.inf
        solvers = exu.LinearSolverType
        for way in ((solvers.EXUdense, False), (solvers.EigenSparse, False), (solvers.EXUdense, True)):
            # two lengths: their difference is free of what happens once
            count = max(100, 20000 // (1 + len(hinges)))
            short = min(run(system, 10, *way) for _ in range(tree["rounds"]))
            long = min(run(system, 10 + count, *way) for _ in range(tree["rounds"]))
            best = min(best, (long - short) / count)
        udot = np.array(system.systemData.GetODE2Coordinates_tt())
        result[tree["name"]] = {"seconds": best, "udot": udot[hinges].tolist()}
    # what it prints itself comes before
    print("\n" + json.dumps({"version": exu.config.Version(), "trees": result}))


main()
