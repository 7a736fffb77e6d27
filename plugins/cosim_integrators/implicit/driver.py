"""The loop around the attempts at a step: what all implicit families have in common.

A family brings two kernel functions. ``attempt(…, t_end, …)`` computes the end of a step into `y`, its
error and the factor for the next step into `work`, and answers OK or why not; ``accept(…)`` notes in
the memory what later steps need and in `work` the dense output, and answers the length of the next step.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

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
    EVALUATIONS,
    FAILED_BLOCK,
    FAILED_TIME,
    FIXED,
    HOLDS,
    INNER_FIRST,
    INNER_LAST,
    KINK_SLOTS,
    LARGEST,
    MINIMUM_STEP,
    NEWTON_FAILURES,
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
    WORST,
    larger,
    own_slots,
    project_end,
    project_error,
    walk,
    worth_projecting,
)
from cosim_integrators.implicit.jacobian import make_jacobian
from cosim_integrators.implicit.layout import (
    AGE,
    BAD_NUMBER,
    ESTIMATE,
    FACTOR,
    FACTORED,
    HISTORY,
    HISTORY_AT,
    OK,
    P_ENTRIES,
    REJECTED,
    V_END,
    V_ERROR,
    V_RIGHT,
    V_SLOPE,
    V_SPARE,
    V_START,
    matrices_size,
    own_at,
    sizes_in,
    vector,
)
from cosim_integrators.implicit.matrices import check_matrices, solve_real
from cosim_integrators.implicit.newton import size_of_error
from cosim_integrators.kit.error_norm import slot_error
from cosim_integrators.kit.kinks import AT_START, MOST_CUTS, find_kink, note_kinks
from cosim_integrators.kit.rounding import (
    LONGER,
    count_step,
    is_measured_again,
    may_be_rounding,
    measure_rounding,
    note_noise,
    take_size_1,
)
from cosim_integrators.kit.start_of_step import go_back, remember_start
from cosim_integrators.kit.state_sizes import follow_sizes, have_news
from cosim_integrators.kit.step_control import (
    LARGEST_GROWTH,
    LARGEST_SHRINK,
    NEARLY_IDEAL,
    SAFETY,
    end_reason,
    smallest_step,
    smooth_end,
    step_end,
)

SHRINK_NOT_FINITE = 0.25
OF_STEP = 4.0  # a step, in parts of what its matrix makes of a derivative, at most


def refresh(table, ints, first, last, t, y, p, d, k, h, c, settings, memory, work, matrices, pattern):
    """The Jacobian at the start of the step."""
    entries = memory[memory.shape[0] - pattern[P_ENTRIES] :]
    memory[AGE] = 0.0
    memory[FACTORED] = 0.0
    matrices[0] = 0.0
    status = make_jacobian(table, ints, first, last, t, y, p, d, k, h, c, pattern, entries, settings, work)
    if status == OK:
        memory[AGE] = 2.0
    else:
        work[FAILED_TIME] = t
    return status


def finish(table, ints, first, last, t_end, y, p, d, k, h, c, work):
    """Evaluate the end of a step; OK, BAD_NUMBER or 1 + the index of a block that failed."""
    n = y.shape[0]
    work[EVALUATIONS] += 1.0
    status = walk(table, ints, first, last, t_end, y, p, d, k, h, c)
    if status != 0:
        work[FAILED_TIME] = t_end
        return status
    end = vector(work, V_END, n)
    total = 0.0
    for m in range(n):
        end[m] = y[m]
        total += 0.0 * y[m] + 0.0 * c[m]
    return OK if total == 0.0 else BAD_NUMBER


def correct_end(table, ints, t_end, y, p, d, k, h, c, method, settings, memory, work, slots):
    """Take out of the error of a step what the corrections of its end have taken out."""
    n = y.shape[0]
    error = vector(work, V_ERROR, n)
    before = work[ESTIMATE]
    project_error(table, ints, t_end, y, p, d, k, h, c, error, vector(work, V_END, n), slots)
    sizes = sizes_in(memory, method, n)
    size = size_of_error(error, vector(work, V_START, n), y, method, settings, sizes, work)
    work[ESTIMATE] = size
    if 0.0 < size < before:
        growth = math.pow(before / size, 1.0 / settings[ERROR_ORDER])
        work[FACTOR] = max(work[FACTOR], min(LARGEST_GROWTH, work[FACTOR] * growth))


def code_of(status, error):
    """The step code for an attempt that no shorter step can mend."""
    if status > 0:
        return BLOCK_FAILED
    if status == NOT_MET:
        return CONSTRAINTS_NOT_MET
    if status == BAD_NUMBER or error != error:
        return NOT_FINITE
    return MINIMUM_STEP if status == OK else NO_CONVERGENCE


def remembered(step, ideal, proposal):
    """The next step of a one-step method: what cut this one short says nothing about it."""
    if step >= NEARLY_IDEAL * ideal or proposal > ideal or proposal < step:
        return proposal
    return ideal


def implicit_rounding(
    table, ints, first, last, t, y, p, d, k, h, c, step, method, settings, memory, work, matrices, pattern
):
    """Measure what rounding gives the states in a step from `t` of this length; whether a floor has risen.

    The matrix of the step says what noise in derivatives becomes: so positions get that of speeds, and stiff
    states lose theirs. Afterwards `y` is the start.
    """
    n = y.shape[0]
    noise = vector(work, V_ERROR, n)
    measure_rounding(
        table, ints, first, last, t, y, p, d, k, h, c, vector(work, V_START, n), vector(work, V_SLOPE, n),
        noise, vector(work, V_RIGHT, n), work,
    )  # fmt: skip
    solve_real(matrices, pattern, noise)
    for m in range(n):
        noise[m] = OF_STEP * abs(noise[m]) / step
    return note_noise(LONGER * step, noise, settings, sizes_in(memory, method, n))


def error_order(settings, memory):
    """The exponent of the step in the error of the next step."""
    return settings[ERROR_ORDER]


def new_step(
    attempt: Callable[..., Any], accept: Callable[..., Any], order_of: Callable[..., Any] = error_order
) -> Callable[..., Any]:
    """The kernel function that takes one accepted step of a family of methods."""

    def implicit_step(
        table, ints, first, last, t, y, p, d, k, h, c, method, settings, memory, work, slots, t_stop, limit
    ):
        if not memory[NEXT_STEP] > 0.0:  # or NaN, in a State from elsewhere
            return NOT_INITIALIZED
        n = y.shape[0]
        pattern = slots[own_slots(slots) :]
        begin = slots[INNER_FIRST]
        behind = slots[INNER_LAST]
        at = own_at(method, n)
        matrices = work[at : at + matrices_size(pattern)]
        saved = work[at + matrices_size(pattern) :]
        controlled = settings[FIXED] == 0.0
        smallest = smallest_step(t, t_stop, settings[SMALLEST])
        ideal = min(max(memory[NEXT_STEP], smallest), settings[LARGEST]) if controlled else settings[FIXED]
        work[WORST] = -1.0
        work[REJECTED] = 0.0
        if remember_start(t, y, c, work, vector(work, V_SLOPE, n)) != 0:
            return NOT_FINITE
        sizes = sizes_in(memory, method, n)
        measures = False
        for m in range(memory.shape[0]):
            saved[m] = memory[m]
        check_matrices(memory, matrices, pattern)
        if controlled and (slots[HOLDS] != 0 or have_news(y, sizes)):
            returned = follow_sizes(t, y, c, ideal, order_of(settings, memory), settings, sizes)
            if returned >= 0:
                work[RETURNED] = returned + 1.0
            if slots[HOLDS] != 0:
                take_size_1(ideal, settings, sizes, n)
        if controlled:
            measures = is_measured_again(ideal, sizes, n)
        start = vector(work, V_START, n)
        end = vector(work, V_END, n)
        slope = vector(work, V_SLOPE, n)
        target = t_stop
        cuts = 0
        size = 0.0
        has_size_1 = False  # once a step: what components report as errors does not follow sizes
        kink = math.nan
        if controlled:
            t_stop = smooth_end(t, t_stop, c, slots)
            if slots[KINK_SLOTS] > 0:
                cuts = MOST_CUTS
                note_kinks(c, work, slots, AT_START)
        while True:
            longest = min(ideal, limit)
            t_end = step_end(t, longest, t_stop, controlled)
            step = t_end - t
            work[ATTEMPTED_END] = t_end
            work[FACTOR] = 0.5
            error = 0.0
            status = OK
            if memory[AGE] == 0.0:
                status = refresh(
                    table, ints, begin, behind, t, y, p, d, k, h, c, settings, memory, work, matrices, pattern
                )
            new = memory[AGE] == 2.0
            if status == OK:
                status = attempt(
                    table, ints, begin, behind, t, y, p, d, k, h, c, t_end, method, settings, memory, work,
                    matrices, pattern,
                )  # fmt: skip
                error = work[ESTIMATE]
            if measures and status == OK:
                measures = False
                implicit_rounding(
                    table, ints, begin, behind, t, y, p, d, k, h, c, step, method, settings, memory, work,
                    matrices, pattern,
                )  # fmt: skip
                continue
            kink = math.nan
            if (
                status == OK
                and cuts > 0
                and 1.0 < error < math.inf
                and finish(table, ints, first, last, t_end, y, p, d, k, h, c, work) == OK
            ):
                kink, size = find_kink(
                    table, ints, first, last, t, t_end, y, p, d, k, h, c, slope, smallest, settings,
                    sizes[:n], work, slots, size,
                )  # fmt: skip
                for m in range(n):
                    y[m] = end[m]
            if status == OK and not kink < t_end and worth_projecting(error, settings[ERROR_ORDER], slots):
                status = finish(table, ints, first, last, t_end, y, p, d, k, h, c, work)
                if status == OK:
                    status = project_end(table, ints, first, last, t_end, y, p, d, k, h, c, work, slots)
                if status == OK:
                    if controlled:
                        if slots[NORMALIZE] != slots[END_OF_CORRECTIONS]:
                            correct_end(
                                table, ints, t_end, y, p, d, k, h, c, method, settings, memory, work, slots
                            )
                            error = work[ESTIMATE]
                        reported = slot_error(c, settings, slots)
                        if reported > 1.0:
                            work[FACTOR] = 0.5
                        error = larger(error, reported)
                    if error <= 1.0:
                        if cuts == 0:
                            break
                        kink, size = find_kink(
                            table, ints, first, last, t, t_end, y, p, d, k, h, c, slope, smallest, settings,
                            sizes[:n], work, slots, size,
                        )  # fmt: skip
                        if not kink < t_end:
                            break
            if kink < t_end:
                t_stop = kink
                cuts -= 1
                work[REJECTIONS] += 1.0
                for m in range(n):
                    y[m] = start[m]
                continue
            if controlled and status == OK and may_be_rounding(error, work[USUAL_ERROR], sizes, n):
                risen = implicit_rounding(
                    table, ints, begin, behind, t, y, p, d, k, h, c, step, method, settings, memory, work,
                    matrices, pattern,
                )  # fmt: skip
                if risen:
                    work[REJECTIONS] += 1.0
                    continue
            if status <= 0:
                factor = min(SAFETY, max(LARGEST_SHRINK, work[FACTOR]))
                if status == BAD_NUMBER or error != error:
                    factor = SHRINK_NOT_FINITE
                    work[FAILED_TIME] = t_end
                ideal = factor * step
                if status != OK:
                    work[NEWTON_FAILURES] += 1.0
                    if status == NOT_MET:
                        ideal = 0.5 * step
                    elif status != BAD_NUMBER and not new:
                        memory[AGE] = 0.0  # an old Jacobian may be the reason: again with a new one
                        ideal = step
                if ideal < step:
                    work[REJECTIONS] += 1.0
                    work[REJECTED] = 1.0
            if (
                controlled
                and status == OK
                and ideal < smallest
                and work[USUAL_ERROR] <= 1.0 < error < math.inf
                and not has_size_1
            ):
                take_size_1(step, settings, sizes, n)
                has_size_1 = True
                ideal = step
            if status > 0 or (ideal < step and (not controlled or ideal < smallest)):
                for m in range(memory.shape[0]):
                    memory[m] = saved[m]
                go_back(table, ints, first, last, t, y, p, d, k, h, c, work)
                work[FAILED_BLOCK] = float(max(status, 1) - 1)
                return code_of(status, error)
            for m in range(n):
                y[m] = start[m]
        work[START] = t
        work[END] = t_end
        work[ACCEPTED_END] = t_end
        work[STEPS] += 1.0
        work[REASON] = float(end_reason(t_end, target, t_stop, longest, limit, settings[LARGEST]))
        work[ESTIMATE] = error
        if controlled:
            count_step(error, sizes, n)
        memory[NEXT_STEP] = accept(t, t_end, ideal, y, c, method, settings, memory, work)
        work[DENSE_READY] = 0.0
        return DONE

    return implicit_step


def new_redo(attempt: Callable[..., Any], accept: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel function that takes the last step again, to another end and without error control.

    When it fails, everything is again as at the end of that step.
    """

    def redo_implicit_step(
        table, ints, first, last, t_event, y, p, d, k, h, c, method, settings, memory, work, slots
    ):
        n = y.shape[0]
        pattern = slots[own_slots(slots) :]
        begin = slots[INNER_FIRST]
        behind = slots[INNER_LAST]
        at = own_at(method, n)
        matrices = work[at : at + matrices_size(pattern)]
        saved = work[at + matrices_size(pattern) :]
        t = work[START]
        t_end = work[END]
        following = memory[NEXT_STEP]
        start = vector(work, V_START, n)
        end = vector(work, V_END, n)
        spare = vector(work, V_SPARE, n)
        size = memory.shape[0]
        for m in range(size):
            saved[size + m] = memory[m]
        # the Jacobian stays: it was good enough for this step; so do the sizes of the states
        for m in range(HISTORY_AT + int(method[HISTORY]) * n):
            memory[m] = saved[m]
        memory[FACTORED] = saved[size + FACTORED]
        memory[AGE] = 1.0
        work[ATTEMPTED_END] = t_event
        status = OK
        for _ in range(2):
            for m in range(n):
                y[m] = start[m]
            if memory[AGE] == 0.0:
                status = refresh(
                    table, ints, begin, behind, t, y, p, d, k, h, c, settings, memory, work, matrices, pattern
                )
            if status == OK:
                status = attempt(
                    table, ints, begin, behind, t, y, p, d, k, h, c, t_event, method, settings, memory, work,
                    matrices, pattern,
                )  # fmt: skip
            if status >= OK:
                break
            memory[AGE] = 0.0
        for m in range(n):
            spare[m] = end[m]
        if status == OK:
            status = finish(table, ints, first, last, t_event, y, p, d, k, h, c, work)
        if status == OK:
            status = project_end(table, ints, first, last, t_event, y, p, d, k, h, c, work, slots)
        if status == OK:
            work[END] = t_event
            accept(t, t_event, t_end - t, y, c, method, settings, memory, work)
            work[DENSE_READY] = 0.0
            memory[NEXT_STEP] = following
            return DONE
        for m in range(n):
            end[m] = spare[m]
            spare[m] = y[m]
            y[m] = end[m]
        for m in range(size):
            memory[m] = saved[size + m]
        matrices[0] = 0.0
        work[FAILED_BLOCK] = float(max(status, 1) - 1)
        work[EVALUATIONS] += 1.0
        walk(table, ints, first, last, t_end, y, p, d, k, h, c)
        return code_of(status, 0.0)

    return redo_implicit_step
