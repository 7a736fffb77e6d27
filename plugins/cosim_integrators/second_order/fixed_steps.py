"""Kernel functions for fixed steps of all methods for second-order form.

A method has a function ``substeps(system, method, t, t_end)``, which computes the end of a step from its
start. It returns 0, 1 + the index of a failed block, `NOT_FINITE_STATUS` or `DIVERGED`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cosim.kit import (
    DONE,
    NO_CONVERGENCE,
    NOT_FINITE,
    NOT_INITIALIZED,
    failure_code,
    project_end,
    redo_entry,
    step_entry,
    store_state,
)
from cosim_integrators.kit.counted_evaluation import evaluate_stage
from cosim_integrators.kit.start_of_run import initialize_method
from cosim_integrators.kit.start_of_step import copy_values, restore_start, save_start
from cosim_integrators.kit.step_length import end_reason, step_end
from cosim_integrators.second_order.second_order_method import SecondOrderMethod

NOT_FINITE_STATUS, DIVERGED = -1, -2


def initialize_second_order_method(system, method, t):
    """Initialize the method; q' = u is assumed if q and u are equally long."""
    code = initialize_method(system, method, t)
    method.memory.rates_differ = 1.0 if method.form.size_q != method.form.size_u else 0.0
    return code


def rates_are_speeds(method, y, c):
    """Whether q' = u at this point, to the last bit."""
    nq = method.nq
    different = 0
    for m in range(nq):
        different += c[m] != y[nq + m]
    return different == 0


def new_step(substeps: Callable[..., Any]) -> Callable[..., Any]:
    """Make the kernel function of a step from `substeps`."""

    def step_fixed(system, method, t, t_stop, limit):
        memory = method.memory
        settings = method.settings
        work = method.work
        if not memory.next_step > 0.0:  # or NaN, in a State from elsewhere
            return NOT_INITIALIZED
        if not save_start(system, method, t, method.slope):
            return NOT_FINITE
        longest = min(min(settings.fixed_step, settings.largest_step), limit)
        t_end = step_end(t, longest, t_stop, False)
        rates_differed = memory.rates_differ
        status = step_to_end(system, method, t, t_end)
        if status != 0:
            memory.rates_differ = rates_differed
            work.rejections += 1.0
            if status < 0:
                work.failed_time = t_end
            restore_start(system, method, t)
            return failure_code(status, work, NO_CONVERGENCE if status == DIVERGED else NOT_FINITE)
        work.accept(t, t_end, end_reason(t_end, t_stop, t_stop, longest, limit, settings.largest_step))
        return DONE

    step_to_end = corrected(substeps)
    return step_entry(SecondOrderMethod, step_fixed)


def corrected(substeps: Callable[..., Any]) -> Callable[..., Any]:
    """Make the function that calls `substeps`, then stores and corrects the end; it returns as `substeps`."""

    def step_to_end(system, method, t, t_end):
        status = substeps(system, method, t, t_end)
        if status != 0:
            return status
        copy_values(method.last_slope, system.c)
        if not store_state(method.end, system.y, system.c):
            return NOT_FINITE_STATUS
        return project_end(system, method, t_end)

    return step_to_end


def new_redo(substeps: Callable[..., Any]) -> Callable[..., Any]:
    """Make the kernel function that takes the last step again; see `cosim.contracts.method_layout`."""

    def repeat_fixed_step(system, method, t_event):
        work = method.work
        t = work.start
        t_end = work.end
        code = DONE
        for _ in range(2):
            copy_values(system.y, method.start)
            status = evaluate_stage(system, method, t)
            if status == 0:
                status = step_to_end(system, method, t, t_event)
            if status == 0:
                break
            # The same substeps give the same end of the step again, to the last bit.
            code = failure_code(status, work, NOT_FINITE)
            work.failed_time = t_event
            t_event = t_end
        work.end = t_event
        return code

    step_to_end = corrected(substeps)
    return redo_entry(SecondOrderMethod, repeat_fixed_step)


begin_second_order_steps = redo_entry(SecondOrderMethod, initialize_second_order_method)
