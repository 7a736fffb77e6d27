"""Drake: the pendulum with each of its explicit integrators at each accuracy."""

import importlib.metadata
import json
import sys
import time
from functools import partial
from pathlib import Path

import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, SpatialInertia, UnitInertia
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

TOO_LONG = 1.5  # s: tighter tolerances take longer still
METHODS = ["runge_kutta3", "bogacki_shampine3", "runge_kutta5"]


def build(links):
    """A plant with a chain of rods of 1 kg and 1 m that hangs down; the plant and its joints."""
    plant = MultibodyPlant(time_step=0.0)
    plant.mutable_gravity_field().set_gravity_vector([0, 0, -9.81])
    parent, joints = plant.world_body(), []
    for i in range(links):
        center = np.array([0.0, 0.0, -0.5])
        unit = UnitInertia(1.0025 / 12, 1.0025 / 12, 0.005 / 12).ShiftFromCenterOfMass(center)
        body = plant.AddRigidBody(f"b{i}", SpatialInertia(1.0, center, unit))
        place = RigidTransform(np.array([0.0, 0.0, 0.0 if i == 0 else -1.0]))
        frame = plant.AddFrame(FixedOffsetFrame(f"f{i}", parent.body_frame(), place))
        joints.append(plant.AddJoint(RevoluteJoint(f"j{i}", frame, body.body_frame(), [0, 1, 0], 0.0)))
        parent = body
    plant.Finalize()
    return plant, joints


def started(plant, joints, angle, method, accuracy):
    """A simulator at the start, with all joints at an angle, rad."""
    context = plant.CreateDefaultContext()
    for joint in joints:
        joint.set_angle(context, angle)
    simulator = Simulator(plant, context)
    ResetIntegratorFromFlags(simulator, method, 0.1)
    simulator.get_mutable_integrator().set_target_accuracy(accuracy)
    simulator.get_mutable_integrator().set_fixed_step_mode(False)
    simulator.set_publish_every_time_step(False)
    simulator.Initialize()
    return simulator


def least_time(start, end, rounds):
    """The least wall time of a run to its end, s, and the evaluations in it; `start` makes simulators."""
    seconds = np.inf
    for _ in range(rounds):
        simulator = start()
        begin = time.perf_counter()
        simulator.AdvanceTo(end)
        seconds = min(seconds, time.perf_counter() - begin)
    return seconds, simulator.get_integrator().get_num_derivative_evaluations()


def states_at(simulator, joints, marks):
    """Angle and rate of each joint at these times, rad and rad/s."""
    states = []
    for mark in marks:
        simulator.AdvanceTo(mark)
        context = simulator.get_context()
        states.append([[j.get_angle(context), j.get_angular_rate(context)] for j in joints])
    return states


def main():
    """Print the runs with each method at each accuracy, until one takes too long."""
    task = json.loads(Path(sys.argv[1]).read_text())
    plant, joints = build(task["links"])
    runs = []
    for method in METHODS:
        for accuracy in task["accuracies"]:
            start = partial(started, plant, joints, task["q"], method, accuracy)
            seconds, evaluations = least_time(start, task["marks"][-1], task["rounds"])
            if seconds > TOO_LONG:
                break
            states = states_at(start(), joints, task["marks"])
            run = {"method": method, "accuracy": accuracy, "seconds": seconds}
            runs.append(run | {"evaluations": evaluations, "states": states})
    print(json.dumps({"name": f"Drake {importlib.metadata.version('drake')}", "runs": runs}))


main()
