"""Drake: a system in Python with each of its explicit integrators; its accuracy is absolute."""

import importlib.metadata
import json
import sys
import time

import numpy as np
from laws import PROBLEMS, laws
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator
from pydrake.systems.framework import LeafSystem


class Law(LeafSystem):
    """A right-hand side as a system."""

    def __init__(self, law, size):
        LeafSystem.__init__(self)
        self.law = law
        self.DeclareContinuousState(size)

    def DoCalcTimeDerivatives(self, context, derivatives):  # noqa: N802
        y = context.get_continuous_state_vector().CopyToVector()
        derivatives.get_mutable_vector().SetFromVector(self.law(context.get_time(), y))


runs = []
for name, law in laws(np).items():
    start, until = PROBLEMS[name]
    for method in ("bogacki_shampine3", "runge_kutta3", "runge_kutta5"):
        for accuracy in json.loads(sys.argv[1]):
            if method != "runge_kutta5" and accuracy < 1e-7:
                continue
            simulator = Simulator(Law(law, len(start)))
            ResetIntegratorFromFlags(simulator, method, 0.1)
            simulator.get_mutable_integrator().set_target_accuracy(accuracy)
            simulator.get_mutable_integrator().set_fixed_step_mode(False)
            simulator.get_mutable_integrator().set_requested_minimum_step_size(1e-14)
            simulator.get_mutable_context().SetContinuousState(start)
            simulator.Initialize()
            begin = time.perf_counter()
            try:
                simulator.AdvanceTo(until)
            except RuntimeError as error:
                print(f"{name}, {method}, {accuracy}: {error}", file=sys.stderr)
                continue
            seconds = time.perf_counter() - begin
            evaluations = simulator.get_integrator().get_num_derivative_evaluations()
            end = simulator.get_context().get_continuous_state_vector().CopyToVector()
            runs.append(
                {
                    "problem": name,
                    "method": method,
                    "accuracy": accuracy,
                    "seconds": seconds,
                    "evaluations": int(evaluations),
                    "end": end.tolist(),
                }
            )
print(json.dumps({"name": f"Drake {importlib.metadata.version('drake')}", "runs": runs}))
