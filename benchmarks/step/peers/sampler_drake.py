"""Drake: a mass on a spring (LinearSystem), alone and with a ZeroOrderHold of its position; both are C++."""

import importlib.metadata
import json
import sys

import numpy as np
from least import least
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator
from pydrake.systems.framework import DiagramBuilder
from pydrake.systems.primitives import LinearSystem, ZeroOrderHold

task = json.loads(sys.argv[1])


def started(method, sampled):
    builder = DiagramBuilder()
    spring = np.array([[0.0, 1.0], [-1.0, 0.0]])
    mass = LinearSystem(spring, np.zeros((2, 0)), np.array([[1.0, 0.0]]), np.zeros((1, 0)))
    mass = builder.AddSystem(mass)
    if sampled:
        hold = builder.AddSystem(ZeroOrderHold(task["step"], 1))
        builder.Connect(mass.get_output_port(), hold.get_input_port())
    simulator = Simulator(builder.Build())
    ResetIntegratorFromFlags(simulator, method, task["step"])
    simulator.get_mutable_integrator().set_fixed_step_mode(True)
    simulator.get_mutable_context().SetContinuousState([1.0, 0.0])
    simulator.Initialize()
    return simulator


runs = []
for method in ("runge_kutta3", "runge_kutta5"):
    for sampled in (False, True):
        simulator, span = started(method, sampled), task["step"] * task["steps"]

        def advance(simulator=simulator, span=span):
            simulator.AdvanceTo(simulator.get_context().get_time() + span)

        seconds, _ = least(advance, task["runs"])
        context = simulator.get_context()
        assert (
            abs(context.get_continuous_state_vector().CopyToVector()[0] - np.cos(context.get_time())) < 1e-8
        )
        if sampled:
            assert simulator.get_num_discrete_updates() >= task["steps"] * task["runs"]
        name = f"{method} and sampler" if sampled else method
        runs.append({"method": name, "seconds": seconds / task["steps"]})
print(json.dumps({"name": f"Drake {importlib.metadata.version('drake')}", "runs": runs}))
