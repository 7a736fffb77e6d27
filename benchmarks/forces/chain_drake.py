"""The bushing chain in Drake: fixed steps in C++, the time divided by the number of evaluations."""

import json
import math
import sys
import time

import numpy as np
from pydrake.common.eigen_geometry import Quaternion
from pydrake.math import RigidTransform
from pydrake.multibody.plant import MultibodyPlant
from pydrake.multibody.tree import FixedOffsetFrame, LinearBushingRollPitchYaw, SpatialInertia, UnitInertia
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator

chain = json.loads(sys.argv[1])
plant = MultibodyPlant(time_step=0.0)
mass, center = chain["mass"], np.array(chain["center_of_mass"])
unit = UnitInertia(*(i / mass for i in chain["inertia"])).ShiftFromCenterOfMass(center)
k, c = np.array(chain["stiffness"]), np.array(chain["damping"])
bodies = [plant.AddRigidBody(f"body{i}", SpatialInertia(mass, center, unit)) for i in range(chain["bodies"])]
for i, body in enumerate(bodies):
    above = plant.world_body() if i == 0 else bodies[i - 1]
    frames = []
    for owner, place, name in ((above, chain["below"], "below"), (body, chain["above"], "above")):
        frame = FixedOffsetFrame(f"{name}{i}", owner.body_frame(), RigidTransform(np.array(place)))
        frames.append(plant.AddFrame(frame))
    plant.AddForceElement(LinearBushingRollPitchYaw(*frames, k[:3], c[:3], k[3:], c[3:]))
plant.Finalize()

simulator = Simulator(plant)
context = simulator.get_mutable_context()
for i, body in enumerate(bodies):
    half = 0.01 * (i % 5)
    pose = RigidTransform(
        Quaternion(math.cos(half), math.sin(half), 0.0, 0.0), [0, 0, -(0.5 + chain["gap"]) * (i + 1)]
    )
    plant.SetFreeBodyPose(context, body, pose)
integrator = ResetIntegratorFromFlags(simulator, "runge_kutta3", 1e-5)
integrator.set_fixed_step_mode(True)
integrator.set_maximum_step_size(1e-5)
simulator.Initialize()
steps = max(5, 300 // chain["bodies"])
times = []
for _ in range(10 * chain["rounds"]):  # short and many: the best one was not disturbed
    before, now = integrator.get_num_derivative_evaluations(), context.get_time()
    start = time.perf_counter()
    simulator.AdvanceTo(now + steps * 1e-5)
    spent = time.perf_counter() - start
    times.append(spent / (integrator.get_num_derivative_evaluations() - before))
print(json.dumps({"seconds": min(times)}))
