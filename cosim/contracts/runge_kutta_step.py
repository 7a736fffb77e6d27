"""Kernel functions that take explicit Runge–Kutta steps, whatever the method.

One function is compiled for all methods: the tableau is a flat array of numbers and the stages loop
over its non-zero coefficients. All arrays are one-dimensional.

=============== ===========================================================================
``tableau``     0 stages, 1 first same as last, 2 has an error estimate, 3 order of the error
                estimate, 4 degree of the dense output (0: none), 5 where its coefficients
                start, 6 where the table of rows starts, 7 order; then the nodes; then the
                table of rows (stages, b, error), each row being its count and then pairs
                *(stage, coefficient)*
``settings``    0 accuracy, 1 smallest step, 2 largest step, 3 fixed step (0: none)
``memory``      part of the State: 0 next step (0: not initialized), 1 error of the last step
                relative to the accuracy (0: none)
``work``        0 start and 1 end of the last step (NaN: none), 2 index of the block that
                failed, 3 time and 4 end of the attempt that failed, 5 steps, 6 rejections,
                7 evaluations, 8 end of the step as error control accepted it; then the state at the
                start, at the end, the scales, a spare vector, and a derivative for each stage
                and for the end of the step
=============== ===========================================================================
"""

from __future__ import annotations

import math

from cosim.compiled.walker import walk

# How a step ended; the numbers of `cosim.contracts.integrator.StepCode`.
DONE = 0
NOT_FINITE = 1
MINIMUM_STEP = 2
BLOCK_FAILED = 3
NOT_INITIALIZED = 4

HEADER = 9  # numbers before the vectors in `work`
SAFETY = 0.9
LARGEST_GROWTH = 5.0
LEAST_GROWTH = 1.2  # less is not worth a change
LARGEST_SHRINK = 0.1
STRETCH = 1.001  # a step that nearly reaches its target takes it whole instead of leaving a sliver
STRETCH_FIXED = 1.01
NEARLY_IDEAL = 0.95  # a step shorter than that says nothing about the next one
SMALLEST_RELATIVE_STEP = 1e-14

STEP_SIGNATURE = "TIiifFFFIFFFFFFIIff>i"
REDO_SIGNATURE = "TIiifFFFIFFFF>i"
DENSE_SIGNATURE = "fFFFF>v"


def combine(tableau, row, k, n, out):
    """``out`` = sum of the stages in `k`, weighted by one row of the tableau."""
    at = int(tableau[int(tableau[6]) + row])
    count = int(tableau[at])
    if count == 0:
        for m in range(n):
            out[m] = 0.0
        return
    # Two terms a pass: the vectors are read and written half as often.
    first = 1
    if count % 2 == 0:
        weight = tableau[at + 2]
        other = tableau[at + 4]
        one = k[int(tableau[at + 1]) * n : int(tableau[at + 1]) * n + n]
        two = k[int(tableau[at + 3]) * n : int(tableau[at + 3]) * n + n]
        for m in range(n):
            out[m] = weight * one[m] + other * two[m]
        first = 2
    else:
        weight = tableau[at + 2]
        one = k[int(tableau[at + 1]) * n : int(tableau[at + 1]) * n + n]
        for m in range(n):
            out[m] = weight * one[m]
    for pair in range(first, count, 2):
        index = at + 1 + 2 * pair
        weight = tableau[index + 1]
        other = tableau[index + 3]
        one = k[int(tableau[index]) * n : int(tableau[index]) * n + n]
        two = k[int(tableau[index + 2]) * n : int(tableau[index + 2]) * n + n]
        for m in range(n):
            out[m] += weight * one[m] + other * two[m]


def take_stages(table, ints, first, last, t, t_end, y, p, d, k, h, c, tableau, work):
    """All stages of a step from `t` to `t_end`; its start and first derivative are in `work`.

    Leaves the solution in `y` and the stages in `work`. Returns 0 or 1 + the index of a failed block.
    The cache is that of the end of the step only if the method's first stage is the same as its last.
    """
    n = y.shape[0]
    stages = int(tableau[0])
    start = work[HEADER : HEADER + n]
    derivatives = work[HEADER + 4 * n :]
    step = t_end - t
    for i in range(1, stages):
        combine(tableau, i, derivatives, n, y)
        for m in range(n):
            y[m] = start[m] + step * y[m]
        node = tableau[8 + i]
        at = t_end if node == 1.0 else t + node * step
        work[7] += 1.0
        status = walk(table, ints, first, last, at, y, p, d, k, h, c)
        if status != 0:
            work[3] = at
            return status
        stage = derivatives[i * n : i * n + n]
        for m in range(n):
            stage[m] = c[m]
    if tableau[1] == 0.0:
        combine(tableau, stages, derivatives, n, y)
        for m in range(n):
            y[m] = start[m] + step * y[m]
    return 0


def finish_step(table, ints, first, last, t_end, y, p, d, k, h, c, tableau, work):
    """Evaluate the end of a step (unless its last stage did) and keep its derivative.

    Returns 0, 1 + the index of a failed block, or -1 when something is not finite.
    """
    n = y.shape[0]
    stages = int(tableau[0])
    if tableau[1] == 0.0:
        work[7] += 1.0
        status = walk(table, ints, first, last, t_end, y, p, d, k, h, c)
        if status != 0:
            work[3] = t_end
            return status
    end = work[HEADER + n : HEADER + 2 * n]
    last_derivative = work[HEADER + 4 * n + stages * n : HEADER + 5 * n + stages * n]
    total = 0.0
    for m in range(n):
        end[m] = y[m]
        last_derivative[m] = c[m]
        # 0 unless one of the two is infinite or NaN.
        total += 0.0 * y[m] + 0.0 * c[m]
    return 0 if total == 0.0 else -1


def relative_error(y, step, accuracy, tableau, work):
    """Largest component of the estimated error over its tolerance (1 is just acceptable), or NaN.

    The tolerance of a component is accuracy * max(scale, |y|), |y| the larger one of both ends. The
    largest component counts, not a mean: a part at rest, or a second mechanism beside the first one,
    then does not loosen the control of the others.
    """
    n = y.shape[0]
    start = work[HEADER : HEADER + n]
    scale = work[HEADER + 2 * n : HEADER + 3 * n]
    spare = work[HEADER + 3 * n : HEADER + 4 * n]
    combine(tableau, int(tableau[0]) + 1, work[HEADER + 4 * n :], n, spare)
    worst = 0.0
    total = 0.0
    for m in range(n):
        size = max(scale[m], max(abs(start[m]), abs(y[m])))
        error = abs(spare[m]) / size
        total += 0.0 * error + 0.0 * y[m]
        if error > worst:
            worst = error
    if total != 0.0:
        return math.nan
    return abs(step) * worst / accuracy


def larger(a, b):
    """The larger number; NaN when the second one is (``max`` is not the same everywhere then)."""
    if b > a or b != b:
        return b
    return a


def slot_error(c, accuracy, error_slots):
    """Largest relative error that components themselves report in the cache, over the accuracy, or NaN."""
    worst = 0.0
    for i in range(error_slots.shape[0]):
        worst = larger(worst, abs(c[error_slots[i]]))
    return worst / accuracy


def go_back(table, ints, first, last, t, y, p, d, k, h, c, work):
    """Make state and cache again what they were at the start of the step."""
    n = y.shape[0]
    for m in range(n):
        work[HEADER + 3 * n + m] = y[m]
        y[m] = work[HEADER + m]
    work[7] += 1.0
    walk(table, ints, first, last, t, y, p, d, k, h, c)


def explicit_runge_kutta_step(
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
    error_slots,
    smooth_slots,
    t_stop,
    limit,
):
    """One accepted step from `t`, not past `t_stop` and not longer than `limit`.

    On entry ``c[0:n]`` is the derivative at `t`. Returns DONE (the end of the step is ``work[1]``, the
    cache is that of the end) or another code; then `y`, the cache and the memory are as on entry.
    `error_slots` are offsets in the cache where components report an error of their own at the end of
    a step, relative to what they compute: a delay that had to extrapolate. `smooth_slots` are offsets
    where they report at the start of a step until when they are smooth; it ends there at the latest.
    """
    if memory[0] == 0.0:
        return NOT_INITIALIZED
    n = y.shape[0]
    accuracy = settings[0]
    fixed = settings[3]
    controlled = fixed == 0.0
    smallest = max(settings[1], SMALLEST_RELATIVE_STEP * max(1.0, abs(t)))
    ideal = memory[0] if controlled else fixed
    ideal = min(max(ideal, settings[1]), settings[2])
    work[0] = math.nan
    total = 0.0
    for m in range(n):
        work[HEADER + m] = y[m]
        work[HEADER + 4 * n + m] = c[m]
        total += 0.0 * y[m] + 0.0 * c[m]
    if total != 0.0:
        work[3] = t
        work[4] = t
        return NOT_FINITE
    if controlled:
        for i in range(smooth_slots.shape[0]):
            if t < c[smooth_slots[i]] < t_stop:
                t_stop = c[smooth_slots[i]]
    rejected = False
    while True:
        longest = min(ideal, limit)
        t_end = t + longest
        if t + (STRETCH if controlled else STRETCH_FIXED) * longest >= t_stop:
            t_end = t_stop
        elif controlled and t + 2.0 * longest > t_stop:
            # Two equal steps instead of one and a sliver.
            t_end = t + 0.5 * (t_stop - t)
        step = t_end - t
        work[4] = t_end
        status = take_stages(table, ints, first, last, t, t_end, y, p, d, k, h, c, tableau, work)
        if status > 0:
            work[2] = float(status - 1)
            go_back(table, ints, first, last, t, y, p, d, k, h, c, work)
            return BLOCK_FAILED
        error = 0.0
        if controlled:
            error = relative_error(y, step, accuracy, tableau, work)
        if error <= 1.0:
            status = finish_step(table, ints, first, last, t_end, y, p, d, k, h, c, tableau, work)
            if status > 0:
                work[2] = float(status - 1)
                go_back(table, ints, first, last, t, y, p, d, k, h, c, work)
                return BLOCK_FAILED
            if status == 0:
                if controlled:
                    error = larger(error, slot_error(c, accuracy, error_slots))
                if error <= 1.0:
                    break
            else:
                error = math.nan
        work[6] += 1.0
        rejected = True
        work[3] = t_end
        if not controlled:
            go_back(table, ints, first, last, t, y, p, d, k, h, c, work)
            return NOT_FINITE
        finite = error == error
        factor = LARGEST_SHRINK
        if finite:
            factor = min(SAFETY, max(LARGEST_SHRINK, SAFETY * math.pow(error, -1.0 / tableau[3])))
        ideal = factor * step
        if ideal < smallest:
            go_back(table, ints, first, last, t, y, p, d, k, h, c, work)
            return MINIMUM_STEP if finite else NOT_FINITE
    work[0] = t
    work[1] = t_end
    work[8] = t_end
    work[5] += 1.0
    if controlled:
        memory[0] = next_step(ideal, step, error, memory[1], tableau[3], rejected)
        memory[1] = max(error, 1e-4)
    return DONE


def next_step(ideal, step, error, previous_error, order, rejected):
    """Length of the next step after one that was accepted.

    A proportional-integral controller: it looks at the trend of the error too, and so rejects fewer
    steps than one that looks at the last error alone.
    """
    if step < NEARLY_IDEAL * ideal:
        # Something else made this step short, so its error says nothing about the next one.
        return ideal
    if error == 0.0:
        return ideal if rejected else LARGEST_GROWTH * step
    if previous_error == 0.0:
        factor = SAFETY * math.pow(error, -1.0 / order)
    else:
        factor = SAFETY * math.pow(error, -0.7 / order) * math.pow(previous_error, 0.4 / order)
    factor = min(LARGEST_GROWTH, max(0.5, factor))
    if rejected:
        factor = min(1.0, factor)
    elif 1.0 < factor < LEAST_GROWTH:
        factor = 1.0
    return factor * step


def redo_explicit_runge_kutta_step(table, ints, first, last, t_event, y, p, d, k, h, c, tableau, work):
    """Take the last step again, ending exactly at `t_event`, without error control.

    Returns DONE or another code; then state and cache are those of the end of the step again.
    """
    n = y.shape[0]
    t = work[0]
    t_end = work[1]
    code = DONE
    for _ in range(2):
        status = take_stages(table, ints, first, last, t, t_event, y, p, d, k, h, c, tableau, work)
        if status == 0:
            status = finish_step(table, ints, first, last, t_event, y, p, d, k, h, c, tableau, work)
        if status == 0:
            break
        # The same stages give the same end of the step again, to the last bit.
        code = BLOCK_FAILED if status > 0 else NOT_FINITE
        work[2] = float(max(status, 1) - 1)
        work[3] = t_event
        work[4] = t_event
        t_event = t_end
    for m in range(n):
        y[m] = work[HEADER + n + m]
    work[1] = t_event
    return code


def dense_output(t, tableau, work, y, out):
    """``out`` = the solution at `t` inside the last step; `y` only lends its length."""
    n = y.shape[0]
    step = work[1] - work[0]
    start = work[HEADER : HEADER + n]
    end = work[HEADER + n : HEADER + 2 * n]
    derivatives = work[HEADER + 4 * n :]
    stages = int(tableau[0])
    degree = int(tableau[4])
    if t == work[1]:
        for m in range(n):
            out[m] = end[m]
        return
    s = (t - work[0]) / step
    if degree == 0:
        r = 1.0 - s
        a = (1.0 + 2.0 * s) * r * r
        b = s * s * (3.0 - 2.0 * s)
        e = step * s * r * r
        f = -step * s * s * r
        last = derivatives[stages * n : stages * n + n]
        for m in range(n):
            out[m] = a * start[m] + b * end[m] + e * derivatives[m] + f * last[m]
        return
    for m in range(n):
        out[m] = 0.0
    for i in range(stages):
        at = int(tableau[5]) + i * degree
        weight = 0.0
        for j in range(degree):
            weight = (weight + tableau[at + degree - 1 - j]) * s
        for m in range(n):
            out[m] += weight * derivatives[i * n + m]
    for m in range(n):
        out[m] = start[m] + step * out[m]
