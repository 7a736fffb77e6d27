"""Recording: values of chosen variables at output times, where steps end, and on both sides of events.

On the grid alone, a row for each output time, the value is that after the events of the instant.

``rows`` has an `OutputGrid`, then rows: a time and the values. When there is no room, Python takes all rows
(`DRAIN_ROWS`).
"""

from __future__ import annotations

from cosim.run_data.records.evaluation import MOTION
from cosim.run_data.records.handlers import IN_D, IN_K, IN_P, IN_Y, PUBLISH, SCHEDULED, TRIGGERED
from cosim.run_data.records.recording import AT_EVENTS, AT_STEPS, ON_GRID, ON_GRID_ALONE
from cosim.run_data.run import GRID_WIDTH, Integers, Reals, Run
from cosim.step.agenda import next_time
from cosim.step.block_calls import copy_cache, probed, walk_rows
from cosim.step.event_log import DRAIN_ROWS, ROW_DROPPED, ROW_WRITTEN
from cosim.step.failures import followed_by
from cosim.step.histories import exchange_swapped, swaps_reach_instance
from cosim.step.integration import complete, numbers_of_method
from cosim.step.realize import realize
from cosim.step.tape import log_mark
from cosim.walker import call_dense, call_python

SLACK = 1e-9  # of the interval: times closer than that are one


def has_pending_updates(run: Run) -> bool:
    """Whether the next step begins with an update that is not one of every step."""
    is_pending = False
    for handler in run.handlers:
        cause = handler.cause
        if handler.kind != PUBLISH:
            is_pending = is_pending or (cause == TRIGGERED and run.next_index[handler.number] != 0)
            is_pending = is_pending or (cause == SCHEDULED and next_time(run, handler) <= run.clock.time)
    return is_pending


def write_row(run: Run, t: float, y: Reals, c: Reals, is_inside: bool) -> None:
    """Write a row with the chosen values, those of `y` and `c` among them."""
    log_mark(run, ROW_WRITTEN, t, 1.0 if is_inside else 0.0, 0.0)
    width = 1 + run.chosen.values
    if GRID_WIDTH + run.output.rows_used + width > run.rows.shape[0]:
        call_python(run.plan.call_drain, (DRAIN_ROWS,))
    at = GRID_WIDTH + run.output.rows_used
    run.output.rows_used += width
    run.rows[at] = t
    for value in run.chosen_values:
        at += 1
        if value.array == IN_Y:
            run.rows[at] = y[value.offset]
        elif value.array == IN_P:
            run.rows[at] = run.p[value.offset]
        elif value.array == IN_D:
            run.rows[at] = run.d[value.offset]
        elif value.array == IN_K:
            run.rows[at] = float(run.k[value.offset])
        else:
            run.rows[at] = c[value.offset]


def record_now(run: Run) -> None:
    """Record the present state."""
    realize(run, MOTION)
    walk_blocks(run, run.blocks_outside, run.clock.time, run.y, run.c)
    write_row(run, run.clock.time, run.y, run.c, False)


def walk_blocks(run: Run, blocks: Integers, t: float, y: Reals, c: Reals) -> None:
    """Call the blocks that the chosen values need."""
    for block in blocks:
        walk_rows(run, block, block + 1, t, y, c)


def record_step(run: Run) -> None:
    """Record what belongs to the step that has ended."""
    if run.output.recording == AT_STEPS:
        record_now(run)
        return
    if run.output.recording == AT_EVENTS:
        if has_pending_updates(run):
            record_now(run)
        return
    now = run.clock.time
    slack = SLACK * run.output_grid.interval
    if run.output_grid.next_time() < now - slack:
        record_all_inside(run, now - slack)
    on_grid = run.output_grid.next_time() <= now + slack
    if on_grid:
        run.output_grid.point += 1.0
    is_wanted = on_grid or now >= run.output_grid.until
    if is_wanted or (run.output.recording == ON_GRID and has_pending_updates(run)):
        record_now(run)


def record_update(run: Run) -> None:
    """Record what updates have made of the present state."""
    if run.output.recording == ON_GRID_ALONE:
        last = run.output.rows_used - 1 - run.chosen.values
        if last < 0 or run.rows[GRID_WIDTH + last] != run.clock.time:
            return
        run.output.rows_used = last
        log_mark(run, ROW_DROPPED, run.clock.time, 0.0, 0.0)
    record_now(run)


def record_all_inside(run: Run, end: float) -> None:
    """Record the output times inside the last step that come before `end`, with the variables that it had."""
    exchange_swapped(run)
    record_and_exchange(run, end)


def record_until(run: Run, end: float) -> None:
    """Record the output times inside the last step that come before `end`."""
    complete(run)
    if run.chosen.inside > 0:
        probe_last_step(run)
    coefficients, _ = numbers_of_method(run)
    t = run.output_grid.next_time()
    while t < end:
        record_inside(run, t, coefficients)
        run.output_grid.point += 1.0
        t = run.output_grid.next_time()


record_and_exchange = followed_by(record_until, exchange_swapped)


def probe_last_step(run: Run) -> None:
    """Fill the cache of times inside the step with what does not vary in it."""
    _, c = probed(run)
    copy_cache(run, run.c, c)
    if swaps_reach_instance(run):
        walk_rows(run, run.plan.first_row, run.plan.derivatives.first, run.clock.time, run.y, c)


def record_inside(run: Run, t: float, coefficients: Reals) -> None:
    """Record a time inside the last step, on the dense output; `coefficients` are those of the method."""
    y, c = probed(run)
    call_dense(run.plan.method.dense, (max(t, run.last_step.start), coefficients, run.work, y, y))
    walk_blocks(run, run.blocks_inside, t, y, c)
    write_row(run, t, y, c, True)
