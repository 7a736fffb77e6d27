"""numbalsoda: the equations by hand, runs in `prange`; compiling is not counted."""

import importlib.metadata
import json
import sys
import time

import numba
import numpy as np
from chain import LINKS, A, B
from numba import cfunc, njit, prange
from numbalsoda import dop853, lsoda, lsoda_sig

task = json.loads(sys.argv[1])


@cfunc(lsoda_sig)
def law(t, y, y_dot, parameters):
    m = np.empty((LINKS, LINKS))
    f = np.empty(LINKS)
    for i in range(LINKS):
        f[i] = -B[i] * np.sin(y[i])
        for j in range(LINKS):
            between = y[i] - y[j]
            m[i, j] = A[i, j] * np.cos(between)
            f[i] -= A[i, j] * np.sin(between) * y[LINKS + j] * y[LINKS + j]
    # Cholesky
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


address = law.address


def solver_of_many(solve):
    @njit(parallel=True)
    def many(angles, times, tolerance):
        kept = np.empty((len(angles), len(times)))
        for run in prange(len(angles)):
            start = np.zeros(2 * LINKS)
            start[:LINKS] = angles[run]
            rows, _ = solve(address, start, times, rtol=tolerance, atol=1e-3 * tolerance)
            kept[run] = rows[:, LINKS - 1] - rows[:, LINKS - 2]
        return kept

    return many


angles = np.array(task["angles"])
times = np.linspace(0.0, task["until"], round(task["until"] / task["interval"]) + 1)
runs = []
for name, solve in (("dop853", dop853), ("lsoda", lsoda)):
    many = solver_of_many(solve)
    many(angles[:2], times, 1e-6)
    for tolerance in task.get("tolerances", (1e-4, 1e-5, 1e-6, 1e-7, 1e-8)):
        for threads in (1, task["threads"]):
            numba.set_num_threads(threads)
            seconds, cpu = np.inf, np.inf
            for _ in range(task["passes"]):
                began, used = time.perf_counter(), time.process_time()
                kept = many(angles, times, tolerance)
                seconds = min(seconds, time.perf_counter() - began)
                cpu = min(cpu, time.process_time() - used)
            how = {"method": f"{name}, {tolerance:g}", "threads": threads}
            runs.append(how | {"seconds": seconds, "cpu": cpu, "end": kept[:, -1].tolist()})
version = importlib.metadata.version("numbalsoda")
print(json.dumps({"name": f"numbalsoda {version} in `prange`", "runs": runs}))
