"""What fixed steps of all methods for second-order form share, as kernel functions.

=================== =====================================================================
``coefficients``    0 and 1 lengths of q and u, then the numbers of the method
``memory``          after the header: 0 while q' = u has held at every point (then the rates of q at new
                    speeds are known without an evaluation), 1 since it did not
``work``            after the vectors that all methods have: the derivative at the start and at the end of
                    the step, and two vectors that substeps use
=================== =====================================================================
"""

from __future__ import annotations

from cosim.kit import (
    ACCEPTED_END,
    ATTEMPTED_END,
    DONE,
    END,
    EVALUATIONS,
    FAILED_TIME,
    FIXED,
    LARGEST,
    MEMORY_HEADER,
    NEXT_STEP,
    NO_CONVERGENCE,
    NOT_FINITE,
    NOT_INITIALIZED,
    REASON,
    REJECTIONS,
    START,
    STEPS,
    WORK_HEADER,
    failure_code,
    project_end,
    walk,
)
from cosim_integrators.kit.begin import begin_steps
from cosim_integrators.kit.start_of_step import go_back, remember_start
from cosim_integrators.kit.step_control import end_reason, step_end

DIVERGED = -2  # beside 0, 1 + the index of a failed block and, for what is not finite, -1


def begin_second_order_steps(
    table, ints, first, last, t, y, p, d, k, h, c, coefficients, settings, memory, work, slots
):
    """As `begin_steps`; q' = u holds until it does not."""
    code = begin_steps(
        table, ints, first, last, t, y, p, d, k, h, c, coefficients, settings, memory, work, slots
    )
    memory[MEMORY_HEADER] = 1.0 if coefficients[0] != coefficients[1] else 0.0
    return code


def evaluate(table, ints, first, last, t, y, p, d, k, h, c, work):
    """Walk at `t` and count it; 0 or 1 + the index of a failed block."""
    work[EVALUATIONS] += 1.0
    status = walk(table, ints, first, last, t, y, p, d, k, h, c)
    if status != 0:
        work[FAILED_TIME] = t
    return status


def rates_are_speeds(y, c, nq):
    """Whether q' = u at this point, to the last bit."""
    different = 0
    for m in range(nq):
        different += c[m] != y[nq + m]
    return different == 0


def keep_end(y, c, work):
    """Keep state and derivative at the end; 0, or -1 when something is not finite."""
    n = y.shape[0]
    total = 0.0
    for m in range(n):
        work[WORK_HEADER + n + m] = y[m]
        work[WORK_HEADER + 4 * n + m] = c[m]
        total += 0.0 * y[m] + 0.0 * c[m]
    return 0 if total == 0.0 else -1


def new_step(substeps):
    """The step of a method whose way from start to end is `substeps`."""

    def step(
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
        coefficients,
        settings,
        memory,
        work,
        slots,
        t_stop,
        limit,
    ):
        if not memory[NEXT_STEP] > 0.0:  # or NaN, in a State from elsewhere
            return NOT_INITIALIZED
        n = y.shape[0]
        if remember_start(t, y, c, work, work[WORK_HEADER + 3 * n : WORK_HEADER + 4 * n]) != 0:
            return NOT_FINITE
        longest = min(min(settings[FIXED], settings[LARGEST]), limit)
        t_end = step_end(t, longest, t_stop, False)
        work[ATTEMPTED_END] = t_end
        known = memory[MEMORY_HEADER]
        status = substeps(table, ints, first, last, t, t_end, y, p, d, k, h, c, coefficients, memory, work)
        if status == 0:
            status = keep_end(y, c, work)
        if status == 0:
            status = project_end(table, ints, first, last, t_end, y, p, d, k, h, c, work, slots)
        if status != 0:
            memory[MEMORY_HEADER] = known
            work[REJECTIONS] += 1.0
            if status < 0:
                work[FAILED_TIME] = t_end
            go_back(table, ints, first, last, t, y, p, d, k, h, c, work)
            return failure_code(status, work, NO_CONVERGENCE if status == DIVERGED else NOT_FINITE)
        work[START] = t
        work[END] = t_end
        work[ACCEPTED_END] = t_end
        work[STEPS] += 1.0
        work[REASON] = float(end_reason(t_end, t_stop, t_stop, longest, limit, settings[LARGEST]))
        return DONE

    return step


def new_redo(substeps):
    """The last step again, to another end; see `cosim.contracts.method_layout`."""

    def redo(
        table, ints, first, last, t_event, y, p, d, k, h, c, coefficients, settings, memory, work, slots
    ):
        n = y.shape[0]
        t = work[START]
        t_end = work[END]
        code = DONE
        for _ in range(2):
            for m in range(n):
                y[m] = work[WORK_HEADER + m]
            status = evaluate(table, ints, first, last, t, y, p, d, k, h, c, work)
            if status == 0:
                status = substeps(
                    table, ints, first, last, t, t_event, y, p, d, k, h, c, coefficients, memory, work
                )
            if status == 0:
                status = keep_end(y, c, work)
            if status == 0:
                status = project_end(table, ints, first, last, t_event, y, p, d, k, h, c, work, slots)
            if status == 0:
                break
            # The same substeps give the same end of the step again, to the last bit.
            code = failure_code(status, work, NOT_FINITE)
            work[FAILED_TIME] = t_event
            work[ATTEMPTED_END] = t_event
            t_event = t_end
        work[END] = t_event
        return code

    return redo
