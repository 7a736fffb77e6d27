"""The beginning of a run, and its restart after a jump, for every method."""

from __future__ import annotations

import math

from cosim.kit import BLOCK_FAILED, DONE, MethodArrays, has_corrections, project, redo_entry
from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.explicit_method import ExplicitMethod
from cosim_integrators.kit.first_step import choose_first_step
from cosim_integrators.kit.state_sizes import reset_sizes


def set_first_step(system, method, t, largest_so_far):
    """Write the next step, given or chosen by `choose_first_step`, into the memory; DONE or BLOCK_FAILED.

    `largest_so_far` are the largest values that the states have had.
    """
    settings = method.settings
    memory = method.memory
    if settings.fixed_step != 0.0:
        memory.next_step = settings.fixed_step
        return DONE
    if settings.first_step != 0.0:
        memory.next_step = settings.first_step
        return DONE
    if method.n == 0:
        memory.next_step = settings.largest_step
        return DONE
    chosen = choose_first_step(system, method, t, largest_so_far)
    method.work.end = math.nan
    status = evaluate(system, method, t)
    if status != 0:
        method.work.failed_block = float(status - 1)
        method.work.failed_time = t
        return BLOCK_FAILED
    memory.next_step = min(max(chosen, settings.smallest_step), settings.largest_step)
    return DONE


def initialize_method(system, method, t):
    """Write the memory at the beginning of a run; ``c`` is that of `y`, before and after."""
    for m in range(method.memory_numbers.shape[0]):
        method.memory_numbers[m] = 0.0
    method.work.start = math.nan
    method.work.returned_state = 0.0
    largest_so_far = method.spare
    for m in range(method.n):
        largest_so_far[m] = 0.0
    return set_first_step(system, method, t, largest_so_far)


def initialize_explicit_method(system, method, t):
    """Initialize the method; with error control the sizes of the states are unknown."""
    code = initialize_method(system, method, t)
    if method.is_controlled:
        reset_sizes(method, system.y)
    return code


def continue_run(system, method, t):
    """Restart after a jump: the length of the step is kept, the memory of its error is cleared."""
    method.work.start = math.nan
    method.memory.last_error = 0.0
    if has_corrections(method.corrections):
        project(system, method.corrections, t)
    return DONE


initialize_steps = redo_entry(MethodArrays, initialize_method)
initialize_explicit_steps = redo_entry(ExplicitMethod, initialize_explicit_method)
restart_steps = redo_entry(MethodArrays, continue_run)
