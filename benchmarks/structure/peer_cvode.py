"""CVODE of SUNDIALS (scikit-sundae) with a band on the problems of vectors.py; right-hand sides by NumPy."""

import json
import sys
import time

import numpy as np
import sksundae
from sksundae.cvode import CVODE


def akzo(n):
    """The medical Akzo Nobel problem with `n` states: its rates, its start, the half-width of its band."""
    cells = n // 2
    width = 1.0 / cells
    x = np.arange(1, cells + 1) * width - 1.0
    alpha, beta = 0.125 * x**3 / (2.0 * width), 0.0625 * x**4 / width**2
    before, after = np.empty(cells), np.empty(cells)

    def write_rates(t, y, y_dot):
        u, v = y[0::2], y[1::2]
        before[0], before[1:] = 2.0 if t <= 5.0 else 0.0, u[:-1]
        after[:-1], after[-1] = u[1:], u[-1]
        reaction = 100.0 * u * v
        y_dot[0::2] = alpha * (after - before) + beta * (before - 2.0 * u + after) - reaction
        y_dot[1::2] = -reaction

    return write_rates, np.tile([0.0, 1.0], cells), 2


def heat(n):
    """The heat equation of a rod with `n` states; as `akzo`."""
    rate = float((n + 1) ** 2)

    def write_rates(t, y, y_dot):
        y_dot[1:-1] = y[:-2] - 2.0 * y[1:-1] + y[2:]
        y_dot[0], y_dot[-1] = y[1] - 2.0 * y[0], y[-2] - 2.0 * y[-1]
        y_dot *= rate

    return write_rates, 0.1 + np.sin(np.pi * np.arange(1, n + 1) / (n + 1)), 1


PROBLEMS = {"akzo": akzo, "heat": heat}


def solve(problem, n, until, tolerance, rounds):
    """The least CPU time of a run, s, and the states at its end."""
    write_rates, start, band = PROBLEMS[problem](n)
    best = np.inf
    for _ in range(rounds):
        solver = CVODE(
            write_rates,
            rtol=tolerance,
            atol=1e-3 * tolerance,
            linsolver="band",
            lband=band,
            uband=band,
            max_num_steps=1_000_000,
        )
        begun = time.process_time()
        solution = solver.solve(np.array([0.0, until]), start)
        best = min(best, time.process_time() - begun)
    return best, solution.y[-1].tolist()


def main():
    """Print times and ends of each problem and size by tolerance."""
    request = json.loads(sys.argv[1])
    rows = []
    for problem, n in request["cases"]:
        until = request["ends"][problem]
        runs = [solve(problem, n, until, t, request["rounds"]) for t in request["tolerances"]]
        rows.append({"seconds": [seconds for seconds, _ in runs], "ends": [end for _, end in runs]})
    print(json.dumps({"version": sksundae.__version__, "rows": rows}))


main()
