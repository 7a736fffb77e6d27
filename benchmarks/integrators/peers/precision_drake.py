"""Drake: a system in Python with each of its explicit integrators; its accuracy is absolute.

Each run is done once: they take long.
"""

import importlib.metadata
import sys

import numpy as np
from pydrake.systems.analysis import ResetIntegratorFromFlags, Simulator
from pydrake.systems.framework import LeafSystem
from work import Work, fastest, print_runs

METHODS = ("bogacki_shampine3", "runge_kutta3", "runge_kutta5")
FIRST_STEP, SMALLEST_STEP = 0.1, 1e-14  # s; by default it refuses steps that these problems need


class Law(LeafSystem):
    """A right-hand side as a system."""

    def __init__(self, law, size):
        LeafSystem.__init__(self)
        self.law = law
        self.DeclareContinuousState(size)

    def DoCalcTimeDerivatives(self, context, derivatives):  # noqa: N802
        y = context.get_continuous_state_vector().CopyToVector()
        derivatives.get_mutable_vector().SetFromVector(self.law(context.get_time(), y))


def solve(law, start, until, method, accuracy, rounds):
    """See `work.print_runs`."""
    simulator = Simulator(Law(law, len(start)))
    ResetIntegratorFromFlags(simulator, method, FIRST_STEP)
    integrator = simulator.get_mutable_integrator()
    integrator.set_target_accuracy(accuracy)
    integrator.set_fixed_step_mode(False)
    integrator.set_requested_minimum_step_size(SMALLEST_STEP)
    simulator.get_mutable_context().SetContinuousState(start)
    simulator.Initialize()
    try:
        seconds, _ = fastest(lambda: simulator.AdvanceTo(until), 1)
    except RuntimeError as error:
        print(f"{law.__name__}, {method}, {accuracy}: {error}", file=sys.stderr)
        return None
    end = simulator.get_context().get_continuous_state_vector().CopyToVector()
    return Work(seconds, int(integrator.get_num_derivative_evaluations()), end.tolist())


program = f"Drake {importlib.metadata.version('drake')}"
print_runs(program, np, METHODS, solve, tightest={"bogacki_shampine3": 1e-7, "runge_kutta3": 1e-7})
