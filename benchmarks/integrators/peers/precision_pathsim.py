"""PathSim: an ODE block with its explicit solvers with error control."""

import importlib.metadata
import json
import sys
import time

import numpy as np
from laws import PROBLEMS, laws
from pathsim import Simulation
from pathsim.blocks import ODE
from pathsim.solvers import RKBS32, RKDP54, RKDP87

runs = []
for name, law in laws(np).items():
    start, until = PROBLEMS[name]
    for solver in (RKBS32, RKDP54, RKDP87):
        for accuracy in json.loads(sys.argv[1]):
            if solver is RKBS32 and accuracy < 1e-5:
                continue
            count = [0]

            def right(x, u, t, law=law, count=count):
                count[0] += 1
                return law(t, x)

            block = ODE(right, initial_value=np.array(start))
            simulation = Simulation(
                [block],
                [],
                Solver=solver,
                dt=1e-3,
                tolerance_lte_rel=accuracy,
                tolerance_lte_abs=1e-3 * accuracy,
                log=False,
            )
            begin = time.perf_counter()
            simulation.run(until, adaptive=True)
            seconds = time.perf_counter() - begin
            runs.append(
                {
                    "problem": name,
                    "method": solver.__name__,
                    "accuracy": accuracy,
                    "seconds": seconds,
                    "evaluations": count[0],
                    "end": block.engine.get().tolist(),
                }
            )
print(json.dumps({"name": f"PathSim {importlib.metadata.version('pathsim')}", "runs": runs}))
