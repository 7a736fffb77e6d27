"""Exudyn: planar bodies and joints (nothing is redundant), or spatial ones, by generalized-alpha."""

import json
import sys
import time

import exudyn as exu
import numpy as np
from exudyn.itemInterface import (
    LoadMassProportional,
    MarkerBodyMass,
    MarkerBodyPosition,
    NodeRigidBody2D,
    ObjectGround,
    ObjectJointRevolute2D,
    ObjectRigidBody2D,
    SensorBody,
    SensorNode,
)
from exudyn.utilities import RigidBodyInertia

WATCHED = exu.OutputVariableType
GRAVITY = 9.81


def watch(system, sensor, **options):
    """Sensors of these quantities, whose values are read after the run."""
    kinds = options.pop("kinds")
    return [
        system.AddSensor(sensor(storeInternal=True, outputVariableType=kind, **options)) for kind in kinds
    ]


def energies(system, bodies, inertia):
    """Kinetic and potential energy of rods of 1 kg, J, at the stored times.

    `bodies` lists position, velocity and angular velocity of each; `inertia` has the main moments of each.
    """
    total = 0.0
    for sensors, moments in zip(bodies, inertia, strict=True):
        place, speed, turn = (np.array(system.GetSensorStoredData(s))[:, 1:] for s in sensors)
        total = total + 0.5 * (speed**2).sum(axis=1) + 0.5 * (turn**2) @ moments + GRAVITY * place[:, 1]
    return total


def four_bars(loops):
    system = exu.SystemContainer().AddSystem()
    ground = system.AddObject(ObjectGround())

    def rod(center, angle, velocity, rate):
        node = system.AddNode(
            NodeRigidBody2D(
                referenceCoordinates=[*center, angle],
                initialVelocities=[*velocity, rate],
            )
        )
        body = system.AddObject(ObjectRigidBody2D(physicsMass=1.0, physicsInertia=1 / 12, nodeNumber=node))
        marker = system.AddMarker(MarkerBodyMass(bodyNumber=body))
        system.AddLoad(LoadMassProportional(markerNumber=marker, loadVector=[0, -9.81, 0]))
        return node, body

    def pin(body1, point1, body2, point2):
        markers = [
            system.AddMarker(MarkerBodyPosition(bodyNumber=body, localPosition=[*point, 0]))
            for body, point in ((body1, point1), (body2, point2))
        ]
        system.AddObject(ObjectJointRevolute2D(markerNumbers=markers))

    rods = [rod([i, 0.5], np.pi / 2, [0.5, 0.0], -1.0) for i in range(loops + 1)]
    bodies = [body for _, body in rods]
    for i, (_, body) in enumerate(rods):
        pin(ground, [i, 0], body, [-0.5, 0])
    for i in range(loops):
        _, coupler = rod([i + 0.5, 1.0], 0.0, [1.0, 0.0], 0.0)
        bodies.append(coupler)
        pin(rods[i][1], [0.5, 0], coupler, [-0.5, 0])
        pin(coupler, [0.5, 0], rods[i + 1][1], [0.5, 0])
    sensors = [
        system.AddSensor(
            SensorNode(
                nodeNumber=node, storeInternal=True, outputVariableType=exu.OutputVariableType.Rotation
            )
        )
        for node, _ in (rods[0], rods[-1])
    ]
    kinds = (WATCHED.Position, WATCHED.Velocity, WATCHED.AngularVelocity)
    watched = [watch(system, SensorBody, bodyNumber=body, kinds=kinds) for body in bodies]
    system.Assemble()
    return system, sensors, watched, [np.array([0.0, 0.0, 1 / 12])] * len(bodies)


def bricard(corners, axes):
    edges = np.roll(corners, -1, axis=0) - corners
    system = exu.SystemContainer().AddSystem()
    ground = system.CreateGround()
    rods = [
        system.CreateRigidBody(
            inertia=RigidBodyInertia(1.0, np.diag((1 - edges[i] ** 2) / 12 + 1e-12)),
            referencePosition=list(corners[i] + edges[i] / 2),
            gravity=[0, -9.81, 0],
        )
        for i in range(5)
    ]
    ring = [ground, *rods, ground]
    for i in range(6):
        system.CreateRevoluteJoint(
            bodyNumbers=ring[i : i + 2], position=list(corners[i]), axis=list(axes[i]), useGlobalFrame=True
        )
    end = SensorBody(
        bodyNumber=rods[0],
        storeInternal=True,
        outputVariableType=exu.OutputVariableType.Position,
        localPosition=list(edges[0] / 2),
    )
    sensor = system.AddSensor(end)
    kinds = (WATCHED.Position, WATCHED.Velocity, WATCHED.AngularVelocityLocal)
    watched = [watch(system, SensorBody, bodyNumber=body, kinds=kinds) for body in rods]
    system.Assemble()
    return system, [sensor], watched, [(1 - edges[i] ** 2) / 12 + 1e-12 for i in range(5)]


def main():
    given = json.loads(sys.argv[1])
    runs = []
    for step in given["steps"]["exudyn"]:
        if given["loops"]:
            system, sensors, *bodies = four_bars(given["loops"])
        else:
            system, sensors, *bodies = bricard(np.array(given["corners"]), np.array(given["axes"]))
        settings = exu.SimulationSettings()
        settings.timeIntegration.numberOfSteps = round(given["until"] / step)
        settings.timeIntegration.endTime = given["until"]
        settings.timeIntegration.verboseMode = 0
        settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
        settings.timeIntegration.newton.useModifiedNewton = True
        settings.timeIntegration.newton.relativeTolerance = 1e-10
        settings.solution.file.write = False
        settings.solution.sensors.writePeriod = given["grid"]
        if not given["loops"]:  # redundant joints
            settings.linearSolverType = exu.LinearSolverType.EigenDense
            settings.linearSolverSettings.ignoreSingularJacobian = True
        start = time.perf_counter()
        try:
            system.SolveDynamic(settings, solverType=exu.DynamicSolverType.GeneralizedAlpha)
        except Exception as error:  # noqa: BLE001 - what it has stored so far is shown
            print(error, file=sys.stderr)
        spent = time.perf_counter() - start
        stored = [np.array(system.GetSensorStoredData(sensor)) for sensor in sensors]
        if given["loops"]:
            angles = np.column_stack([data[:, -1] for data in stored])
        else:
            angles = np.unwrap(np.arctan2(stored[0][:, 3:4], stored[0][:, 1:2]), axis=0)
        energy = float(np.ptp(energies(system, *bodies)))
        runs.append({"name": f"step {step:g} s", "angles": angles.tolist(), "energy": energy, "time": spent})
    print(json.dumps({"version": exu.__version__, "runs": runs}))


main()
