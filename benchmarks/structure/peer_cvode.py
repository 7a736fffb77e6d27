"""CVODE of SUNDIALS (scikit-sundae) with a band on the problems of vectors.py; right-hand sides by NumPy."""

import json
import sys
import time

import numpy as np
import sksundae
from sksundae.cvode import CVODE


def akzo(n):
    cells = n // 2
    width = 1.0 / cells
    x = np.arange(1, cells + 1) * width - 1.0
    alpha, beta = 0.125 * x**3 / (2.0 * width), 0.0625 * x**4 / width**2
    before, after = np.empty(cells), np.empty(cells)

    def f(t, y, out):
        u, v = y[0::2], y[1::2]
        before[0], before[1:] = 2.0 if t <= 5.0 else 0.0, u[:-1]
        after[:-1], after[-1] = u[1:], u[-1]
        reaction = 100.0 * u * v
        out[0::2] = alpha * (after - before) + beta * (before - 2.0 * u + after) - reaction
        out[1::2] = -reaction

    return f, np.tile([0.0, 1.0], cells), 2


def heat(n):
    rate = float((n + 1) ** 2)

    def f(t, y, out):
        out[1:-1] = y[:-2] - 2.0 * y[1:-1] + y[2:]
        out[0], out[-1] = y[1] - 2.0 * y[0], y[-2] - 2.0 * y[-1]
        out *= rate

    return f, 0.1 + np.sin(np.pi * np.arange(1, n + 1) / (n + 1)), 1


def main():
    request = json.loads(sys.argv[1])
    rows = []
    for problem, n in request["cases"]:
        f, start, band = {"akzo": akzo, "heat": heat}[problem](n)
        seconds, ends = [], []
        for tolerance in request["tolerances"]:
            best = np.inf
            for _ in range(request["rounds"]):
                solver = CVODE(
                    f,
                    rtol=tolerance,
                    atol=1e-3 * tolerance,
                    linsolver="band",
                    lband=band,
                    uband=band,
                    max_num_steps=1_000_000,
                )
                begun = time.process_time()
                solution = solver.solve(np.array([0.0, request["ends"][problem]]), start)
                best = min(best, time.process_time() - begun)
            seconds.append(best)
            ends.append(solution.y[-1].tolist())
        rows.append({"seconds": seconds, "ends": ends})
    print(json.dumps({"version": sksundae.__version__, "rows": rows}))


main()
