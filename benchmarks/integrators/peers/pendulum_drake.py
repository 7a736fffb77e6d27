"""Drake: the pendulum with each of its explicit integrators at each accuracy."""

import importlib.metadata
import json
import sys
import time
from pathlib import Path

import numpy as np
from pydrake.math import RigidTransform
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import FixedOffsetFrame, RevoluteJoint, SpatialInertia, UnitInertia
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

TOO_LONG = 1.5  # s: tighter tolerances take longer still
METHODS = ["runge_kutta3", "bogacki_shampine3", "runge_kutta5"]


def build(links):
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


def main():
    task = json.loads(Path(sys.argv[1]).read_text())
    plant, joints = build(task["links"])

    def simulator(method, accuracy):
        context = plant.CreateDefaultContext()
        for joint in joints:
            joint.set_angle(context, task["q"])
        started_simulator = Simulator(plant, context)
        ResetIntegratorFromFlags(started_simulator, method, 0.1)
        started_simulator.get_mutable_integrator().set_target_accuracy(accuracy)
        started_simulator.get_mutable_integrator().set_fixed_step_mode(False)
        started_simulator.set_publish_every_time_step(False)
        started_simulator.Initialize()
        return started_simulator

    runs = []
    for method in METHODS:
        for accuracy in task["accuracies"]:
            seconds = np.inf
            for _ in range(task["rounds"]):
                started_simulator = simulator(method, accuracy)
                start = time.perf_counter()
                started_simulator.AdvanceTo(task["marks"][-1])
                seconds = min(seconds, time.perf_counter() - start)
            if seconds > TOO_LONG:
                break
            evaluations = started_simulator.get_integrator().get_num_derivative_evaluations()
            started_simulator, states = simulator(method, accuracy), []
            for mark in task["marks"]:
                started_simulator.AdvanceTo(mark)
                context = started_simulator.get_context()
                states.append([[j.get_angle(context), j.get_angular_rate(context)] for j in joints])
            runs.append(
                {
                    "method": method,
                    "accuracy": accuracy,
                    "seconds": seconds,
                    "evaluations": evaluations,
                    "states": states,
                }
            )
    print(json.dumps({"name": f"Drake {importlib.metadata.version('drake')}", "runs": runs}))


main()
