"""The start of a step: saved, checked, and restored."""

from __future__ import annotations

import math

from cosim.kit import rarely, store_state
from cosim_integrators.kit.counted_evaluation import evaluate


def save_start(system, method, t, slope):
    """Save the state at the start of a step, and its derivative into `slope`; whether all are finite."""
    work = method.work
    work.start = math.nan
    work.has_size_1 = 0.0
    copy_values(slope, system.c)
    if store_state(method.start, system.y, system.c):
        return True
    work.failed_time = t
    return False


@rarely
def restore_start(system, method, t):
    """Restore state and cache of the start of the step; the state that failed goes to the spare vector."""
    y = system.y
    spare = method.spare
    start = method.start
    for m in range(method.n):
        spare[m] = y[m]
        y[m] = start[m]
    evaluate(system, method, t)


def copy_values(target, source):
    """Copy `source`, which may be longer, to `target`."""
    for m in range(target.shape[0]):
        target[m] = source[m]
