"""SUNDIALS through scikit-sundae: CVODE's Adams methods of variable order."""

import importlib.metadata
import json
import sys
import time

import numpy as np
from laws import PROBLEMS, laws
from sksundae.cvode import CVODE


def in_place(law):
    """The right-hand side as CVODE calls it: it writes the rates into its last argument."""

    def right(t, y, yp):
        yp[:] = law(t, y)

    return right


runs = []
for name, law in laws(np).items():
    start, until = PROBLEMS[name]
    right = in_place(law)
    for method in ("Adams",):
        for accuracy in json.loads(sys.argv[1]):
            seconds = np.inf
            for _ in range(int(sys.argv[2])):
                solver = CVODE(right, method=method, rtol=accuracy, atol=1e-3 * accuracy, max_num_steps=99999)
                begin = time.perf_counter()
                solution = solver.solve([0.0, until], start)
                seconds = min(seconds, time.perf_counter() - begin)
            runs.append(
                {
                    "problem": name,
                    "method": method,
                    "accuracy": accuracy,
                    "seconds": seconds,
                    "evaluations": int(solution.nfev),
                    "end": np.asarray(solution.y)[-1].tolist(),
                }
            )
print(json.dumps({"name": f"scikit-sundae {importlib.metadata.version('scikit-sundae')}", "runs": runs}))
