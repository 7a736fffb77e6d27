"""The step of all explicit Runge–Kutta methods, and the step that is taken again to an event."""

from __future__ import annotations

import math

from cosim.kit import (
    ACCEPTED_END,
    ATTEMPTED_END,
    BLOCK_FAILED,
    CONSTRAINTS_NOT_MET,
    DENSE_READY,
    DONE,
    END,
    END_OF_CORRECTIONS,
    ERROR_ORDER,
    FAILED_BLOCK,
    FAILED_TIME,
    FIXED,
    HOLDS,
    INNER_FIRST,
    INNER_LAST,
    KINK_SLOTS,
    LARGEST,
    LAST_ERROR,
    MEMORY_HEADER,
    MINIMUM_STEP,
    NEXT_STEP,
    NO_CONVERGENCE,
    NORMALIZE,
    NOT_FINITE,
    NOT_INITIALIZED,
    NOT_MET,
    REASON,
    REJECTIONS,
    RETURNED,
    SMALLEST,
    START,
    STEPS,
    USUAL_ERROR,
    WORK_HEADER,
    failure_code,
    larger,
    project_end,
    project_error,
    worth_projecting,
)
from cosim_integrators.kit.error_norm import slot_error, usual, weighted_error
from cosim_integrators.kit.explicit_stages import (
    HAS_SECOND,
    LINE_READY,
    STAGES,
    combine,
    finish_step,
    kept_at,
    take_stages,
)
from cosim_integrators.kit.kinks import AT_START, MOST_CUTS, approach, find_kink, note_kinks
from cosim_integrators.kit.own_past import (
    AS_ERROR,
    UNSETTLED,
    forget_own_past,
    looks_into_itself,
    settle_step,
)
from cosim_integrators.kit.rounding import (
    LONGER,
    add_noise_of_states,
    count_step,
    is_measured_again,
    may_be_rounding,
    measure_rounding,
    note_noise,
    take_size_1,
)
from cosim_integrators.kit.start_of_step import go_back, remember_start
from cosim_integrators.kit.state_sizes import follow_sizes, have_news, keep, note_births
from cosim_integrators.kit.step_control import (
    NEARLY_IDEAL,
    end_reason,
    next_step,
    shorter,
    smallest_step,
    smooth_end,
    step_end,
)
from cosim_integrators.kit.stiffness import look_for_stiffness


def one_estimate(y, step, row, tableau, settings, floors, work):
    """One estimate of the error of a step, as a vector in the spare one, and its size over the tolerance."""
    n = y.shape[0]
    start = work[WORK_HEADER : WORK_HEADER + n]
    spare = work[WORK_HEADER + 2 * n : WORK_HEADER + 3 * n]
    combine(tableau, row, work[WORK_HEADER + 3 * n :], n, spare)
    for m in range(n):
        spare[m] *= step
    return weighted_error(spare, start, y, settings, floors)


def mixed(error, second):
    """One size for two estimates of orders three apart: the geometric mixture of Dormand and Prince's 8(5,3).

    The lower one keeps the higher one from being deceived.
    """
    if not error > 0.0:
        return error
    return error * error / math.sqrt(error * error + 0.01 * second * second)


def estimated_error(y, step, tableau, settings, floors, work):
    """The method's own estimate of its error over the tolerance, or NaN."""
    stages = int(tableau[STAGES])
    error = one_estimate(y, step, stages + 1, tableau, settings, floors, work)
    if tableau[HAS_SECOND] != 0.0:
        error = mixed(error, one_estimate(y, step, stages + 2, tableau, settings, floors, work))
    return error


def estimated_again(t, y, step, error, tableau, settings, sizes, work):
    """As `estimated_error`, of a step from `t`: with floors for states that leave 0 in it.

    The error in tolerances of states of size 1 goes into ``work[USUAL_ERROR]``.
    """
    n = y.shape[0]
    at = WORK_HEADER + (2 + int(tableau[STAGES])) * n
    if note_births(t, step, y, work[at : at + n], settings[ERROR_ORDER], settings, sizes):
        error = estimated_error(y, step, tableau, settings, sizes[:n], work)
    work[USUAL_ERROR] = estimated_error(y, step, tableau, settings, usual(settings, n), work)
    return error


def corrected_error(table, ints, t, y, p, d, k, h, c, step, tableau, settings, floors, work, slots):
    """As `estimated_error`, without what the corrections at the end of the step have taken out."""
    n = y.shape[0]
    start = work[WORK_HEADER : WORK_HEADER + n]
    end = work[WORK_HEADER + n : WORK_HEADER + 2 * n]
    spare = work[WORK_HEADER + 2 * n : WORK_HEADER + 3 * n]
    stages = int(tableau[STAGES])
    error = 0.0
    for i in range(2 if tableau[HAS_SECOND] != 0.0 else 1):
        one_estimate(y, step, stages + 1 + i, tableau, settings, floors, work)
        project_error(table, ints, t, y, p, d, k, h, c, spare, end, slots)
        one = weighted_error(spare, start, y, settings, floors)
        error = one if i == 0 else mixed(error, one)
    return error


def explicit_rounding(table, ints, t, y, p, d, k, h, c, step, settings, sizes, work, slots):
    """Measure what rounding gives the states in a step from `t` of this length; whether a floor has risen."""
    n = y.shape[0]
    first = slots[INNER_FIRST]
    last = slots[INNER_LAST]
    start = work[WORK_HEADER : WORK_HEADER + n]
    other = work[WORK_HEADER + n : WORK_HEADER + 2 * n]
    noise = work[WORK_HEADER + 2 * n : WORK_HEADER + 3 * n]
    slope = work[WORK_HEADER + 3 * n : WORK_HEADER + 4 * n]
    step *= LONGER
    measure_rounding(table, ints, first, last, t, y, p, d, k, h, c, start, slope, noise, other, work)
    add_noise_of_states(table, ints, first, last, t, y, p, d, k, h, c, step, start, slope, noise, work)
    return note_noise(step, noise, settings, sizes)


def explicit_step(
    table,
    ints,
    first,
    last,
    t,
    y,
    p,
    d,
    k,
    h,
    c,
    tableau,
    settings,
    memory,
    work,
    slots,
    t_stop,
    limit,
):
    """One accepted step from `t`, not past `t_stop` and not longer than `limit`.

    The first stage is kept when a step is rejected, and the derivative at the end is the next first stage.
    """
    if not memory[NEXT_STEP] > 0.0:  # or NaN, in a State from elsewhere
        return NOT_INITIALIZED
    n = y.shape[0]
    controlled = settings[FIXED] == 0.0
    smallest = smallest_step(t, t_stop, settings[SMALLEST])
    ideal = min(max(memory[NEXT_STEP], smallest), settings[LARGEST]) if controlled else settings[FIXED]
    slope = work[WORK_HEADER + 3 * n : WORK_HEADER + 4 * n]
    if remember_start(t, y, c, work, slope) != 0:
        return NOT_FINITE
    target = t_stop
    cuts = 0
    size = 0.0
    sizes = memory[MEMORY_HEADER:]
    floors = usual(settings, n)
    kept = work[kept_at(tableau, n) :]
    has_kept = False
    if controlled:
        floors = sizes[:n]
        if slots[HOLDS] != 0 or have_news(y, sizes):
            keep(sizes, kept, n)
            has_kept = True
            returned = follow_sizes(t, y, c, ideal, settings[ERROR_ORDER], settings, sizes)
            if returned >= 0:
                work[RETURNED] = returned + 1.0
            if slots[HOLDS] != 0:
                take_size_1(ideal, settings, sizes, n)
        t_stop = smooth_end(t, t_stop, c, slots)
        if slots[KINK_SLOTS] > 0:
            cuts = MOST_CUTS
            note_kinks(c, work, slots, AT_START)
        if is_measured_again(ideal, sizes, n):
            explicit_rounding(table, ints, t, y, p, d, k, h, c, ideal, settings, sizes, work, slots)
    rejected = False
    has_size_1 = False  # once a step: what components report as errors does not follow sizes
    while True:
        longest = min(ideal, limit)
        t_end = step_end(t, longest, t_stop, controlled)
        step = t_end - t
        work[ATTEMPTED_END] = t_end
        status = take_stages(table, ints, first, last, t, t_end, y, p, d, k, h, c, tableau, work, slots)
        error = 0.0
        if status == 0 and controlled:
            error = estimated_error(y, step, tableau, settings, floors, work)
            if error > 1.0 or rejected:
                if not has_kept:
                    keep(sizes, kept, n)
                    has_kept = True
                error = estimated_again(t, y, step, error, tableau, settings, sizes, work)
        if (
            status == 0
            and cuts > 0
            and 1.0 < error < math.inf
            and finish_step(table, ints, first, last, t_end, y, p, d, k, h, c, tableau, work) == 0
        ):
            kink, size = find_kink(
                table, ints, first, last, t, t_end, y, p, d, k, h, c, slope, smallest, settings, floors, work,
                slots, size,
            )  # fmt: skip
            if kink < t_end:
                t_stop = approach(t, kink, ideal)
                cuts -= 1
                work[REJECTIONS] += 1.0
                continue
        if status == 0 and worth_projecting(error, settings[ERROR_ORDER], slots):
            status = finish_step(table, ints, first, last, t_end, y, p, d, k, h, c, tableau, work)
            if status == 0 and looks_into_itself(c, slots):
                status = settle_step(
                    table, ints, first, last, t, t_end, y, p, d, k, h, c, tableau, settings, floors,
                    work, slots,
                )  # fmt: skip
                if status == 0 and controlled:
                    error = estimated_error(y, step, tableau, settings, floors, work)
            if status == 0 and slots[NORMALIZE] != slots[END_OF_CORRECTIONS]:
                status = project_end(table, ints, first, last, t_end, y, p, d, k, h, c, work, slots)
                if status == 0 and controlled:
                    error = corrected_error(
                        table, ints, t_end, y, p, d, k, h, c, step, tableau, settings, floors, work,
                        slots,
                    )  # fmt: skip
            if status in (UNSETTLED, NOT_MET):
                error = AS_ERROR
            elif status == 0:
                if controlled:
                    error = larger(error, slot_error(c, settings, slots))
                if error <= 1.0:
                    if cuts == 0:
                        break
                    kink, size = find_kink(
                        table, ints, first, last, t, t_end, y, p, d, k, h, c, slope, smallest, settings,
                        floors, work, slots, size,
                    )  # fmt: skip
                    if not kink < t_end:
                        break
                    forget_own_past(k, h, slots, t)
                    t_stop = approach(t, kink, ideal)
                    cuts -= 1
                    work[REJECTIONS] += 1.0
                    continue
            else:
                error = math.nan
        forget_own_past(k, h, slots, t)
        if status > 0:
            work[FAILED_BLOCK] = float(status - 1)
            go_back(table, ints, first, last, t, y, p, d, k, h, c, work)
            if has_kept:
                keep(kept, sizes, n)
            return BLOCK_FAILED
        work[REJECTIONS] += 1.0
        rejected = True
        work[FAILED_TIME] = t_end
        if (
            controlled
            and may_be_rounding(error, work[USUAL_ERROR], sizes, n)
            and explicit_rounding(table, ints, t, y, p, d, k, h, c, step, settings, sizes, work, slots)
        ):
            continue
        ideal = shorter(error, settings[ERROR_ORDER]) * step
        is_small = status == 0 and work[USUAL_ERROR] <= 1.0 < error < math.inf
        if controlled and ideal < smallest and is_small and not has_size_1:
            take_size_1(step, settings, sizes, n)
            has_size_1 = True
            ideal = step
            continue
        if not controlled or ideal < smallest:
            go_back(table, ints, first, last, t, y, p, d, k, h, c, work)
            if has_kept:
                keep(kept, sizes, n)
            if status == UNSETTLED:
                return NO_CONVERGENCE
            if status == NOT_MET:
                return CONSTRAINTS_NOT_MET
            return MINIMUM_STEP if error == error else NOT_FINITE
    work[START] = t
    work[END] = t_end
    work[ACCEPTED_END] = t_end
    work[DENSE_READY] = 0.0
    work[LINE_READY] = 0.0
    work[STEPS] += 1.0
    work[REASON] = float(end_reason(t_end, target, t_stop, longest, limit, settings[LARGEST]))
    if controlled:
        count_step(error, sizes, n)
        look_for_stiffness(y, step, tableau, settings, work)
        memory[NEXT_STEP] = next_step(ideal, step, error, memory[LAST_ERROR], settings[ERROR_ORDER], rejected)
        if step >= NEARLY_IDEAL * ideal:
            memory[LAST_ERROR] = max(error, 1e-4)  # that of a step cut short says nothing about the next
    return DONE


def redo_explicit_step(
    table, ints, first, last, t_event, y, p, d, k, h, c, tableau, settings, memory, work, slots
):
    """Take the last step again, ending exactly at `t_event`, without error control.

    Returns DONE or another code; then state and cache are those of the end of the step again.
    """
    n = y.shape[0]
    t = work[START]
    t_end = work[END]
    code = DONE
    for _ in range(2):
        status = take_stages(table, ints, first, last, t, t_event, y, p, d, k, h, c, tableau, work, slots)
        if status == 0:
            status = finish_step(table, ints, first, last, t_event, y, p, d, k, h, c, tableau, work)
        if status == 0:
            status = project_end(table, ints, first, last, t_event, y, p, d, k, h, c, work, slots)
        if status == 0:
            break
        # The same stages give the same end of the step again, to the last bit.
        code = failure_code(status, work, NOT_FINITE)
        work[FAILED_TIME] = t_event
        work[ATTEMPTED_END] = t_event
        t_event = t_end
    for m in range(n):
        y[m] = work[WORK_HEADER + n + m]
    work[END] = t_event
    work[DENSE_READY] = 0.0
    work[LINE_READY] = 0.0
    return code
