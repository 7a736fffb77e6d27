"""What is stored of each run of a batch: its signals, its end, its counts and its reductions."""

from __future__ import annotations

import math

from cosim.kit import (
    FAILED,
    GRID_WIDTH,
    TERMINATED,
    indirect_call,
    integers_at,
    reals_at,
    record_run,
    recording,
)
from cosim_ensembles.batch_records import BYTES_PER_NUMBER, REDUCTION_SIGNATURE, counts_at, reductions_at

call_reduction = indirect_call(REDUCTION_SIGNATURE)
"""Call the reduction at that address; `arguments` is the tuple *(times, values)*."""


def store_results(run, batch, code):
    """Store the results of a run: rows of the grid, values at its end, reductions, code and counts."""
    row_width = 1 + run.chosen.values
    count = run.output.rows_used // row_width
    run.output.recording = recording.NO_ROWS
    if batch.series_at != 0:
        store_series(run, batch, count)
    store_end(run, batch, code)
    if code == TERMINATED:
        # where a handler has stopped the run, perhaps between two points of the grid
        newest = run.rows[GRID_WIDTH + (count - 1) * row_width]
        if newest != run.clock.time and record_run(run, 0.0) == 0:
            count += 1
    store_final(run, batch, code, count)
    if batch.reductions > 0:
        reduce_run(run, batch, code, count)


def store_series(run, batch, count):
    """Store the values of all signals at each point of the grid; NaN at those that the run did not reach."""
    width = run.chosen.values
    size = batch.points * width
    series = reals_at(batch.series_at + BYTES_PER_NUMBER * batch.next * size, size)
    for i in range(batch.points):
        for j in range(width):
            value = math.nan
            if i < count:
                value = run.rows[GRID_WIDTH + i * (1 + width) + 1 + j]
            series[i * width + j] = value


def store_end(run, batch, code):
    """Store how a run has ended, when, and its counts."""
    number = batch.next
    integers_at(batch.codes_at, number + 1)[number] = code
    reals_at(batch.ends_at, number + 1)[number] = run.clock.time
    counts = counts_at(batch.counts_at, number + 1)[number]
    counts.steps = run.counts.steps
    counts.events = run.counts.events


def store_final(run, batch, code, count):
    """Store the values of all signals in the last row; NaN where the run has failed."""
    width = run.chosen.values
    final = reals_at(batch.final_at + BYTES_PER_NUMBER * batch.next * width, width)
    for j in range(width):
        final[j] = math.nan
        if code < FAILED and count > 0:
            final[j] = run.rows[GRID_WIDTH + (count - 1) * (1 + width) + 1 + j]


def reduce_run(run, batch, code, count):
    """The reductions of a run; NaN where it has failed."""
    row_width = 1 + run.chosen.values
    reductions = reductions_at(batch.reductions_at, batch.reductions)
    reduced = reals_at(batch.reduced_at + BYTES_PER_NUMBER * batch.next * batch.reductions, batch.reductions)
    times = reals_at(batch.columns_at, count)
    for i in range(count):
        times[i] = run.rows[GRID_WIDTH + i * row_width]
    for r in range(batch.reductions):
        reduced[r] = math.nan
        if code >= FAILED or count == 0:
            continue
        reduction = reductions[r]
        listed = integers_at(reduction.columns_at, reduction.columns)
        values = reals_at(batch.columns_at + BYTES_PER_NUMBER * count, count * reduction.columns)
        for j in range(reduction.columns):
            for i in range(count):
                values[j * count + i] = run.rows[GRID_WIDTH + i * row_width + 1 + listed[j]]
        reduced[r] = call_reduction(reduction.function, (times, values))
