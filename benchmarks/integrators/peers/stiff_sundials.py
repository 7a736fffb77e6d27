"""SUNDIALS through scikit-sundae: CVODE's BDF on the stiff problems."""

import json
import sys
import time

import numpy as np
from sksundae.cvode import CVODE
from stiff_laws import laws


class CountedRates:
    """A right-hand side as CVODE calls it, which counts its evaluations."""

    def __init__(self, law, parameters):
        self.law, self.parameters, self.count = law, parameters, 0

    def __call__(self, t, y, yp):
        self.count += 1
        yp[:] = self.law(t, y, self.parameters)


def solve(rates, start, until, accuracy, floor, rounds):
    """The least wall time, s, the evaluations of a run, and its solution."""

    def write_rates(t, y, yp):
        rates(t, y, yp)

    seconds = np.inf
    for _ in range(rounds):
        solver = CVODE(write_rates, rtol=accuracy, atol=floor * accuracy, max_num_steps=999999)
        rates.count, begin = 0, time.perf_counter()
        solution = solver.solve([0.0, until], np.array(start))
        seconds = min(seconds, time.perf_counter() - begin)
    return seconds, rates.count, solution


def main():
    """Print problem, method, wall time, evaluations and end of each run that succeeded."""
    request = json.loads(sys.argv[1])
    runs = []
    for name, start, until, parameters, floor in request["problems"]:
        rates = CountedRates(laws(np)[name], parameters)
        for accuracy in request["accuracies"]:
            seconds, count, solution = solve(rates, start, until, accuracy, floor, request["rounds"])
            if solution.success:
                runs.append([name, "CVODE BDF", seconds, count, np.asarray(solution.y)[-1].tolist()])
    print(json.dumps({"runs": runs}))


main()
