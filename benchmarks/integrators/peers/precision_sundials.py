"""SUNDIALS through scikit-sundae: CVODE's Adams methods of variable order."""

import importlib.metadata

import numpy as np
from sksundae.cvode import CVODE
from work import Work, fastest, print_runs


def solve(law, start, until, method, accuracy, rounds):
    """See `work.print_runs`."""

    def write_rates(t, y, yp):
        yp[:] = law(t, y)

    def run():
        options = {"method": method, "rtol": accuracy, "atol": 1e-3 * accuracy, "max_num_steps": 99999}
        return CVODE(write_rates, **options).solve([0.0, until], start)

    seconds, solution = fastest(run, rounds)
    return Work(seconds, int(solution.nfev), np.asarray(solution.y)[-1].tolist())


print_runs(f"scikit-sundae {importlib.metadata.version('scikit-sundae')}", np, ("Adams",), solve)
