"""C functions that write, advance and read the run of a `Simulator`, whose arrays they find by an address.

``head`` has two integers for each array of `run.ARRAYS` (address and length), then those named below.
"""

from __future__ import annotations

import math

from cosim.kit import (
    ADDRESS,
    ARRAY_WIDTH,
    ARRAYS,
    COMPUTED,
    LENGTH,
    REACHED,
    SAME_TIME,
    STATE,
    STEPPED,
    WHOLE_HEAD,
    StepFailure,
    advance_run,
    arrays_at,
    evaluation,
    integers_at,
    lower_stage,
    realize,
    reals_at,
)

INSTANCE = evaluation.INSTANCE
BOUND, ANSWER, LINES, LINES_AT = range(ARRAY_WIDTH * len(ARRAYS), WHOLE_HEAD)
"""Whether the arrays are those of the present State; the last code of the Step; the number of inputs that may
run along lines, and the address of their rows: places in `d` of value, slope and time."""

VALUE, SLOPE, SINCE, LEFT_STAGE, INPUT_WIDTH = range(5)
"""The words of an input: the places in `d` of its value, its slope and the time of its value, and the stage
to which a change of it lowers the State. If the first one is negative, Python writes the input in event mode.
"""
LINE_WIDTH = LEFT_STAGE
INPUTS = 1
"""The place of the first row of inputs, after the address of their last values, and of the first row of
outputs, after the level to which the State has to be realized."""
OUTPUT_IN, OUTPUT_AT, OUTPUT_WIDTH = range(3)
IN_Y, IN_P, IN_D = range(3)
"""``row[OUTPUT_IN]``: the array of an output; any other number means the cache."""

CHANGING = tuple(
    i
    for i, (name, _, role) in enumerate(ARRAYS)
    if role in (STATE, COMPUTED) or name in ("work", "scratch", "held_ints", "probe", "places")
)
"""Numbers of the arrays that a run needs to continue, without rows and findings."""

STEP_CALL = "iffiiiii>i"
ARRAY_CALL = "iiiii>i"
DONE, NOT_DONE = 0, 3  # as FMI's OK and Error; with NOT_DONE Python makes the call instead
STRIDE = 1 << 40  # steps in one call


def called_step(handle, start, length, flag, first, second, third, fourth):
    """Advance to ``start + length``; DONE, or NOT_DONE if Python continues with ``head[ANSWER]``."""
    head = integers_at(handle, WHOLE_HEAD)
    if head[BOUND] == 0:
        head[ANSWER] = STEPPED
        return NOT_DONE
    run = arrays_at(handle)
    run.course.most_steps = STRIDE
    run.options.meeting = SAME_TIME * length
    code = advance_run(run, start + length)
    head[ANSWER] = code
    if code == REACHED:
        hold_lines(run, integers_at(head[LINES_AT], LINE_WIDTH * head[LINES]))
    return DONE if code == REACHED and run.output.rows_used == 0 else NOT_DONE


def called_set(handle, inputs, count, values, size):
    """Write the inputs that have changed."""
    head = integers_at(handle, WHOLE_HEAD)
    if head[BOUND] == 0:
        return NOT_DONE
    run = arrays_at(handle)
    rows = integers_at(inputs, INPUTS + INPUT_WIDTH * count)
    last_values = reals_at(rows[0], count)
    new_values = reals_at(values, count)
    for i in range(count):
        if new_values[i] != last_values[i] and rows[INPUTS + INPUT_WIDTH * i + VALUE] < 0:
            return NOT_DONE
    for i in range(count):
        at = INPUTS + INPUT_WIDTH * i
        if new_values[i] != last_values[i]:
            last_values[i] = new_values[i]
            run.d[rows[at + VALUE]] = new_values[i]
            run.d[rows[at + SLOPE]] = math.nan
            run.clock.jumped = 1.0
            lower_stage(run, rows[at + LEFT_STAGE])
    return DONE


def called_slopes(handle, inputs, count, orders, slopes):
    """Let inputs run along lines from their present values, per s."""
    head = integers_at(handle, WHOLE_HEAD)
    if head[BOUND] == 0:
        return NOT_DONE
    run = arrays_at(handle)
    rows = integers_at(inputs, INPUTS + INPUT_WIDTH * count)
    last_values = reals_at(rows[0], count)
    slopes_of_inputs = reals_at(slopes, count)
    for i in range(count):
        if slopes_of_inputs[i] - slopes_of_inputs[i] != 0.0:
            return NOT_DONE
    for i in range(count):
        at = INPUTS + INPUT_WIDTH * i
        if rows[at + VALUE] < 0:
            continue
        before = run.d[rows[at + SLOPE]]
        if before == before:
            run.d[rows[at + VALUE]] += (run.clock.time - run.d[rows[at + SINCE]]) * before
        run.d[rows[at + SLOPE]] = slopes_of_inputs[i]
        run.d[rows[at + SINCE]] = run.clock.time
        last_values[i] = math.nan  # at the next communication point it is another value
        run.clock.jumped = 1.0
        lower_stage(run, rows[at + LEFT_STAGE])
    return DONE


def called_save(handle, state, unused_count, unused_values, unused_size):
    """Copy all words that change in a run to the address that is stored at `state`."""
    head = integers_at(handle, WHOLE_HEAD)
    if head[BOUND] == 0:
        return NOT_DONE
    save_arrays(head, integers_at(state, 1)[0])
    return DONE


def called_restore(handle, state, unused_count, unused_values, unused_size):
    """Copy all words that change in a run back from the address `state`."""
    head = integers_at(handle, WHOLE_HEAD)
    if head[BOUND] == 0:
        return NOT_DONE
    restore_arrays(head, state)
    return DONE


def called_nothing(handle, indices, count, values, size):
    """Do nothing and succeed: a call for which a system has nothing to do."""
    return DONE


def save_arrays(head, address):
    """Copy all words that change in a run to an address."""
    at = address
    for i in CHANGING:
        size = head[ARRAY_WIDTH * i + LENGTH]
        copy_words(head[ARRAY_WIDTH * i + ADDRESS], at, size)
        at += 8 * size


def restore_arrays(head, address):
    """Copy all words that change in a run back from an address."""
    at = address
    for i in CHANGING:
        size = head[ARRAY_WIDTH * i + LENGTH]
        copy_words(at, head[ARRAY_WIDTH * i + ADDRESS], size)
        at += 8 * size


def copy_words(source, target, size):
    """Copy `size` words from one address to another."""
    words = integers_at(source, size)
    copied = integers_at(target, size)
    for j in range(size):
        copied[j] = words[j]


def hold_lines(run, rows):
    """Hold inputs that run along lines at their present values."""
    for i in range(rows.shape[0] // LINE_WIDTH):
        row = LINE_WIDTH * i
        slope = run.d[rows[row + SLOPE]]
        if slope == slope:
            run.d[rows[row + VALUE]] += (run.clock.time - run.d[rows[row + SINCE]]) * slope
            run.d[rows[row + SLOPE]] = math.nan
            run.clock.jumped = 1.0
            lower_stage(run, INSTANCE)


def called_get(handle, outputs, count, values, size):
    """Read variables, realized with the present inputs."""
    head = integers_at(handle, WHOLE_HEAD)
    if head[BOUND] == 0:
        return NOT_DONE
    run = arrays_at(handle)
    rows = integers_at(outputs, INPUTS + OUTPUT_WIDTH * count)
    try:
        realize(run, rows[0])
    except StepFailure:
        return NOT_DONE
    results = reals_at(values, count)
    for i in range(count):
        row = INPUTS + OUTPUT_WIDTH * i
        array = rows[row + OUTPUT_IN]
        at = rows[row + OUTPUT_AT]
        if array == IN_Y:
            results[i] = run.y[at]
        elif array == IN_P:
            results[i] = run.p[at]
        elif array == IN_D:
            results[i] = run.d[at]
        else:
            results[i] = run.c[at]
    return DONE
