"""The explicit midpoint rule as an author outside would write it: a method with kernel functions."""

from typing import Any

import numpy as np

from cosim.kit import (
    DONE,
    NOT_FINITE,
    NOT_INITIALIZED,
    Capabilities,
    MethodArrays,
    failure_code,
    project_end,
    redo_entry,
    step_entry,
)
from cosim_integrators.kit import CompiledIntegrator
from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.interpolants import hermite_dense_output
from cosim_integrators.kit.start_of_step import copy_values, restore_start, save_start
from cosim_integrators.kit.step_length import end_reason, step_end


class MidpointArrays(MethodArrays):
    """The derivatives at both ends of the step follow the vectors that all methods have."""

    @property
    def slope(method):
        return method.work_vector(3)

    @property
    def last_slope(method):
        return method.work_vector(4)


def step_to_end(system, method, t, t_end):
    """0, or why there is no end: 1 + the index of a block that raised, less than 0 for what is not finite."""
    y, c = system.y, system.c
    start, slope = method.start, method.slope
    end, last_slope = method.end, method.last_slope
    step = t_end - t
    for m in range(method.n):
        y[m] = start[m] + 0.5 * step * slope[m]
    status = evaluate(system, method, t + 0.5 * step)
    for m in range(method.n):
        y[m] = start[m] + step * c[m]
    if status == 0:
        status = evaluate(system, method, t_end)
    if status == 0:
        status = project_end(system, method, t_end)
    total = 0.0
    for m in range(method.n):
        end[m] = y[m]
        last_slope[m] = c[m]
        total += 0.0 * y[m] + 0.0 * c[m]
    return status if status != 0 or total == 0.0 else -1


def take_step(system, method, t, t_stop, limit):
    """One step of the fixed length, or shorter."""
    work, settings = method.work, method.settings
    if not method.memory.next_step > 0.0:
        return NOT_INITIALIZED
    if not save_start(system, method, t, method.slope):
        return NOT_FINITE
    longest = min(min(settings.fixed_step, settings.largest_step), limit)
    t_end = step_end(t, longest, t_stop, False)
    status = step_to_end(system, method, t, t_end)
    if status != 0:
        work.rejections += 1.0
        work.failed_time = t_end
        restore_start(system, method, t)
        return failure_code(status, work, NOT_FINITE)
    work.accept(t, t_end, end_reason(t_end, t_stop, t_stop, longest, limit, settings.largest_step))
    return DONE


def take_step_again(system, method, t_event):
    """The last step to another end; where that fails, as it was."""
    work = method.work
    t, t_end, code = work.start, work.end, DONE
    for _ in range(2):
        copy_values(system.y, method.start)
        status = step_to_end(system, method, t, t_event)
        if status == 0:
            break
        code = failure_code(status, work, NOT_FINITE)
        work.failed_time = t_event
        t_event = t_end
    work.end = t_event
    return code


class Midpoint(CompiledIntegrator):
    """The explicit midpoint rule: order 2, two evaluations a step, fixed steps only.

    When to use: to see how a method of one's own is written.
    """

    order = 2
    capabilities = Capabilities(dense_order=2, supports_constraints=True)
    step_function = step_entry(MidpointArrays, take_step)
    redo_function = redo_entry(MidpointArrays, take_step_again)
    dense_function = hermite_dense_output

    def coefficients(self, system: Any) -> Any:
        return np.zeros(1)

    def work_size(self, ny: int) -> int:
        return 2 * ny
