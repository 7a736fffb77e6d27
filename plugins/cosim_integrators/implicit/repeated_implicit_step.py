"""Repeats an accepted step: to the time of an event, or with tangents."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cosim.kit import DONE, redo_entry
from cosim_integrators.implicit.driver import code_of, have_jacobian
from cosim_integrators.implicit.end_of_attempt import evaluate_corrected_end
from cosim_integrators.implicit.implicit_method import NO_JACOBIAN, OK, OLD, ImplicitMethod
from cosim_integrators.implicit.matrices import clear_foreign_matrices
from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.start_of_step import copy_values


def new_repetition(attempt_step: Callable[..., Any]) -> Callable[..., Any]:
    """Make the kernel function that attempts an accepted step once more, to `t_end`.

    It returns OK or the status of a failure. The Jacobian of the accepted step may be too old for another
    end, or for tangents: then a second attempt has a new one.
    """

    def repeat_attempt(inner, method, t, t_end):
        status = OK
        for _ in range(2):
            copy_values(inner.y, method.start)
            status = have_jacobian(inner, method, t)
            if status == OK:
                status = attempt_step(inner, method, t, t_end)
            if status >= OK:
                break
            method.memory.jacobian_age = NO_JACOBIAN
        return status

    return repeat_attempt


def load_start(method):
    """Restore the memory of the start of the last step, and save that of its end.

    The Jacobian and its matrices stay, since they were good enough for this step, and so do the sizes of the
    states.
    """
    memory = method.memory
    at_start = method.saved_memory(0)
    copy_values(method.saved_memory(1), method.memory_numbers)
    factored_step = memory.factored_step
    for m in range(method.history_end):
        method.memory_numbers[m] = at_start[m]
    memory.factored_step = factored_step
    memory.jacobian_age = OLD


def keep_output(method):
    """Do nothing: the step has written its dense output already."""


def new_redo(
    arrays: type[ImplicitMethod],
    attempt_step: Callable[..., Any],
    accept_step: Callable[..., Any],
    complete_output: Callable[..., Any] = keep_output,
) -> Callable[..., Any]:
    """Make the kernel function that takes the last step again, to another end and without error control.

    If it fails, it restores the end of that step. The attempt replaces what missing dense output follows
    from: ``complete_output(method)`` writes it before.
    """
    repeat_attempt = new_repetition(attempt_step)

    def repeat_implicit_step(system, method, t_event):
        memory = method.memory
        work = method.work
        t = work.start
        t_end = work.end
        next_length = memory.next_step
        complete_output(method)
        load_start(method)
        status = repeat_attempt(method.inner(system), method, t, t_event)
        copy_values(method.spare, method.end)
        if status == OK:
            status = evaluate_corrected_end(system, method, t_event)
        if status == OK:
            work.end = t_event
            accept_step(system, method, t, t_event, t_end - t)
            work.dense_ready = 0.0
            memory.next_step = next_length
            return DONE
        exchange_end(method, system.y)
        copy_values(method.memory_numbers, method.saved_memory(1))
        method.matrices.made_for.step = 0.0
        work.failed_block = float(max(status, 1) - 1)
        evaluate(system, method, t_end)
        return code_of(status, 0.0)

    return redo_entry(arrays, repeat_implicit_step)


def new_followed_step(
    arrays: type[ImplicitMethod], attempt_step: Callable[..., Any], accept_step: Callable[..., Any]
) -> Callable[..., Any]:
    """Make the kernel function whose tangent carries tangents over a step, from the `memory` of its start."""
    repeat_attempt = new_repetition(attempt_step)

    def step_with_tangents(system, method, t_end):
        t = method.work.start
        next_length = method.memory.next_step
        clear_foreign_matrices(method)
        status = repeat_attempt(method.inner(system), method, t, t_end)
        if status == OK:
            status = evaluate_corrected_end(system, method, t_end)
        if status != OK:
            return code_of(status, 0.0)
        accept_step(system, method, t, t_end, t_end - t)
        method.memory.next_step = next_length
        return DONE

    return redo_entry(arrays, step_with_tangents)


def exchange_end(method, y):
    """Restore the end of the step from the spare vector; the state that failed goes there."""
    end = method.end
    spare = method.spare
    for m in range(method.n):
        end[m] = spare[m]
        spare[m] = y[m]
        y[m] = end[m]
