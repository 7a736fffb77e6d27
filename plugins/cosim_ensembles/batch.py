"""Many whole runs of one system, one after the other, in one call that holds no lock.

A run is made of the same parts as in `simulate`: initialization, steps to the end, pending events there,
Termination; it is recorded on the grid alone. Before each run every array that it may read is set to its
start values, so a run does not depend on the runs before it. Each thread has a batch of its own.
"""

from __future__ import annotations

from cosim.kit import (
    ARRAYS,
    FAILED,
    GROW,
    REACHED,
    STEPPED,
    TERMINATED,
    advance_run,
    arrays_at,
    finish_run,
    initialize_run,
    integers_at,
    reals_at,
    record_run,
    recording,
)
from cosim_ensembles.batch_records import (
    ADVANCING,
    BEGUN,
    BYTES_PER_NUMBER,
    ENDED,
    FRESH,
    HISTORY,
    INTEGERS,
    PENDING,
    arrays_of_run,
    batches_at,
    changes_at,
    images_at,
)
from cosim_ensembles.batch_results import store_results

STRIDE = 1000
"""Steps after which `Batch.stop` is read again."""
STOPPED = 5
"""Returned by `run_batch` after a request to stop; no run has this code. The run that has begun is lost."""


def run_batch(handle, address, until):
    """Do the runs from ``batch.next`` on, up to ``batch.last``.

    Returns REACHED when all have ended, STOPPED after a request, or why run ``batch.next`` cannot go on:
    GROW, where `h` needs more room, or a failure.
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
    values = reals_at(batch.values_at + BYTES_PER_NUMBER * count * batch.next, count)
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
    if batch.phase == BEGUN:
        return start_run(run, batch)
    code = REACHED
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


def start_run(run, batch):
    """Initialize a run and record its first row: STEPPED, TERMINATED if a handler ends it, or a failure."""
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
