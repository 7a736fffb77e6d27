"""The step of all explicit Runge–Kutta methods, and the step that is taken again to an event."""

from __future__ import annotations

import math

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
    has_corrections,
    nan_max,
    project_end,
    redo_entry,
    step_entry,
    worth_projecting,
)
from cosim_integrators.kit.attempt_outcomes import ACCEPTED, CUT, REJECTED
from cosim_integrators.kit.counted_evaluation import evaluate
from cosim_integrators.kit.error_norm import reported_error
from cosim_integrators.kit.explicit_error import (
    corrected_error,
    error_of_too_large_attempt,
    estimated_error,
    is_rough,
    mixed,
)
from cosim_integrators.kit.explicit_method import ExplicitMethod
from cosim_integrators.kit.explicit_stages import ERROR, SECOND_ERROR, combine, compute_stages, finish_step
from cosim_integrators.kit.kinks import end_before_kink, is_cut_by_kink, may_be_cut, prepare_kink_search
from cosim_integrators.kit.rounding import (
    LONGER,
    MARGIN,
    count_step,
    has_unmeasured_rounding,
    is_measured_again,
    may_be_rounding,
    measure_next_time,
    move_start,
    noise_of_attempts,
    raise_floors,
    retries_with_size_1,
    update_sizes,
)
from cosim_integrators.kit.start_of_step import copy_values, restore_start, save_start
from cosim_integrators.kit.state_sizes import sizes_change
from cosim_integrators.kit.step_in_own_past import (
    AS_ERROR,
    UNSETTLED,
    clear_own_past,
    reads_own_step,
    settle_step,
)
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

LEAST_ERROR = 1e-4  # over the tolerance, that the choice of a step reckons with


def attempt_from_both_sides(system, method, t, t_end):
    """Attempt a step from starts to both sides of its own; the sum of both errors into ``line(0)``."""
    start = method.start
    slope = method.slope
    place = method.end
    slope_there = method.last_slope
    error_sum = method.line(0)  # nothing reads these three before the step is accepted
    error = method.spare
    copy_values(place, start)
    copy_values(slope_there, slope)
    for m in range(method.n):
        error_sum[m] = 0.0
    for point in range(2):
        move_start(method, place, 1.0 - 2.0 * point)
        copy_values(system.y, start)
        status = evaluate(method.inner(system), method, t)
        if status == 0:
            copy_values(slope, system.c)
            status = compute_stages(system, method, t, t_end)
        if status == 0:
            combine(method, method.stages + ERROR, error)
        for m in range(method.n):
            error_sum[m] += (t_end - t) * error[m] if status == 0 else math.nan
    copy_values(start, place)
    copy_values(slope, slope_there)
    clear_own_past(system, method, t)


def noise_of_mixture(method, step, noise):
    """Turn `noise`, `MARGIN` times that of the first error estimate, into as many times that of the mixture.

    The mixture divides by the second estimate, which is far larger than noise unless steps are very short.
    """
    second = method.spare
    combine(method, method.stages + SECOND_ERROR, second)
    for m in range(method.n):
        noise[m] = mixed(noise[m], MARGIN * step * second[m])


def measure_rounding(method, step, rejected):
    """Measure what rounding gives the states in the attempt whose stages are computed.

    Unless the attempt was `rejected`, rounding may explain errors without raising a floor.
    """
    error = method.spare
    combine(method, method.stages + ERROR, error)
    for m in range(method.n):
        error[m] *= step
    noise_of_attempts(method, method.line(0), error)
    if method.tableau.has_second_error != 0.0:
        noise_of_mixture(method, step, method.line(0))
    raise_floors(method, step, method.line(0))
    all_states = method.sizes.all_states
    if all_states.measured > 0.0 and not rejected:
        all_states.last_pause = 0.0


def step_explicitly(system, method, t, t_stop, limit):
    """One accepted step from `t`, not past `t_stop` and not longer than `limit`.

    The first stage is kept when a step is rejected, and the derivative at the end is the next first stage.
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
    was_measured = False
    while True:
        longest = min(ideal, limit)
        t_end = step_end(t, longest, t_stop, controlled)
        step = t_end - t
        if measures:
            attempt_from_both_sides(system, method, t, t_end)
        status = compute_stages(system, method, t, t_end)
        error = 0.0
        if status == 0 and measures:
            measure_rounding(method, step, rejected)
        was_measured = measures
        measures = False
        if status == 0 and controlled:
            error, has_saved_sizes = estimate_attempt(method, t, system.y, step, rejected, has_saved_sizes)
            is_jump = is_jump_in_time(method, error, step, smallest)
        outcome = REJECTED
        if status == 0:
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
        ideal = shrink_factor(error, settings.error_order) * step
        if retries_with_size_1(method, status, error, step, ideal, smallest):
            ideal = step
        elif controlled and ideal < smallest and step > NEARLY_SMALLEST * smallest:
            ideal = smallest
        elif not controlled or ideal < smallest:
            return fail_step(system, method, t, status, error, has_saved_sizes)
    work.accept(t, t_end, end_reason(t_end, target, t_stop, longest, limit, settings.largest_step))
    method.progress.line_ready = 0.0
    if controlled:
        choose_next_step(method, system.y, ideal, step, error, rejected)
        if is_jump:
            method.memory.last_error = JUMPED
    return DONE


def prepare_sizes(system, method, t, ideal):
    """Update the sizes of states where they have changed; whether those of the start are saved.

    They are saved where they have just changed, and where corrections of the end may change them.
    """
    has_changed_sizes = sizes_change(method, system.y)
    saves = has_changed_sizes or has_constraints(method.corrections)
    if saves:
        method.sizes.copy_to(method.sizes_at_start)
    if has_changed_sizes:
        update_sizes(system, method, t, ideal, method.settings.error_order)
    return saves


def estimate_attempt(method, t, y, step, rejected, has_saved_sizes):
    """The error of an attempt whose stages are computed, and whether the sizes of states are saved by now.

    Where it is too large, or an attempt was rejected before, states that leave 0 get floors: sizes change.
    """
    error = estimated_error(method, y, step, method.floors)
    if error > 1.0 or rejected:
        if not has_saved_sizes:
            method.sizes.copy_to(method.sizes_at_start)
            has_saved_sizes = True
        error = error_of_too_large_attempt(method, t, y, step, error)
    return error, has_saved_sizes


def examine_explicit_end(system, method, t, t_end, error, smallest, is_jump):
    """The outcome of an attempt from `t` to `t_end` whose stages are computed; its status and its error.

    The end is evaluated and corrected only where the error of the attempt is near the tolerance, or that of a
    jump.
    """
    if (
        may_be_cut(method, error)
        and finish_step(system, method, t_end) == 0
        and is_cut_by_kink(system, method, t, t_end, smallest)
    ):
        return CUT, 0, error
    if not (is_jump or worth_projecting(error, method.settings.error_order, method.corrections)):
        return REJECTED, 0, error
    status, error = correct_end(system, method, t, t_end, error)
    if status in (UNSETTLED, NOT_MET):
        return REJECTED, status, AS_ERROR
    if status != 0:
        return REJECTED, status, math.nan
    if not error <= (math.inf if is_jump else 1.0):
        return REJECTED, 0, error
    if is_cut_by_kink(system, method, t, t_end, smallest):
        clear_own_past(system, method, t)
        return CUT, 0, error
    return ACCEPTED, 0, error


def choose_next_step(method, y, ideal, step, error, rejected):
    """An attempt of the length `step` was accepted: how long the next one is."""
    memory = method.memory
    count_step(method, error)
    if error > LEAST_ERROR and has_unmeasured_rounding(method) and is_rough(method, y, step, LEAST_ERROR):
        measure_next_time(method)
    detect_stiffness(method, y, step)
    order = method.settings.error_order
    memory.next_step = next_step(ideal, step, error, memory.last_error, order, rejected)
    if method.sizes.all_states.measured > 0.0:  # it is for steps of that length
        memory.next_step = min(memory.next_step, max(ideal, LONGER * step))
    if step >= NEARLY_IDEAL * ideal:
        memory.last_error = max(error, LEAST_ERROR)  # that of a step cut short says nothing about the next


def correct_end(system, method, t, t_end, error):
    """Evaluate the end of an attempt and correct it: 0 or why it cannot be, and the error that is left."""
    controlled = method.is_controlled
    step = t_end - t
    status = finish_step(system, method, t_end)
    if status == 0 and reads_own_step(method, system.c):
        status = settle_step(system, method, t, t_end)
        if status == 0 and controlled:
            error = estimated_error(method, system.y, step, method.floors)
    if status == 0 and has_corrections(method.corrections):
        status = project_end(system, method, t_end)
        if status == 0 and controlled:
            error = corrected_error(system, method, t_end, step)
    if status == 0 and controlled:
        error = nan_max(error, reported_error(method, system.c))
    return status, error


def fail_step(system, method, t, status, error, has_saved_sizes):
    """Restore the start of the step; the code that says why it cannot be taken."""
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
