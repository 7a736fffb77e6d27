"""Many whole runs of one system, one after the other, in one call that holds no lock.

A run is what `simulate` does: initialize, steps to the end, what is pending there, Termination; recorded on
the grid alone. Before each run every array that it may read is made what it was at the start, so a run does
not depend on the runs before it. Threads have a batch each.

``batch`` is an array of integers with the names below; addresses stand in it, and places of arrays by their
order in `run.ARRAYS`.
"""

from __future__ import annotations

import math

from cosim.kit import (
    ADDRESS,
    ARRAY_WIDTH,
    ARRAYS,
    FAILED,
    GRID_WIDTH,
    GROW,
    LENGTH,
    REACHED,
    STEPPED,
    TERMINATED,
    advance_run,
    arrays_at,
    finish_run,
    indirect_call,
    initialize_run,
    integers_at,
    reals_at,
    record_run,
    records,
)

(
    NEXT, LAST, PHASE,  # the run that is next or has begun, the one behind the last, how far it is
    STOP,  # address of an integer: not 0 where all threads are to stop
    IMAGES, IMAGES_AT,  # arrays as they are at the start: rows of array, address, length
    ROOM,  # of `h`: how long it may become before Python has to make it longer
    CHANGES, CHANGES_AT, CHANGED_VALUES,  # what differs: rows of array and place; values, by run
    POINTS,  # of the grid
    SERIES,  # address of values by run, point and signal, or 0
    FINAL,  # address of values by run and signal, at the end
    REDUCTIONS, REDUCTIONS_AT, REDUCED,  # rows of function, address and number of columns; results, by run
    COLUMNS,  # address of room for the times and columns of a reduction
    CODES, ENDS, COUNTS,  # by run: code, time at the end (s), steps and events
    BATCH_SIZE,
) = range(21)  # fmt: skip
FRESH, BEGUN, ADVANCING, PENDING, ENDING, ENDED = range(6)  # PHASE
IMAGE_OF, IMAGE_AT, IMAGE_LENGTH, IMAGE_WIDTH = range(4)
CHANGED_IN, CHANGED_PLACE, CHANGE_WIDTH = range(3)
FUNCTION, LISTED_AT, COLUMN_COUNT, REDUCTION_WIDTH = range(4)
COUNT_WIDTH = 2
STRIDE = 1000  # steps between looks at STOP
STOPPED = 5
"""What `run_batch` answers where it was asked to stop; the run that has begun is lost."""

BATCH_SIGNATURE = "iif>i"
REDUCTION_SIGNATURE = "FF>f"
"""Of a reduction: times, and the values of its signals, one signal behind the other."""
HISTORY = ARRAY_WIDTH * [name for name, _, _ in ARRAYS].index("h")
INTEGERS = [name for name, _, _ in ARRAYS].index("k")


call_reduction = indirect_call(REDUCTION_SIGNATURE)
"""Call the reduction at that address; `arguments` is the tuple *(times, values)*."""


def run_batch(handle, batch, until):
    """Run from NEXT to LAST.

    REACHED when all have ended, STOPPED, or a code of a run that cannot go on (its number is NEXT): GROW,
    where `h` needs more room, or a failure.
    """
    o = integers_at(batch, BATCH_SIZE)
    stop = integers_at(o[STOP], 1)
    while o[NEXT] < o[LAST]:
        if stop[0] != 0:
            return STOPPED
        if o[PHASE] == FRESH:
            begin_run(handle, o)
        code = go_on(arrays_at(handle), o, until)
        if code == GROW:
            if not make_longer(handle, o):
                return GROW
        elif code >= FAILED:
            end_run(arrays_at(handle), o, code)
            return code
        elif code != STEPPED:
            end_run(arrays_at(handle), o, code)
            o[NEXT] += 1
            o[PHASE] = FRESH
    return REACHED


def begin_run(handle, o):
    """Make all arrays what they are at the start of this run."""
    head = integers_at(handle, ARRAY_WIDTH * len(ARRAYS))
    images = integers_at(o[IMAGES_AT], IMAGE_WIDTH * o[IMAGES])
    for i in range(o[IMAGES]):
        at = ARRAY_WIDTH * images[IMAGE_WIDTH * i + IMAGE_OF]
        size = images[IMAGE_WIDTH * i + IMAGE_LENGTH]
        image = integers_at(images[IMAGE_WIDTH * i + IMAGE_AT], size)
        target = integers_at(head[at + ADDRESS], size)
        for m in range(size):
            target[m] = image[m]
        if at == HISTORY:
            head[at + LENGTH] = size
    changes = integers_at(o[CHANGES_AT], CHANGE_WIDTH * o[CHANGES])
    count = o[CHANGES]
    values = reals_at(o[CHANGED_VALUES] + 8 * count * o[NEXT], count)
    for i in range(count):
        array = changes[CHANGE_WIDTH * i + CHANGED_IN]
        at = changes[CHANGE_WIDTH * i + CHANGED_PLACE]
        if array == INTEGERS:
            integers_at(head[ARRAY_WIDTH * array + ADDRESS], at + 1)[at] = int(values[i])
        else:
            reals_at(head[ARRAY_WIDTH * array + ADDRESS], at + 1)[at] = values[i]
    o[PHASE] = BEGUN


def make_longer(handle, o):
    """Make `h` as long as the run needs, where there is room; whether there was."""
    a = arrays_at(handle)
    length = a.failure.needed
    if length > o[ROOM]:
        return False
    head = integers_at(handle, ARRAY_WIDTH * len(ARRAYS))
    size = head[HISTORY + LENGTH]
    h = reals_at(head[HISTORY + ADDRESS], length)
    for m in range(size, length):
        h[m] = 0.0
    head[HISTORY + LENGTH] = length
    return True


def go_on(a, o, until):
    """Some steps of a run: STEPPED where there are more, otherwise as `run_batch`."""
    a.course.most_steps = STRIDE
    a.course.suppressed = 0
    code = REACHED
    if o[PHASE] == BEGUN:
        code = initialize_run(a, a.clock.time)
        if code == TERMINATED:
            code = finish_run(a, 0.0)
            o[PHASE] = ENDED
        elif code == REACHED:
            o[PHASE] = ADVANCING
        if code != REACHED:
            return code
        a.output_grid.point = 1.0
        a.output.rows_used = 0
        a.output.recording = records.ON_GRID_ALONE
        code = record_run(a, 0.0)
        if code != REACHED:
            return code
        return TERMINATED if o[PHASE] == ENDED else STEPPED
    if o[PHASE] == ADVANCING:
        code = advance_run(a, until)
        if code == REACHED:
            o[PHASE] = PENDING
        elif code != TERMINATED:
            return code
    if o[PHASE] == PENDING:
        # a step of length zero, for what is due at the end
        a.output.recording = records.NO_ROWS
        a.course.most_steps = 1
        code = advance_run(a, until)
        if code != REACHED and code != TERMINATED:
            return code
    ended = finish_run(a, 0.0)
    return code if ended == REACHED else ended


def end_run(a, o, code):
    """Write what a run has left: rows of the grid, values at its end, reductions, code and counts."""
    run = o[NEXT]
    width = a.chosen.values
    points = o[POINTS]
    count = a.output.rows_used // (1 + width)
    a.output.recording = records.NO_ROWS
    if o[SERIES] != 0:
        series = reals_at(o[SERIES] + 8 * run * points * width, points * width)
        for i in range(points):
            for j in range(width):
                value = math.nan
                if i < count:
                    value = a.rows[GRID_WIDTH + i * (1 + width) + 1 + j]
                series[i * width + j] = value
    integers_at(o[CODES], run + 1)[run] = code
    reals_at(o[ENDS], run + 1)[run] = a.clock.time
    counts = integers_at(o[COUNTS], COUNT_WIDTH * (run + 1))
    counts[COUNT_WIDTH * run] = a.counts.steps
    counts[COUNT_WIDTH * run + 1] = a.counts.events
    if code == TERMINATED:
        # where a handler has stopped the run, perhaps between two points of the grid
        newest = a.rows[GRID_WIDTH + (count - 1) * (1 + width)]
        if newest != a.clock.time and record_run(a, 0.0) == 0:
            count += 1
    final = reals_at(o[FINAL] + 8 * run * width, width)
    for j in range(width):
        final[j] = math.nan
        if code < FAILED and count > 0:
            final[j] = a.rows[GRID_WIDTH + (count - 1) * (1 + width) + 1 + j]
    if o[REDUCTIONS] > 0:
        reduce_run(a, o, code, count)


def reduce_run(a, o, code, count):
    """The reductions of a run; NaN where it has failed."""
    run = o[NEXT]
    width = 1 + a.chosen.values
    rows = integers_at(o[REDUCTIONS_AT], REDUCTION_WIDTH * o[REDUCTIONS])
    reduced = reals_at(o[REDUCED] + 8 * run * o[REDUCTIONS], o[REDUCTIONS])
    times = reals_at(o[COLUMNS], count)
    for i in range(count):
        times[i] = a.rows[GRID_WIDTH + i * width]
    for r in range(o[REDUCTIONS]):
        reduced[r] = math.nan
        if code >= FAILED or count == 0:
            continue
        columns = rows[REDUCTION_WIDTH * r + COLUMN_COUNT]
        listed = integers_at(rows[REDUCTION_WIDTH * r + LISTED_AT], columns)
        values = reals_at(o[COLUMNS] + 8 * count, count * columns)
        for j in range(columns):
            for i in range(count):
                values[j * count + i] = a.rows[GRID_WIDTH + i * width + 1 + listed[j]]
        reduced[r] = call_reduction(rows[REDUCTION_WIDTH * r + FUNCTION], (times, values))
