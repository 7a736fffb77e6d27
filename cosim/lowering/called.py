"""A run in this process, as others call it: functions of numbers alone, which find all arrays by an address.

``head`` has two integers for each array of `arrays.ARRAYS` (address and length), then those named below.
"""

from __future__ import annotations

import math

from cosim.compiled.foreign import integers_at, reals_at, table_at
from cosim.compiled.walker import call_step
from cosim.integration.layout import END
from cosim.lowering.agenda import next_time, row_of
from cosim.lowering.arrays import ARRAYS, Arrays
from cosim.lowering.codes import GROW, REACHED, STEPPED
from cosim.lowering.layout import (
    CAUSE,
    ENTRIES,
    FINISHED,
    FIRST,
    FIRST_ENTRY,
    HANDLED,
    JUMPED,
    LAST,
    MOTION,
    NOTHING,
    STAGE,
    STEP,
    TIME,
    TIME_ADVANCED,
    UPDATES_DONE,
)
from cosim.lowering.realize import DONE as STEP_DONE
from cosim.lowering.realize import realize_here
from cosim.lowering.run import BOTH_KINDS, advance_once
from cosim.lowering.updates import SCHEDULED, TRIGGERED

AHEAD, SMOOTH, KEPT, KEPT_SIZE, KEPT_K, KEPT_K_SIZE, HEAD = range(2 * len(ARRAYS), 2 * len(ARRAYS) + 7)
"""Whether the arrays are the present state; whether nothing but integration happens in a step; room for what
a step may have to go back to."""

INPUT_WIDTH = 3
"""Of an input: where in `d` its value and its slope lie, the stage that it leaves."""

STEP_CALL = "iffiiiii>i"
ARRAY_CALL = "iiiii>i"
DONE, NOT_DONE = 0, 3  # as FMI's OK and Error


def arrays_of(head):
    """All arrays of a run."""
    return Arrays(
        table_at(head[0], head[1]),
        integers_at(head[2], head[3]),
        table_at(head[4], head[5]),
        integers_at(head[6], head[7]),
        reals_at(head[8], head[9]),
        reals_at(head[10], head[11]),
        reals_at(head[12], head[13]),
        integers_at(head[14], head[15]),
        reals_at(head[16], head[17]),
        reals_at(head[18], head[19]),
        reals_at(head[20], head[21]),
        integers_at(head[22], head[23]),
        reals_at(head[24], head[25]),
        reals_at(head[26], head[27]),
        reals_at(head[28], head[29]),
        integers_at(head[30], head[31]),
        reals_at(head[32], head[33]),
        reals_at(head[34], head[35]),
        reals_at(head[36], head[37]),
        table_at(head[38], head[39]),
        integers_at(head[40], head[41]),
        integers_at(head[42], head[43]),
        integers_at(head[44], head[45]),
    )


def copy(source, target, at):
    """Copy an array to a place in another; the place behind it."""
    for m in range(source.shape[0]):
        target[at + m] = source[m]
    return at + source.shape[0]


def copy_back(source, at, target):
    """Copy an array from a place in another; the place behind it."""
    for m in range(target.shape[0]):
        target[m] = source[at + m]
    return at + target.shape[0]


def keep_step(a, head):
    """Note everything that a step changes; histories only get longer."""
    kept = reals_at(head[KEPT], head[KEPT_SIZE])
    at = copy(a.y, kept, 0)
    at = copy(a.p, kept, at)
    at = copy(a.d, kept, at)
    at = copy(a.memory, kept, at)
    copy(a.clock, kept, at)
    kept_k = integers_at(head[KEPT_K], head[KEPT_K_SIZE])
    at = copy(a.k, kept_k, 0)
    copy(a.agenda, kept_k, at)


def go_back(a, head):
    """The state before the step."""
    kept = reals_at(head[KEPT], head[KEPT_SIZE])
    at = copy_back(kept, 0, a.y)
    at = copy_back(kept, at, a.p)
    at = copy_back(kept, at, a.d)
    at = copy_back(kept, at, a.memory)
    copy_back(kept, at, a.clock)
    kept_k = integers_at(head[KEPT_K], head[KEPT_K_SIZE])
    at = copy_back(kept_k, 0, a.k)
    copy_back(kept_k, at, a.agenda)
    a.places[STAGE] = NOTHING


def is_noteworthy(a):
    """Whether handlers have run, or are about to run at this instant."""
    found = a.places[HANDLED] != 0
    for entry in range(a.program[ENTRIES]):
        cause = a.program[row_of(a, entry) + CAUSE]
        found = found or (cause == TRIGGERED and a.agenda[FIRST_ENTRY + entry] != 0)
        found = found or (cause == SCHEDULED and next_time(a, entry) <= a.clock[TIME])
    return found


def smooth_steps(a, head, stop):
    """Steps until `stop`, where nothing happens in them: as `advance_once`, without what is not there.

    A call of a function that is compiled by itself hands over a hundred and fifty words.
    """
    kept = reals_at(head[KEPT], head[KEPT_SIZE])
    if not stop > a.clock[TIME]:
        return NOT_DONE
    while a.clock[TIME] < stop:
        if realize_here(a, MOTION) != 0:
            return NOT_DONE
        a.clock[JUMPED] = 0.0
        copy(a.memory, kept, copy(a.y, kept, 0))
        schedule = (
            a.table,
            a.ints,
            a.program[FIRST],
            a.program[LAST],
            a.clock[TIME],
            a.y,
            a.p,
            a.d,
            a.k,
            a.h,
            a.c,
        )
        method = (a.coefficients, a.settings, a.memory, a.work, a.slots, stop, math.inf)
        code = call_step(a.program[STEP], schedule + method)
        if code != STEP_DONE:
            copy_back(kept, copy_back(kept, 0, a.y), a.memory)
            a.places[STAGE] = NOTHING
            return NOT_DONE
        a.clock[TIME] = a.work[END]
        a.places[STAGE] = MOTION
        a.agenda[UPDATES_DONE] = 0
        a.agenda[TIME_ADVANCED] = BOTH_KINDS
        a.agenda[FINISHED] = 0
    return DONE


def called_step(handle, start, length, flag, first, second, third, fourth):
    """Advance to ``start + length``; DONE, or NOT_DONE: the Simulator has to go on from the present state.

    That is where everything was as usual: what is not, the Simulator sees with its own eyes.
    """
    head = integers_at(handle, HEAD)
    if head[AHEAD] == 0:
        return NOT_DONE
    a = arrays_of(head)
    stop = start + length
    if head[SMOOTH] != 0:
        return smooth_steps(a, head, stop)
    code = STEPPED
    while code == STEPPED:
        keep_step(a, head)
        a.places[HANDLED] = 0
        code = advance_once(a, stop)
        if code == GROW:
            return NOT_DONE
        if (code != STEPPED and code != REACHED) or is_noteworthy(a):
            go_back(a, head)
            return NOT_DONE
    return DONE


def called_set(handle, inputs, count, values, size):
    """Write inputs; what is the same as before is not written again."""
    head = integers_at(handle, HEAD)
    if head[AHEAD] == 0:
        return NOT_DONE
    a = arrays_of(head)
    rows = integers_at(inputs, 1 + INPUT_WIDTH * count)
    known = reals_at(rows[0], count)
    given = reals_at(values, count)
    for i in range(count):
        if given[i] != known[i]:
            at = 1 + INPUT_WIDTH * i
            known[i] = given[i]
            a.d[rows[at]] = given[i]
            a.d[rows[at + 1]] = math.nan
            a.clock[JUMPED] = 1.0
            a.places[STAGE] = min(a.places[STAGE], rows[at + 2])
    return DONE


def called_get(handle, outputs, count, values, size):
    """Read variables, realized with the present inputs."""
    head = integers_at(handle, HEAD)
    if head[AHEAD] == 0:
        return NOT_DONE
    a = arrays_of(head)
    rows = integers_at(outputs, 1 + 2 * count)
    if realize_here(a, rows[0]) != 0:
        return NOT_DONE
    found = reals_at(values, count)
    for i in range(count):
        array = rows[1 + 2 * i]
        at = rows[2 + 2 * i]
        if array == 0:
            found[i] = a.y[at]
        elif array == 1:
            found[i] = a.p[at]
        elif array == 2:
            found[i] = a.d[at]
        else:
            found[i] = a.c[at]
    return DONE
