"""numbalsoda: the equations by hand, runs in `prange`; compiling is not counted."""

import importlib.metadata
import json
import sys

import numba
import numpy as np
from chain import LINKS, A, B
from numba import cfunc, njit, prange
from numbalsoda import dop853, lsoda, lsoda_sig
from timed_runs import least_times


@cfunc(lsoda_sig)
def law(t, y, y_dot, parameters):
    # m θ'' = f: mass matrix and forces, see `chain`
    m = np.empty((LINKS, LINKS))
    f = np.empty(LINKS)
    for i in range(LINKS):
        f[i] = -B[i] * np.sin(y[i])
        for j in range(LINKS):
            between = y[i] - y[j]
            m[i, j] = A[i, j] * np.cos(between)
            f[i] -= A[i, j] * np.sin(between) * y[LINKS + j] * y[LINKS + j]
    # Cholesky: m = l l^T in its lower triangle, then f becomes θ''
    for i in range(LINKS):
        for j in range(i + 1):
            total = m[i, j]
            for k in range(j):
                total -= m[i, k] * m[j, k]
            m[i, j] = np.sqrt(total) if i == j else total / m[j, j]
    for i in range(LINKS):
        for k in range(i):
            f[i] -= m[i, k] * f[k]
        f[i] /= m[i, i]
    for i in range(LINKS - 1, -1, -1):
        for k in range(i + 1, LINKS):
            f[i] -= m[k, i] * f[k]
        f[i] /= m[i, i]
    for i in range(LINKS):
        y_dot[i] = y[LINKS + i]
        y_dot[LINKS + i] = f[i]


ADDRESS = law.address


def function_of_all_runs(solve):
    """The compiled function of angles, times and tolerance: the last angle of each run at each time, rad."""

    @njit(parallel=True)
    def run_all(angles, times, tolerance):
        courses = np.empty((len(angles), len(times)))
        for run in prange(len(angles)):
            start = np.zeros(2 * LINKS)
            start[:LINKS] = angles[run]
            rows, _ = solve(ADDRESS, start, times, rtol=tolerance, atol=1e-3 * tolerance)
            courses[run] = rows[:, LINKS - 1] - rows[:, LINKS - 2]
        return courses

    return run_all


def main():
    """Print the times of all runs and the last angle at their ends, in each way to do them."""
    task = json.loads(sys.argv[1])
    angles = np.array(task["angles"])
    times = np.linspace(0.0, task["until"], round(task["until"] / task["interval"]) + 1)
    runs = []
    for name, solve in (("dop853", dop853), ("lsoda", lsoda)):
        run_all = function_of_all_runs(solve)
        run_all(angles[:2], times, 1e-6)  # compiles
        for tolerance in task.get("tolerances", (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)):
            for threads in (1, task["threads"]):
                numba.set_num_threads(threads)
                seconds, cpu, courses = least_times(
                    lambda run_all=run_all, tolerance=tolerance: run_all(angles, times, tolerance),
                    task["passes"],
                )
                method = {"method": f"{name}, {tolerance:g}", "threads": threads}
                runs.append(method | {"seconds": seconds, "cpu": cpu, "end": courses[:, -1].tolist()})
    version = importlib.metadata.version("numbalsoda")
    print(json.dumps({"name": f"numbalsoda {version} in `prange`", "runs": runs}))


main()
