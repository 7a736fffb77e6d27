"""The loop around the attempts at a step, which all families of implicit methods have in common.

A family has two functions. ``attempt_step(system, method, t, t_end)`` computes the end of a step into `y`,
its error into ``attempt.estimate`` and the factor for the next step into ``attempt.factor``; it returns OK or
the status of a failure. ``accept_step(system, method, t, t_end, ideal)`` writes the history into the memory
and the dense output into `work`, and returns the length of the next step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cosim.kit import (
    BLOCK_FAILED,
    CONSTRAINTS_NOT_MET,
    DONE,
    MINIMUM_STEP,
    NO_CONVERGENCE,
    NOT_FINITE,
    NOT_INITIALIZED,
    NOT_MET,
    step_entry,
    tangent_of,
)
from cosim_integrators.implicit.end_of_attempt import examine_end
from cosim_integrators.implicit.implicit_method import (
    BAD_NUMBER,
    HISTORY_AT,
    NEW,
    NO_JACOBIAN,
    OK,
    ImplicitMethod,
)
from cosim_integrators.implicit.implicit_rounding import new_measurement, repeat_to_measure
from cosim_integrators.implicit.jacobian import make_jacobian
from cosim_integrators.implicit.matrices import clear_foreign_matrices, clear_matrices
from cosim_integrators.implicit.noise_of_derivatives import MEASURED, SHORTER, UNCHANGED
from cosim_integrators.kit.attempt_outcomes import ACCEPTED, CUT, REJECTED
from cosim_integrators.kit.kinks import prepare_kink_search
from cosim_integrators.kit.rounding import (
    count_step,
    is_measured_again,
    retries_with_size_1,
    update_sizes,
)
from cosim_integrators.kit.start_of_step import copy_values, restore_start, save_start
from cosim_integrators.kit.state_sizes import sizes_change
from cosim_integrators.kit.step_length import (
    LARGEST_SHRINK,
    NEARLY_IDEAL,
    SAFETY,
    end_reason,
    ideal_step,
    smallest_step,
    smooth_end,
    step_end,
)

SHRINK_NOT_FINITE = 0.25  # of the step, after an attempt with a value that is not finite


def have_jacobian(system, method, t):
    """Make the Jacobian at the start of the step if there is none; OK, or the status of the failure."""
    memory = method.memory
    if memory.jacobian_age != NO_JACOBIAN:
        return OK
    clear_matrices(method)
    save_jacobian(method)
    status = make_jacobian(system, method, t)
    if status == OK:
        memory.jacobian_age = NEW
    else:
        method.work.failed_time = t
    return status


def forget_convergence(memory):
    """Discard the convergence that Newton's method expects: behind a kink its matrix is another one."""
    memory.convergence = 1.0


def code_of(status, error):
    """The step code of a failed attempt after which no shorter step helps."""
    if status > 0:
        return BLOCK_FAILED
    if status == NOT_MET:
        return CONSTRAINTS_NOT_MET
    if status == BAD_NUMBER or error != error:
        return NOT_FINITE
    return MINIMUM_STEP if status == OK else NO_CONVERGENCE


def next_of_one_step_method(step, ideal, proposal):
    """The length of the next step of a one-step method; mostly `ideal` after a step that was cut short."""
    if step >= NEARLY_IDEAL * ideal or proposal > ideal or proposal < step:
        return proposal
    return ideal


def length_after(method, status, error, step, ideal, has_new_jacobian):
    """The length of the next attempt after a rejected one."""
    attempt = method.attempt
    factor = min(SAFETY, max(LARGEST_SHRINK, attempt.factor))
    if status == BAD_NUMBER or error != error:
        factor = SHRINK_NOT_FINITE
    ideal = factor * step
    if status == NOT_MET:
        ideal = 0.5 * step
    elif status != OK and status != BAD_NUMBER and not has_new_jacobian:
        method.memory.jacobian_age = NO_JACOBIAN  # an old one may be the cause: repeat with a new one
        ideal = step
    return ideal


def error_order(method):
    """The exponent of the step in the error of the next step."""
    return method.settings.error_order


def save_memory(method, first, last):
    """Save the memory between two of its indices as that of the start of the step."""
    copy_values(method.saved_part(first, last), method.memory_numbers[first:last])


def restore_memory(method, first, last):
    """Make the memory between two of its indices that of the start of the step again."""
    copy_values(method.memory_numbers[first:last], method.saved_part(first, last))


def save_jacobian(method):
    """Save the Jacobian of the start of the step, which is about to be replaced."""
    method.attempt.saved_jacobian = 1.0
    save_memory(method, method.jacobian_at, method.memory_numbers.shape[0])


@tangent_of(save_jacobian, with_values=True, leaves_fixed=True)
def save_no_jacobian(method, method_dot):
    """Save nothing: a step with tangents is never undone."""


def save_for_attempts(system, method, t):
    """At the start of a step save what attempts may change; returns whether the start is finite.

    The history changes where a step is accepted, the Jacobian where one is made: they are saved there.
    """
    method.work.worst_state = -1.0
    method.attempt.rejected = 0.0
    method.attempt.saved_jacobian = 0.0
    if not save_start(system, method, t, method.slope):
        return False
    save_memory(method, 0, HISTORY_AT)
    save_memory(method, method.history_end, method.jacobian_at)
    clear_foreign_matrices(method)
    prepare_kink_search(method, system.c)
    return True


def reject_attempt(method, status, error, step, ideal, t_end, has_new_jacobian):
    """Count a rejected attempt in which no block has failed; returns the length of the next one."""
    work = method.work
    if status == BAD_NUMBER or error != error:
        work.failed_time = t_end
    if status != OK:
        work.newton_failures += 1.0
    ideal = length_after(method, status, error, step, ideal, has_new_jacobian)
    if ideal < step:
        work.rejections += 1.0
        method.attempt.rejected = 1.0
    return ideal


def fail_step(system, method, t, status, error):
    """Restore the start of the step; returns the code of the failure."""
    if method.attempt.saved_jacobian != 0.0:
        restore_memory(method, method.jacobian_at, method.memory_numbers.shape[0])
    restore_memory(method, method.history_end, method.jacobian_at)
    restore_memory(method, 0, HISTORY_AT)
    restore_start(system, method, t)
    method.work.failed_block = float(max(status, 1) - 1)
    return code_of(status, error)


def prepare_sizes(system, method, t, ideal, order):
    """Update the sizes of states at the start of a step; returns whether it measures rounding."""
    if sizes_change(method, system.y):
        update_sizes(system, method, t, ideal, order)
    return is_measured_again(method, ideal)


def next_attempt(method, status, error, step, ideal, t_end, has_new_jacobian, smallest):
    """The length of the next attempt: shorter, or equal with a new Jacobian or states of size 1."""
    if status <= 0:  # no block has failed
        ideal = reject_attempt(method, status, error, step, ideal, t_end, has_new_jacobian)
    if retries_with_size_1(method, status, error, step, ideal, smallest):
        return step
    return ideal


def new_attempt(attempt_step: Callable[..., Any]) -> Callable[..., Any]:
    """Make the kernel function of one attempt at a step, which makes a Jacobian if there is none."""

    def compute_end(inner, method, t, t_end):
        """Attempt a step; its status, its error, and whether the Jacobian is new."""
        attempt = method.attempt
        attempt.factor = 0.5
        status = have_jacobian(inner, method, t)
        has_new_jacobian = method.memory.jacobian_age == NEW
        if status != OK:
            return status, 0.0, has_new_jacobian
        status = attempt_step(inner, method, t, t_end)
        return status, attempt.estimate, has_new_jacobian

    return compute_end


def save_history(method):
    """Save the history of the start of the step, which is about to be replaced."""
    save_memory(method, HISTORY_AT, method.history_end)


def new_acceptance(accept_step: Callable[..., Any], save_past: Callable[..., Any]) -> Callable[..., Any]:
    """Make the kernel function that accepts an attempt as the step and prepares the next one."""

    def accept_attempt(system, method, t, t_end, error, ideal, knows_kink):
        memory = method.memory
        method.attempt.estimate = error
        if method.is_controlled:
            count_step(method, error)
        save_past(method)
        memory.next_step = accept_step(system, method, t, t_end, ideal)
        if knows_kink:  # convergence and Jacobian from before the kink do not hold behind it
            forget_convergence(memory)
            memory.jacobian_age = NO_JACOBIAN

    return accept_attempt


def new_step(
    arrays: type[ImplicitMethod],
    attempt_step: Callable[..., Any],
    accept_step: Callable[..., Any],
    order_of: Callable[..., Any] = error_order,
    measure: Callable[..., Any] | None = None,
    after_rejection: Callable[..., Any] = repeat_to_measure,
    save_past: Callable[..., Any] = save_history,
) -> Callable[..., Any]:
    """Make the kernel function that takes one accepted step of a family of methods.

    Each turn of its loop is an attempt, which ends in one of five ways: it is accepted (the loop ends); it is
    repeated unchanged, after rounding was measured; it is repeated because of a kink (see `end_of_attempt`);
    it is repeated shorter, or with a new Jacobian; or no shorter step helps, and the call fails and restores
    the start.
    """
    compute_end = new_attempt(attempt_step)
    measure_rounding = measure or new_measurement(attempt_step)
    accept_attempt = new_acceptance(accept_step, save_past)

    def step_implicitly(system, method, t, t_stop, limit):
        """Take one accepted step from `t`, at most to `t_stop` and by `limit`; DONE or another code."""
        settings = method.settings
        work = method.work
        if not method.memory.next_step > 0.0:  # or NaN, in a State from elsewhere
            return NOT_INITIALIZED
        inner = method.inner(system)
        controlled = method.is_controlled
        smallest = smallest_step(t, t_stop, settings.smallest_step)
        ideal = ideal_step(method, smallest)
        if not save_for_attempts(system, method, t):
            return NOT_FINITE
        target = t_stop
        measures = False
        was_measured = False
        knows_kink = False
        if controlled:
            measures = prepare_sizes(system, method, t, ideal, order_of(method))
            t_stop = smooth_end(method, system.c, t, t_stop)
        while True:
            longest = min(ideal, limit)
            t_end = step_end(t, longest, t_stop, controlled)
            step = t_end - t
            status, error, has_new_jacobian = compute_end(inner, method, t, t_end)
            if measures and status == OK:  # once a step, with the matrix of this attempt
                measures = False
                was_measured = True
                measure_rounding(inner, method, t, t_end)
                copy_values(system.y, method.start)
                continue
            outcome = REJECTED
            if status == OK:
                outcome, status, error = examine_end(system, method, t, t_end, smallest, knows_kink)
            if outcome == ACCEPTED:
                break
            if outcome != REJECTED:
                if outcome == CUT:
                    t_stop = work.kink_time
                knows_kink = True
                forget_convergence(method.memory)
                copy_values(system.y, method.start)
                continue
            if controlled and status == OK:
                repetition = after_rejection(inner, method, t, t_end, error, was_measured)
                measures = repetition == MEASURED
                if repetition != SHORTER:
                    work.rejections += 1.0 if repetition == UNCHANGED else 0.0
                    copy_values(system.y, method.start)
                    continue
            was_measured = False
            ideal = next_attempt(method, status, error, step, ideal, t_end, has_new_jacobian, smallest)
            if status > 0 or (ideal < step and (not controlled or ideal < smallest)):
                return fail_step(system, method, t, status, error)
            copy_values(system.y, method.start)
        work.accept(t, t_end, end_reason(t_end, target, t_stop, longest, limit, settings.largest_step))
        accept_attempt(system, method, t, t_end, error, ideal, knows_kink)
        return DONE

    return step_entry(arrays, step_implicitly)
