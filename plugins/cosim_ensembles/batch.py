"""Many whole runs of one system, one after the other, in one call that holds no lock.

A run is what `simulate` does: initialize, steps to the end, what is pending there, Termination; recorded on
the grid alone. Before each run every array that it may read is made what it was at the start, so a run does
not depend on the runs before it. Threads have a batch each.

A `Batch` says which runs, from where they begin and where their results go; what lies elsewhere stands in it
as an address.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from cosim.kit import (
    ARRAYS,
    FAILED,
    GRID_WIDTH,
    GROW,
    REACHED,
    STEPPED,
    TERMINATED,
    ArrayPlace,
    Record,
    advance_run,
    arrays_at,
    finish_run,
    indirect_call,
    initialize_run,
    integers_at,
    place_in,
    reals_at,
    record_run,
    recording,
    rows_of,
    width_of,
)


class Batch(Record):
    """Runs that are done in one call."""

    next: int  # the run that is next or has begun
    last: int  # the one behind the last
    phase: int  # how far the run is: FRESH …
    stop: int  # address of an integer: not 0 where all threads are to stop
    images: int  # how many, and where
    images_at: int
    room: int  # of `h`: how long it may become before Python has to make it longer
    changes: int  # how many variables differ from run to run, where they are listed, their values by run
    changes_at: int
    values_at: int
    points: int  # of the grid
    series_at: int  # values by run, point and signal; 0: they are not kept
    final_at: int  # values by run and signal, at the end
    reductions: int  # how many, where they are listed, their results by run
    reductions_at: int
    reduced_at: int
    columns_at: int  # room for the times and columns of a reduction
    codes_at: int  # by run: its code, the time at its end (s), its counts
    ends_at: int
    counts_at: int


class Image(Record):
    """An array as it is at the start of each run."""

    array: int  # its number among those of a run
    at: int
    length: int


class Change(Record):
    """A variable that differs from run to run."""

    array: int  # its number among those of a run
    place: int


class ListedReduction(Record):
    """A reduction: its address, and the columns that it takes."""

    function: int
    columns_at: int
    columns: int


class RunCounts(Record):
    """The counts of a run."""

    steps: int
    events: int


FRESH, BEGUN, ADVANCING, PENDING, ENDING, ENDED = range(6)
"""The stages of a run."""
STRIDE = 1000
"""Steps; then `Batch.stop` is read again."""
STOPPED = 5
"""The return value of `run_batch` after a request to stop; the run that has begun is lost."""

BATCH_SIGNATURE = "iif>i"
REDUCTION_SIGNATURE = "FF>f"
"""The signature of a reduction: times, and the values of its signals, one signal behind the other."""
NAMES = [name for name, _, _ in ARRAYS]
HISTORY, INTEGERS = NAMES.index("h"), NAMES.index("k")
HISTORY_LENGTH = width_of(ArrayPlace) * HISTORY + place_in(ArrayPlace, "length")
"""The place of the length of `h` in `CompiledStep.head`."""


call_reduction = indirect_call(REDUCTION_SIGNATURE)
"""Call the reduction at that address; `arguments` is the tuple *(times, values)*."""


def rows_at(kind: type[Record]) -> Callable[..., Any]:
    """A kernel function that finds records of a kind by their address."""
    width = width_of(kind)

    def find_rows(address, count):
        return rows_of(kind, integers_at(address, width * count), 0, count)

    return find_rows


batches_at, arrays_of_run, images_at, changes_at, reductions_at, counts_at = map(
    rows_at, (Batch, ArrayPlace, Image, Change, ListedReduction, RunCounts)
)


def run_batch(handle, address, until):
    """Run from ``batch.next`` to ``batch.last``.

    REACHED when all have ended, STOPPED, or a code of a run that cannot go on (``batch.next``): GROW, where
    `h` needs more room, or a failure.
    """
    batch = batches_at(address, 1)[0]
    stop = integers_at(batch.stop, 1)
    while batch.next < batch.last:
        if stop[0] != 0:
            return STOPPED
        if batch.phase == FRESH:
            reset_arrays(handle, batch)
        code = continue_run(arrays_at(handle), batch, until)
        if code == GROW:
            if not lengthen_history(handle, batch):
                return GROW
        elif code >= FAILED:
            store_results(arrays_at(handle), batch, code)
            return code
        elif code != STEPPED:
            store_results(arrays_at(handle), batch, code)
            batch.next += 1
            batch.phase = FRESH
    return REACHED


def reset_arrays(handle, batch):
    """Set all arrays to the start of this run."""
    arrays = arrays_of_run(handle, len(ARRAYS))
    for image in images_at(batch.images_at, batch.images):
        start = integers_at(image.at, image.length)
        array = integers_at(arrays[image.array].address, image.length)
        for m in range(image.length):
            array[m] = start[m]
        if image.array == HISTORY:
            arrays[HISTORY].length = image.length
    changes = changes_at(batch.changes_at, batch.changes)
    count = len(changes)
    values = reals_at(batch.values_at + 8 * count * batch.next, count)
    for i in range(count):
        change = changes[i]
        if change.array == INTEGERS:
            integers_at(arrays[INTEGERS].address, change.place + 1)[change.place] = int(values[i])
        else:
            reals_at(arrays[change.array].address, change.place + 1)[change.place] = values[i]
    batch.phase = BEGUN


def lengthen_history(handle, batch):
    """Make `h` as long as the run needs, where there is room; whether there was."""
    length = arrays_at(handle).failure.needed
    if length > batch.room:
        return False
    history = arrays_of_run(handle, len(ARRAYS))[HISTORY]
    size = history.length
    numbers = reals_at(history.address, length)
    for m in range(size, length):
        numbers[m] = 0.0
    history.length = length
    return True


def continue_run(run, batch, until):
    """Make some steps of a run: STEPPED if there are more, otherwise as `run_batch`."""
    run.course.most_steps = STRIDE
    run.course.suppressed = 0
    code = REACHED
    if batch.phase == BEGUN:
        code = initialize_run(run, run.clock.time)
        if code == TERMINATED:
            code = finish_run(run, 0.0)
            batch.phase = ENDED
        elif code == REACHED:
            batch.phase = ADVANCING
        if code != REACHED:
            return code
        run.output_grid.point = 1.0
        run.output.rows_used = 0
        run.output.recording = recording.ON_GRID_ALONE
        code = record_run(run, 0.0)
        if code != REACHED:
            return code
        return TERMINATED if batch.phase == ENDED else STEPPED
    if batch.phase == ADVANCING:
        code = advance_run(run, until)
        if code == REACHED:
            batch.phase = PENDING
        elif code != TERMINATED:
            return code
    if batch.phase == PENDING:
        # a step of length zero, for what is due at the end
        run.output.recording = recording.NO_ROWS
        run.course.most_steps = 1
        code = advance_run(run, until)
        if code != REACHED and code != TERMINATED:
            return code
    ended = finish_run(run, 0.0)
    return code if ended == REACHED else ended


def store_results(run, batch, code):
    """Store the results of a run: rows of the grid, values at its end, reductions, code and counts."""
    number = batch.next
    width = run.chosen.values
    points = batch.points
    count = run.output.rows_used // (1 + width)
    run.output.recording = recording.NO_ROWS
    if batch.series_at != 0:
        series = reals_at(batch.series_at + 8 * number * points * width, points * width)
        for i in range(points):
            for j in range(width):
                value = math.nan
                if i < count:
                    value = run.rows[GRID_WIDTH + i * (1 + width) + 1 + j]
                series[i * width + j] = value
    integers_at(batch.codes_at, number + 1)[number] = code
    reals_at(batch.ends_at, number + 1)[number] = run.clock.time
    counts = counts_at(batch.counts_at, number + 1)[number]
    counts.steps = run.counts.steps
    counts.events = run.counts.events
    if code == TERMINATED:
        # where a handler has stopped the run, perhaps between two points of the grid
        newest = run.rows[GRID_WIDTH + (count - 1) * (1 + width)]
        if newest != run.clock.time and record_run(run, 0.0) == 0:
            count += 1
    final = reals_at(batch.final_at + 8 * number * width, width)
    for j in range(width):
        final[j] = math.nan
        if code < FAILED and count > 0:
            final[j] = run.rows[GRID_WIDTH + (count - 1) * (1 + width) + 1 + j]
    if batch.reductions > 0:
        reduce_run(run, batch, code, count)


def reduce_run(run, batch, code, count):
    """The reductions of a run; NaN where it has failed."""
    number = batch.next
    width = 1 + run.chosen.values
    reductions = reductions_at(batch.reductions_at, batch.reductions)
    reduced = reals_at(batch.reduced_at + 8 * number * batch.reductions, batch.reductions)
    times = reals_at(batch.columns_at, count)
    for i in range(count):
        times[i] = run.rows[GRID_WIDTH + i * width]
    for r in range(batch.reductions):
        reduced[r] = math.nan
        if code >= FAILED or count == 0:
            continue
        reduction = reductions[r]
        listed = integers_at(reduction.columns_at, reduction.columns)
        values = reals_at(batch.columns_at + 8 * count, count * reduction.columns)
        for j in range(reduction.columns):
            for i in range(count):
                values[j * count + i] = run.rows[GRID_WIDTH + i * width + 1 + listed[j]]
        reduced[r] = call_reduction(reduction.function, (times, values))
