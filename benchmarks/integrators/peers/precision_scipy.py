"""SciPy: solve_ivp with its methods for systems that are not stiff."""

import numpy as np
import scipy
from scipy.integrate import solve_ivp
from work import Work, fastest, print_runs

METHODS = ("RK23", "RK45", "DOP853", "LSODA")


def solve(law, start, until, method, accuracy, rounds):
    """See `work.print_runs`."""
    seconds, solution = fastest(
        lambda: solve_ivp(law, (0.0, until), start, method, rtol=accuracy, atol=1e-3 * accuracy), rounds
    )
    return Work(seconds, int(solution.nfev), solution.y[:, -1].tolist())


print_runs(f"SciPy {scipy.__version__}", np, METHODS, solve, tightest={"RK23": 1e-8})
