"""numbalsoda: the Brusselator, compiled by numba, with rows as asked for; compiling is not counted."""

import importlib.metadata
import json
import sys

import numpy as np
from least import least
from numba import cfunc
from numbalsoda import dop853, lsoda, lsoda_sig

task = json.loads(sys.argv[1])


@cfunc(lsoda_sig)
def law(t, y, y_dot, parameters):
    y_dot[0] = 1.0 + y[0] * y[0] * y[1] - 4.0 * y[0]
    y_dot[1] = 3.0 * y[0] - y[0] * y[0] * y[1]


start, times = np.array(task["start"]), np.linspace(0.0, task["until"], task["intervals"] + 1)
runs = []
for solve in (lsoda, dop853):
    for tolerance in task["tolerances"]:
        seconds, (rows, success) = least(
            lambda solve=solve, tolerance=tolerance: solve(
                law.address, start, times, rtol=tolerance, atol=1e-3 * tolerance
            ),
            task["runs"],
        )
        if success:
            runs.append(
                {
                    "method": solve.__name__,
                    "tolerance": tolerance,
                    "seconds": seconds,
                    "end": rows[-1].tolist(),
                }
            )
print(json.dumps({"name": f"numbalsoda {importlib.metadata.version('numbalsoda')}", "runs": runs}))
