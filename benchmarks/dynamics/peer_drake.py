"""Drake: steps of its simulator with an explicit Euler integrator in its own loop in C++."""

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

STEP = 1e-9  # s: the tree hardly moves while its evaluations are timed


def build(tree):
    """A plant with the tree's bodies; the plant and its hinges."""
    plant = MultibodyPlant(time_step=0.0)
    plant.mutable_gravity_field().set_gravity_vector(tree["gravity"])
    bodies, hinges = [], []
    for i, body in enumerate(tree["bodies"]):
        m, c = body["mass"], np.array(body["center"])
        unit = UnitInertia(*(np.array(body["inertia"]) / m)).ShiftFromCenterOfMass(c)
        one = plant.AddRigidBody(f"b{i}", SpatialInertia(m, c, unit))
        parent = plant.world_body() if body["parent"] < 0 else bodies[body["parent"]]
        if body["joint"] == "pin":
            joint = RevoluteJoint(
                f"j{i}",
                _frame(plant, parent, body, i),
                one.body_frame(),
                body["axis"],
                0.0,
            )
            hinges.append(plant.AddJoint(joint))
        bodies.append(one)
    plant.Finalize()
    return plant, hinges


def _frame(plant, parent, body, i):
    return plant.AddFrame(
        FixedOffsetFrame(f"f{i}", parent.body_frame(), RigidTransform(np.array(body["position"])))
    )


def accelerations(plant, context, hinges):
    """The angular accelerations of the hinges, rad/s2."""
    derivatives = plant.EvalTimeDerivatives(context)
    vdot = np.array(derivatives.get_generalized_velocity().CopyToVector())
    return [vdot[joint.velocity_start()] for joint in hinges]


def evaluation_time(plant, context, tree):
    """Time of one evaluation of the derivatives, s: the best of some rounds of many short steps."""
    simulator = Simulator(plant, context)
    ResetIntegratorFromFlags(simulator, "explicit_euler", STEP)
    simulator.set_publish_every_time_step(False)
    simulator.Initialize()
    count = max(50, 20000 // (1 + len(tree["bodies"])))
    integrator = simulator.get_integrator()
    times = []
    for i in range(tree["rounds"]):
        before = integrator.get_num_derivative_evaluations()
        start = time.perf_counter()
        simulator.AdvanceTo((i + 1) * count * STEP)
        seconds = time.perf_counter() - start
        times.append(seconds / (integrator.get_num_derivative_evaluations() - before))
    return min(times)


def main():
    """Print the time of an evaluation and the accelerations of each tree of a JSON file."""
    answers = {}
    for tree in json.loads(Path(sys.argv[1]).read_text()):
        plant, hinges = build(tree)
        context = plant.CreateDefaultContext()
        for joint in hinges:
            joint.set_angle(context, tree["q"])
            joint.set_angular_rate(context, tree["u"])
        udot = accelerations(plant, context, hinges)
        answers[tree["name"]] = {"seconds": evaluation_time(plant, context, tree), "udot": udot}
    print(json.dumps({"version": importlib.metadata.version("drake"), "trees": answers}))


main()
