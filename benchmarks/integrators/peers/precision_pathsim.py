"""PathSim: an ODE block with its explicit solvers with error control. Each run is done once: it is slow."""

import importlib.metadata

import numpy as np
from pathsim import Simulation
from pathsim.blocks import ODE
from pathsim.solvers import RKBS32, RKDP54, RKDP87
from work import Work, fastest, print_runs

SOLVERS = {solver.__name__: solver for solver in (RKBS32, RKDP54, RKDP87)}


def solve(law, start, until, method, accuracy, rounds):
    """See `work.print_runs`."""
    evaluations = 0

    def rates(x, u, t):
        nonlocal evaluations
        evaluations += 1
        return law(t, x)

    block = ODE(rates, initial_value=np.array(start))
    tolerances = {"tolerance_lte_rel": accuracy, "tolerance_lte_abs": 1e-3 * accuracy}
    simulation = Simulation([block], [], Solver=SOLVERS[method], dt=1e-3, log=False, **tolerances)
    seconds, _ = fastest(lambda: simulation.run(until, adaptive=True), 1)
    return Work(seconds, evaluations, block.engine.get().tolist())


program = f"PathSim {importlib.metadata.version('pathsim')}"
print_runs(program, np, SOLVERS, solve, tightest={"RKBS32": 1e-5})
