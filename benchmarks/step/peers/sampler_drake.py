"""Drake: a mass on a spring (LinearSystem), alone and with a ZeroOrderHold of its position; both are C++."""

import importlib.metadata
import json
import sys

import numpy as np
from least import least
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator
from pydrake.systems.framework import DiagramBuilder
from pydrake.systems.primitives import LinearSystem, ZeroOrderHold


def started(method, step, sampled):
    """A simulator at the start, with steps of a length, s."""
    builder = DiagramBuilder()
    spring = np.array([[0.0, 1.0], [-1.0, 0.0]])
    mass = LinearSystem(spring, np.zeros((2, 0)), np.array([[1.0, 0.0]]), np.zeros((1, 0)))
    mass = builder.AddSystem(mass)
    if sampled:
        hold = builder.AddSystem(ZeroOrderHold(step, 1))
        builder.Connect(mass.get_output_port(), hold.get_input_port())
    simulator = Simulator(builder.Build())
    ResetIntegratorFromFlags(simulator, method, step)
    simulator.get_mutable_integrator().set_fixed_step_mode(True)
    simulator.get_mutable_context().SetContinuousState([1.0, 0.0])
    simulator.Initialize()
    return simulator


def step_time(simulator, span, runs):
    """CPU time to advance by a span, s, the least of some runs; the position has to be right at the end."""
    seconds, _ = least(lambda: simulator.AdvanceTo(simulator.get_context().get_time() + span), runs)
    context = simulator.get_context()
    position = context.get_continuous_state_vector().CopyToVector()[0]
    assert abs(position - np.cos(context.get_time())) < 1e-8
    return seconds


def main():
    """Print the CPU time of a step with each method, alone and with the sampler."""
    task = json.loads(sys.argv[1])
    runs = []
    for method in ("runge_kutta3", "runge_kutta5"):
        for sampled in (False, True):
            simulator = started(method, task["step"], sampled)
            seconds = step_time(simulator, task["step"] * task["steps"], task["runs"]) / task["steps"]
            if sampled:
                assert simulator.get_num_discrete_updates() >= task["steps"] * task["runs"]
            runs.append({"method": f"{method} and sampler" if sampled else method, "seconds": seconds})
    print(json.dumps({"name": f"Drake {importlib.metadata.version('drake')}", "runs": runs}))


main()
