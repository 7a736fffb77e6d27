"""The start of a step: saved, checked, and restored."""

from __future__ import annotations

import math

from cosim_integrators.kit.evaluation import evaluate


def save_start(system, method, t, slope):
    """Save the state, and its derivative into `slope`; whether all are finite numbers."""
    work = method.work
    y = system.y
    c = system.c
    start = method.start
    work.start = math.nan
    total = 0.0
    for m in range(method.n):
        start[m] = y[m]
        slope[m] = c[m]
        # 0 unless one of the two is infinite or NaN.
        total += 0.0 * y[m] + 0.0 * c[m]
    if total != 0.0:
        work.failed_time = t
        work.attempted_end = t
        return False
    return True


def restore_start(system, method, t):
    """Make state and cache what they were at the start; the state that failed goes to the spare vector."""
    y = system.y
    spare = method.spare
    start = method.start
    for m in range(method.n):
        spare[m] = y[m]
        y[m] = start[m]
    evaluate(system, method, t)


def copy_values(target, source):
    """Make all values of a vector those of another."""
    for m in range(target.shape[0]):
        target[m] = source[m]
