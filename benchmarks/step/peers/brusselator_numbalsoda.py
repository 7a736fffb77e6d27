"""numbalsoda: the Brusselator, compiled by numba, with rows as asked for; compiling is not counted."""

import importlib.metadata
import json
import sys
from functools import partial

import numpy as np
from least import least
from numba import cfunc
from numbalsoda import dop853, lsoda, lsoda_sig


@cfunc(lsoda_sig)
def law(t, y, y_dot, parameters):
    y_dot[0] = 1.0 + y[0] * y[0] * y[1] - 4.0 * y[0]
    y_dot[1] = 3.0 * y[0] - y[0] * y[0] * y[1]


def main():
    """Print CPU time and end of the runs with each method at each tolerance that succeeded."""
    task = json.loads(sys.argv[1])
    start, times = np.array(task["start"]), np.linspace(0.0, task["until"], task["intervals"] + 1)
    runs = []
    for solve in (lsoda, dop853):
        for tolerance in task["tolerances"]:
            run = partial(solve, law.address, start, times, rtol=tolerance, atol=1e-3 * tolerance)
            seconds, (rows, success) = least(run, task["runs"])
            if success:
                method = {"method": solve.__name__, "tolerance": tolerance}
                runs.append(method | {"seconds": seconds, "end": rows[-1].tolist()})
    print(json.dumps({"name": f"numbalsoda {importlib.metadata.version('numbalsoda')}", "runs": runs}))


main()
