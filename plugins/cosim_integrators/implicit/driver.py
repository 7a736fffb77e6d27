"""The loop around the attempts at a step: what all implicit families have in common.

A family brings two kernel functions. ``attempt(…, t_end, …)`` computes the end of a step into `y`, its
error and the factor for the next step into `work`, and answers OK or why not; ``accept(…)`` notes in
the memory what later steps need and the dense output in `work`, and answers the length of the next step.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from cosim import walk
from cosim_integrators.implicit.jacobian import make_jacobian
from cosim_integrators.implicit.layout import (
    ACCEPTED_END,
    ACCURACY,
    AGE,
    END,
    ESTIMATE,
    EVALUATIONS,
    FACTOR,
    FACTORED,
    FAILED_BLOCK,
    FAILED_TIME,
    FIXED,
    LARGEST,
    NEWTON_FAILURES,
    NEXT,
    NOT_CONVERGED,
    NOT_FINITE,
    OK,
    P_ENTRIES,
    REJECTED,
    REJECTIONS,
    SMALLEST,
    START,
    STEPS,
    V_END,
    V_SLOPE,
    V_SPARE,
    V_START,
    WORST,
    larger,
    vector,
)
from cosim_integrators.implicit.matrices import check_matrices

# How a step ended; the numbers of cosim.StepCode.
DONE, CODE_NOT_FINITE, CODE_MINIMUM_STEP, CODE_BLOCK_FAILED, CODE_NOT_INITIALIZED = 0, 1, 2, 3, 4
CODE_NOT_CONVERGED, CODE_SINGULAR = 5, 6

STRETCH = 1.001  # a step that nearly reaches its target takes it whole instead of leaving a sliver
STRETCH_FIXED = 1.01
NEARLY_IDEAL = 0.95  # a step shorter than that says nothing about the next one
SMALLEST_RELATIVE_STEP = 1e-14
LARGEST_SHRINK = 0.1
SHRINK_NOT_FINITE = 0.25

STEP_SIGNATURE = "TIiifFFFIFFFFFFIFIIff>i"
REDO_SIGNATURE = "TIiifFFFIFFFFFFIF>i"


def begin(t, y, c, memory, work, lu, pattern, saved):
    """Keep the start of a step; 0, or 1 when it is not finite."""
    n = y.shape[0]
    start = vector(work, V_START, n)
    slope = vector(work, V_SLOPE, n)
    total = 0.0
    for m in range(n):
        start[m] = y[m]
        slope[m] = c[m]
        total += 0.0 * y[m] + 0.0 * c[m]
    for m in range(memory.shape[0]):
        saved[m] = memory[m]
    work[START] = float("nan")
    work[REJECTED] = 0.0
    work[WORST] = -1.0
    check_matrices(memory, lu, pattern)
    if total != 0.0:
        work[FAILED_TIME] = t
        return 1
    return 0


def target(t, ideal, limit, t_stop, controlled):
    """Where the next attempt ends."""
    longest = min(ideal, limit)
    if t + (STRETCH if controlled else STRETCH_FIXED) * longest >= t_stop:
        return t_stop
    if controlled and t + 2.0 * longest > t_stop:
        return t + 0.5 * (t_stop - t)  # two equal steps instead of one and a sliver
    return t + longest


def refresh(table, ints, first, last, t, y, p, d, k, h, c, memory, work, lu, pattern):
    """The Jacobian at the start of the step."""
    entries = memory[memory.shape[0] - pattern[P_ENTRIES] :]
    memory[AGE] = 0.0
    memory[FACTORED] = 0.0
    lu[0] = 0.0
    status = make_jacobian(table, ints, first, last, t, y, p, d, k, h, c, pattern, entries, work)
    if status == OK:
        memory[AGE] = 2.0
    else:
        work[FAILED_TIME] = t
    return status


def finish(table, ints, first, last, t_end, y, p, d, k, h, c, work):
    """Evaluate the end of a step; OK, NOT_FINITE or 1 + the index of a block that failed."""
    n = y.shape[0]
    work[EVALUATIONS] += 1.0
    work[FAILED_TIME] = t_end
    status = walk(table, ints, first, last, t_end, y, p, d, k, h, c)
    if status != 0:
        return status
    end = vector(work, V_END, n)
    total = 0.0
    for m in range(n):
        end[m] = y[m]
        total += 0.0 * y[m] + 0.0 * c[m]
    return OK if total == 0.0 else NOT_FINITE


def give_up(table, ints, first, last, t, y, p, d, k, h, c, memory, work, saved, status, code):
    """Make state, memory and cache again what they were at the start; answers the code."""
    n = y.shape[0]
    start = vector(work, V_START, n)
    spare = vector(work, V_SPARE, n)
    for m in range(n):
        spare[m] = y[m]
        y[m] = start[m]
    for m in range(memory.shape[0]):
        memory[m] = saved[m]
    work[EVALUATIONS] += 1.0
    walk(table, ints, first, last, t, y, p, d, k, h, c)
    if status > 0:
        work[FAILED_BLOCK] = float(status - 1)
        return CODE_BLOCK_FAILED
    return code


def remembered(step, ideal, proposal):
    """The next step of a one-step method: what cut this one short says nothing about it."""
    if step >= NEARLY_IDEAL * ideal or proposal > ideal or proposal < step:
        return proposal
    return ideal


def code_of(status):
    """The step code for an attempt that no shorter step can mend."""
    if status == NOT_FINITE:
        return CODE_NOT_FINITE
    return CODE_NOT_CONVERGED if status == NOT_CONVERGED else CODE_SINGULAR


def new_step(attempt: Callable[..., Any], accept: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel function that takes one accepted step of a family of methods."""

    def implicit_step(
        table, ints, first, last, t, y, p, d, k, h, c, method, settings, memory, work, lu, pattern, saved,
        error_slots, smooth_slots, t_stop, limit,
    ):  # fmt: skip
        if memory[NEXT] == 0.0:
            return CODE_NOT_INITIALIZED
        controlled = settings[FIXED] == 0.0
        smallest = max(settings[SMALLEST], SMALLEST_RELATIVE_STEP * max(1.0, abs(t)))
        ideal = memory[NEXT] if controlled else settings[FIXED]
        ideal = min(max(ideal, settings[SMALLEST]), settings[LARGEST])
        if begin(t, y, c, memory, work, lu, pattern, saved) != 0:
            return CODE_NOT_FINITE
        if controlled:
            for i in range(smooth_slots.shape[0]):
                if t < c[smooth_slots[i]] < t_stop:
                    t_stop = c[smooth_slots[i]]
        start = vector(work, V_START, y.shape[0])
        while True:
            t_end = target(t, ideal, limit, t_stop, controlled)
            step = t_end - t
            status = OK
            if memory[AGE] == 0.0:
                status = refresh(table, ints, first, last, t, y, p, d, k, h, c, memory, work, lu, pattern)
                if status != OK:
                    return give_up(
                        table, ints, first, last, t, y, p, d, k, h, c, memory, work, saved, status,
                        CODE_NOT_FINITE,
                    )  # fmt: skip
            work[FACTOR] = 0.5
            status = attempt(
                table, ints, first, last, t, y, p, d, k, h, c, t_end, method, settings, memory, work, lu,
                pattern,
            )  # fmt: skip
            error = work[ESTIMATE]
            if status == OK and error <= 1.0:
                status = finish(table, ints, first, last, t_end, y, p, d, k, h, c, work)
                if status == OK:
                    if controlled:
                        for i in range(error_slots.shape[0]):
                            error = larger(error, abs(c[error_slots[i]]) / settings[ACCURACY])
                    if error <= 1.0:
                        break
                    work[FACTOR] = 0.5
            if status > 0:
                return give_up(
                    table, ints, first, last, t, y, p, d, k, h, c, memory, work, saved, status,
                    CODE_BLOCK_FAILED,
                )  # fmt: skip
            for m in range(y.shape[0]):
                y[m] = start[m]
            factor = work[FACTOR]
            if status != OK:
                work[NEWTON_FAILURES] += 1.0
                if memory[AGE] == 1.0 and status != NOT_FINITE:
                    memory[AGE] = 0.0  # an old Jacobian may be the reason: again with a new one
                    continue
                if status == NOT_FINITE:
                    factor = SHRINK_NOT_FINITE
            elif error != error:
                status = NOT_FINITE
                factor = SHRINK_NOT_FINITE
            work[REJECTIONS] += 1.0
            work[REJECTED] = 1.0
            ideal = max(LARGEST_SHRINK, min(0.9, factor)) * step
            if not controlled or ideal < smallest:
                code = CODE_MINIMUM_STEP if status == OK else code_of(status)
                return give_up(
                    table, ints, first, last, t, y, p, d, k, h, c, memory, work, saved, status, code
                )
        work[START] = t
        work[END] = t_end
        work[ACCEPTED_END] = t_end
        work[STEPS] += 1.0
        work[ESTIMATE] = error
        memory[NEXT] = accept(t, t_end, ideal, y, c, method, settings, memory, work)
        return DONE

    return implicit_step


def new_redo(attempt: Callable[..., Any], accept: Callable[..., Any]) -> Callable[..., Any]:
    """The kernel function that takes the last step again, to another end and without error control."""

    def redo_implicit_step(
        table, ints, first, last, t_event, y, p, d, k, h, c, method, settings, memory, work, lu, pattern, saved
    ):  # fmt: skip
        n = y.shape[0]
        t = work[START]
        t_end = work[END]
        start = vector(work, V_START, n)
        end = vector(work, V_END, n)
        spare = vector(work, V_SPARE, n)
        size = memory.shape[0]
        for m in range(size):
            saved[size + m] = memory[m]
        for m in range(size - pattern[P_ENTRIES]):  # the Jacobian stays: it was good enough for this step
            memory[m] = saved[m]
        memory[FACTORED] = saved[size + FACTORED]
        memory[AGE] = 1.0
        for m in range(n):
            y[m] = start[m]
        status = OK
        for _ in range(2):
            status = attempt(
                table, ints, first, last, t, y, p, d, k, h, c, t_event, method, settings, memory, work, lu,
                pattern,
            )  # fmt: skip
            if status == OK or status > 0 or memory[AGE] == 2.0:
                break
            for m in range(n):
                y[m] = start[m]
            status = refresh(table, ints, first, last, t, y, p, d, k, h, c, memory, work, lu, pattern)
            if status != OK:
                break
        for m in range(n):
            spare[m] = end[m]
        if status == OK:
            status = finish(table, ints, first, last, t_event, y, p, d, k, h, c, work)
        if status == OK:
            work[END] = t_event
            accept(t, t_event, t_end - t, y, c, method, settings, memory, work)
            memory[NEXT] = saved[size + NEXT]
            return DONE
        for m in range(n):
            end[m] = spare[m]
            spare[m] = y[m]
            y[m] = end[m]
        for m in range(size):
            memory[m] = saved[size + m]
        lu[0] = 0.0
        walk(table, ints, first, last, t_end, y, p, d, k, h, c)
        if status > 0:
            work[FAILED_BLOCK] = float(status - 1)
            return CODE_BLOCK_FAILED
        return code_of(status)

    return redo_implicit_step
