"""The step of all explicit Runge–Kutta methods, and the step that is taken again to an event.

`explicit_stages` computes an attempt, `end_of_explicit_attempt` examines its end, and `explicit_rounding`
measures its rounding noise.
"""

from __future__ import annotations

from cosim.kit import (
    BLOCK_FAILED,
    CONSTRAINTS_NOT_MET,
    DONE,
    MINIMUM_STEP,
    NO_CONVERGENCE,
    NOT_FINITE,
    NOT_INITIALIZED,
    NOT_MET,
    failure_code,
    has_constraints,
    project_end,
    rarely,
    redo_entry,
    step_entry,
)
from cosim_integrators.kit.attempt_outcomes import ACCEPTED, CUT, REJECTED
from cosim_integrators.kit.end_of_explicit_attempt import estimate_attempt, examine_explicit_end
from cosim_integrators.kit.explicit_error import is_rough
from cosim_integrators.kit.explicit_method import ExplicitMethod
from cosim_integrators.kit.explicit_rounding import attempt_from_both_sides, measure_rounding
from cosim_integrators.kit.explicit_stages import compute_stages, finish_step
from cosim_integrators.kit.kinks import end_before_kink, prepare_kink_search
from cosim_integrators.kit.rounding import (
    LONGER,
    count_step,
    has_unmeasured_rounding,
    is_measured_again,
    may_be_rounding,
    measure_next_time,
    retries_with_size_1,
    update_sizes,
)
from cosim_integrators.kit.start_of_step import copy_values, restore_start, save_start
from cosim_integrators.kit.state_sizes import sizes_change
from cosim_integrators.kit.step_in_own_past import UNSETTLED, clear_own_past
from cosim_integrators.kit.step_length import (
    JUMPED,
    NEARLY_IDEAL,
    NEARLY_SMALLEST,
    end_reason,
    ideal_step,
    is_jump_in_time,
    next_step,
    shrink_factor,
    smallest_step,
    smooth_end,
    step_end,
)
from cosim_integrators.kit.stiffness import detect_stiffness

LEAST_ERROR = 1e-4  # in tolerances: the step control treats smaller errors as this one


def step_explicitly(system, method, t, t_stop, limit):
    """Take one accepted step from `t`, not past `t_stop` and not longer than `limit`; DONE or another code.

    Each turn of the loop is an attempt, which ends in one of five ways: it is accepted (the loop ends); it is
    repeated up to a kink; it is repeated unchanged, to measure its rounding noise; it is repeated shorter, or
    with the tolerances of states of size 1; or no shorter step helps, and the call fails and restores the
    start. The first stage is the same in all attempts, and the derivative at the end is the first stage of
    the next step.
    """
    settings = method.settings
    work = method.work
    if not method.memory.next_step > 0.0:  # or NaN, in a State from elsewhere
        return NOT_INITIALIZED
    controlled = method.is_controlled
    smallest = smallest_step(t, t_stop, settings.smallest_step)
    ideal = ideal_step(method, smallest)
    if not save_start(system, method, t, method.slope):
        return NOT_FINITE
    target = t_stop
    has_saved_sizes = False
    prepare_kink_search(method, system.c)
    measures = False
    if controlled:
        has_saved_sizes = prepare_sizes(system, method, t, ideal)
        t_stop = smooth_end(method, system.c, t, t_stop)
        measures = is_measured_again(method, ideal)
    rejected = False
    is_jump = False
    while True:
        longest = min(ideal, limit)
        t_end = step_end(t, longest, t_stop, controlled)
        step = t_end - t
        status = attempt_stages(system, method, t, t_end, measures, rejected)
        was_measured = measures
        measures = False
        error = 0.0
        outcome = REJECTED
        if status == 0:
            if controlled:
                error, has_saved_sizes = estimate_attempt(
                    method, t, system.y, step, rejected, has_saved_sizes
                )
                is_jump = is_jump_in_time(method, error, step, smallest)
            outcome, status, error = examine_explicit_end(system, method, t, t_end, error, smallest, is_jump)
        if outcome == ACCEPTED:
            break
        if outcome == CUT:
            t_stop = end_before_kink(t, work.kink_time, ideal)
            continue
        clear_own_past(system, method, t)
        if status > 0:
            return fail_step(system, method, t, status, error, has_saved_sizes)
        work.rejections += 1.0
        rejected = True
        work.failed_time = t_end
        if controlled and not was_measured and may_be_rounding(method, error):
            measures = True
            continue
        ideal = length_after_rejection(method, status, error, step, smallest)
        if ideal == 0.0:
            return fail_step(system, method, t, status, error, has_saved_sizes)
    work.accept(t, t_end, end_reason(t_end, target, t_stop, longest, limit, settings.largest_step))
    method.progress.line_ready = 0.0
    if controlled:
        choose_next_step(method, system.y, ideal, step, error, rejected)
        if is_jump:
            method.memory.last_error = JUMPED
    return DONE


def attempt_stages(system, method, t, t_end, measures, rejected):
    """Compute the stages of an attempt from `t` to `t_end`; 0, or 1 + the index of a block that failed.

    If it `measures`, the rounding noise is measured, too; `rejected` says that an attempt at this step was
    rejected before.
    """
    if measures:
        attempt_from_both_sides(system, method, t, t_end)
    status = compute_stages(system, method, t, t_end)
    if status == 0 and measures:
        measure_rounding(method, t_end - t, rejected)
    return status


@rarely
def length_after_rejection(method, status, error, step, smallest):
    """The length of the attempt after a rejected one of the length `step`; 0 if no shorter one helps.

    `status` and `error` are those of the rejected attempt, `smallest` is the smallest step.
    """
    ideal = shrink_factor(error, method.settings.error_order) * step
    if retries_with_size_1(method, status, error, step, ideal, smallest):
        return step
    if not method.is_controlled:
        return 0.0
    if ideal < smallest:
        return smallest if step > NEARLY_SMALLEST * smallest else 0.0
    return ideal


def prepare_sizes(system, method, t, ideal):
    """Update the sizes of the states if they have changed; returns whether those of the start are saved.

    They are saved if they have changed, or if corrections of the end may change them.
    """
    has_changed_sizes = sizes_change(method, system.y)
    saves = has_changed_sizes or has_constraints(method.corrections)
    if saves:
        method.sizes.copy_to(method.sizes_at_start)
    if has_changed_sizes:
        update_sizes(system, method, t, ideal, method.settings.error_order)
    return saves


def choose_next_step(method, y, ideal, step, error, rejected):
    """Store the length of the step that follows an accepted one of the length `step`."""
    memory = method.memory
    count_step(method, error)
    if error > LEAST_ERROR and has_unmeasured_rounding(method) and is_rough(method, y, step, LEAST_ERROR):
        measure_next_time(method)
    detect_stiffness(method, y, step)
    order = method.settings.error_order
    memory.next_step = next_step(ideal, step, error, memory.last_error, order, rejected)
    if method.sizes.all_states.measured > 0.0:  # rounding was measured for steps of at most that length
        memory.next_step = min(memory.next_step, max(ideal, LONGER * step))
    if step >= NEARLY_IDEAL * ideal:  # the error of a step that was cut short says nothing about the next one
        memory.last_error = max(error, LEAST_ERROR)


@rarely
def fail_step(system, method, t, status, error, has_saved_sizes):
    """Restore the start of the step; returns the code that says why the step failed."""
    restore_start(system, method, t)
    if has_saved_sizes:
        method.sizes_at_start.copy_to(method.sizes)
    if status > 0:
        method.work.failed_block = float(status - 1)
        return BLOCK_FAILED
    if status == UNSETTLED:
        return NO_CONVERGENCE
    if status == NOT_MET:
        return CONSTRAINTS_NOT_MET
    return MINIMUM_STEP if error == error else NOT_FINITE


def repeat_explicit_step(system, method, t_event):
    """Take the last step again, ending exactly at `t_event`, without error control.

    Returns DONE or another code; then state and cache are those of the end of the step again.
    """
    work = method.work
    t = work.start
    t_end = work.end
    code = DONE
    for _ in range(2):
        status = compute_stages(system, method, t, t_event)
        if status == 0:
            status = finish_step(system, method, t_event)
        if status == 0:
            status = project_end(system, method, t_event)
        if status == 0:
            break
        # The same stages give the same end of the step again, to the last bit.
        code = failure_code(status, work, NOT_FINITE)
        work.failed_time = t_event
        t_event = t_end
    copy_values(system.y, method.end)
    work.end = t_event
    work.dense_ready = 0.0
    method.progress.line_ready = 0.0
    return code


explicit_step = step_entry(ExplicitMethod, step_explicitly)
redo_explicit_step = redo_entry(ExplicitMethod, repeat_explicit_step)
