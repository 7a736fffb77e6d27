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
GRAVITY = 9.81  # m/s2, along -y


def watch(system, sensor, kinds, **options):
    """Add sensors of a body or node that store these `kinds` of quantities, to be read after the run."""
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


def add_rod(system, center, angle, velocity, rate):
    """Add a planar rod of 1 kg and 1 m, with its speeds at the start; its node and its body."""
    coordinates = [*center, angle]
    node = system.AddNode(
        NodeRigidBody2D(referenceCoordinates=coordinates, initialVelocities=[*velocity, rate])
    )
    body = system.AddObject(ObjectRigidBody2D(physicsMass=1.0, physicsInertia=1 / 12, nodeNumber=node))
    marker = system.AddMarker(MarkerBodyMass(bodyNumber=body))
    system.AddLoad(LoadMassProportional(markerNumber=marker, loadVector=[0, -GRAVITY, 0]))
    return node, body


def add_pin(system, body1, point1, body2, point2):
    """Connect a point of one body with a point of another one, each in the frame of its body."""
    markers = [
        system.AddMarker(MarkerBodyPosition(bodyNumber=body, localPosition=[*point, 0]))
        for body, point in ((body1, point1), (body2, point2))
    ]
    system.AddObject(ObjectJointRevolute2D(markerNumbers=markers))


def four_bars(loops):
    """The N-four-bar mechanism, upright.

    Returns the system, the sensors of the first and last angle, those of each rod's motion (see `energies`),
    and the main moments of inertia of each rod.
    """
    system = exu.SystemContainer().AddSystem()
    ground = system.AddObject(ObjectGround())
    rods = [add_rod(system, [i, 0.5], np.pi / 2, [0.5, 0.0], -1.0) for i in range(loops + 1)]
    bodies = [body for _, body in rods]
    for i, (_, body) in enumerate(rods):
        add_pin(system, ground, [i, 0], body, [-0.5, 0])
    for i in range(loops):
        _, coupler = add_rod(system, [i + 0.5, 1.0], 0.0, [1.0, 0.0], 0.0)
        bodies.append(coupler)
        add_pin(system, rods[i][1], [0.5, 0], coupler, [-0.5, 0])
        add_pin(system, coupler, [0.5, 0], rods[i + 1][1], [0.5, 0])
    sensors = [
        sensor
        for node, _ in (rods[0], rods[-1])
        for sensor in watch(system, SensorNode, nodeNumber=node, kinds=[WATCHED.Rotation])
    ]
    kinds = (WATCHED.Position, WATCHED.Velocity, WATCHED.AngularVelocity)
    watched = [watch(system, SensorBody, bodyNumber=body, kinds=kinds) for body in bodies]
    system.Assemble()
    return system, sensors, watched, [np.array([0.0, 0.0, 1 / 12])] * len(bodies)


def bricard(corners, axes):
    """Bricard's mechanism of rods between these corners, m, with pins along these axes; as `four_bars`.

    The one sensor is that of the place of the first rod's end.
    """
    edges = np.roll(corners, -1, axis=0) - corners
    inertia = [(1 - edges[i] ** 2) / 12 + 1e-12 for i in range(5)]  # a rod has none about its own line
    system = exu.SystemContainer().AddSystem()
    ground = system.CreateGround()
    rods = [
        system.CreateRigidBody(
            inertia=RigidBodyInertia(1.0, np.diag(inertia[i])),
            referencePosition=list(corners[i] + edges[i] / 2),
            gravity=[0, -GRAVITY, 0],
        )
        for i in range(5)
    ]
    ring = [ground, *rods, ground]
    for i in range(6):
        system.CreateRevoluteJoint(
            bodyNumbers=ring[i : i + 2], position=list(corners[i]), axis=list(axes[i]), useGlobalFrame=True
        )
    end = {"bodyNumber": rods[0], "localPosition": list(edges[0] / 2)}
    sensors = watch(system, SensorBody, kinds=[WATCHED.Position], **end)
    kinds = (WATCHED.Position, WATCHED.Velocity, WATCHED.AngularVelocityLocal)
    watched = [watch(system, SensorBody, bodyNumber=body, kinds=kinds) for body in rods]
    system.Assemble()
    return system, sensors, watched, inertia


def settings_of(request, step):
    """Settings of a run by generalized-alpha with steps of a length, s."""
    settings = exu.SimulationSettings()
    settings.timeIntegration.numberOfSteps = round(request["until"] / step)
    settings.timeIntegration.endTime = request["until"]
    settings.timeIntegration.verboseMode = 0
    settings.timeIntegration.generalizedAlpha.spectralRadius = 0.8
    settings.timeIntegration.newton.useModifiedNewton = True
    settings.timeIntegration.newton.relativeTolerance = 1e-10
    settings.solution.file.write = False
    settings.solution.sensors.writePeriod = request["grid"]
    if not request["loops"]:  # redundant joints
        settings.linearSolverType = exu.LinearSolverType.EigenDense
        settings.linearSolverSettings.ignoreSingularJacobian = True
    return settings


def angles_of(system, sensors, loops):
    """The stored angles, rad, a column each: of both end rods, or of Bricard's first rod in its plane."""
    stored = [np.array(system.GetSensorStoredData(sensor)) for sensor in sensors]
    if loops:
        return np.column_stack([data[:, -1] for data in stored])
    return np.unwrap(np.arctan2(stored[0][:, 3:4], stored[0][:, 1:2]), axis=0)


def main():
    """Print the runs with each step: angles at the points of the grid, change of the energy, time."""
    request = json.loads(sys.argv[1])
    runs = []
    for step in request["steps"]["exudyn"]:
        if request["loops"]:
            system, sensors, *bodies = four_bars(request["loops"])
        else:
            system, sensors, *bodies = bricard(np.array(request["corners"]), np.array(request["axes"]))
        settings = settings_of(request, step)
        start = time.perf_counter()
        try:
            system.SolveDynamic(settings, solverType=exu.DynamicSolverType.GeneralizedAlpha)
        except Exception as error:  # noqa: BLE001 - what it has stored so far is shown
            print(error, file=sys.stderr)
        seconds = time.perf_counter() - start
        angles = angles_of(system, sensors, request["loops"]).tolist()
        energy = float(np.ptp(energies(system, *bodies)))
        runs.append({"name": f"step {step:g} s", "angles": angles, "energy": energy, "time": seconds})
    print(json.dumps({"version": exu.__version__, "runs": runs}))


main()
