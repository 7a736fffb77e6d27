"""SciPy: solve_ivp with its methods for systems that are not stiff."""

import json
import sys
import time

import numpy as np
import scipy
from laws import PROBLEMS, laws
from scipy.integrate import solve_ivp

runs = []
for name, law in laws(np).items():
    start, until = PROBLEMS[name]
    for method in ("RK23", "RK45", "DOP853", "LSODA"):
        for accuracy in json.loads(sys.argv[1]):
            if method == "RK23" and accuracy < 1e-8:
                continue
            seconds = np.inf
            for _ in range(int(sys.argv[2])):
                begin = time.perf_counter()
                solution = solve_ivp(law, (0.0, until), start, method, rtol=accuracy, atol=1e-3 * accuracy)
                seconds = min(seconds, time.perf_counter() - begin)
            runs.append(
                {
                    "problem": name,
                    "method": method,
                    "accuracy": accuracy,
                    "seconds": seconds,
                    "evaluations": int(solution.nfev),
                    "end": solution.y[:, -1].tolist(),
                }
            )
print(json.dumps({"name": f"SciPy {scipy.__version__}", "runs": runs}))
