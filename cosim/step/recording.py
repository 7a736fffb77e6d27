"""Recording: values of chosen variables at output times, where steps end, and on both sides of events.

On the grid alone, a row for each output time, the value is that after the events of the instant.

``choice`` has a header (the names below), then a row for each value: its array and its offset; then the
blocks that compute these values inside a step, and those that compute them where the motion is known.
``rows`` has a header, then rows: a time and the values. When there is no room, Python takes all rows
(`DRAIN_ROWS`).
"""

from __future__ import annotations

from cosim.contracts.method_layout import START as STEP_START
from cosim.step import layout as ix
from cosim.step.agenda import next_time
from cosim.step.arrays import Arrays, Reals
from cosim.step.evaluation import copy_cache, probed, walk_rows
from cosim.step.event_log import DRAIN_ROWS
from cosim.step.histories import exchange_swapped, swaps_reach_instance
from cosim.step.layout import INTERVAL, ORIGIN, POINT, ROWS_HEADER, UNTIL
from cosim.step.realize import complete, interpolate, realize
from cosim.walker import call_python

VALUES, VALUES_AT, INNER, INNER_AT, OUTER, OUTER_AT, CHOICE_HEADER = range(7)
VALUE_IN, VALUE_AT, VALUE_WIDTH = range(3)  # of each: which array, where in it
SLACK = 1e-9  # of the interval: times closer than that are one
TRIGGERED, SCHEDULED = 2, 3


def has_pending_updates(a: Arrays) -> bool:
    """Whether the next step begins with an update that is not one of every step."""
    found = False
    for handler in a.handlers:
        cause = handler.cause
        if handler.does != ix.PUBLISH:
            found = found or (cause == TRIGGERED and a.next_index[handler.number] != 0)
            found = found or (cause == SCHEDULED and next_time(a, handler) <= a.clock[ix.TIME])
    return found


def write_row(a: Arrays, t: float, y: Reals, c: Reals) -> int:
    """A row with the values of `y` and `c`."""
    count = a.choice[VALUES]
    if ROWS_HEADER + a.places[ix.ROWS_USED] + 1 + count > a.rows.shape[0]:
        call_python(a.program[ix.DRAIN], (DRAIN_ROWS,))
    at = ROWS_HEADER + a.places[ix.ROWS_USED]
    a.places[ix.ROWS_USED] += 1 + count
    a.rows[at] = t
    for i in range(count):
        row = a.choice[VALUES_AT] + VALUE_WIDTH * i
        array = a.choice[row + VALUE_IN]
        offset = a.choice[row + VALUE_AT]
        if array == ix.IN_Y:
            a.rows[at + 1 + i] = y[offset]
        elif array == ix.IN_P:
            a.rows[at + 1 + i] = a.p[offset]
        elif array == ix.IN_D:
            a.rows[at + 1 + i] = a.d[offset]
        elif array == ix.IN_K:
            a.rows[at + 1 + i] = float(a.k[offset])
        else:
            a.rows[at + 1 + i] = c[offset]
    return 0


def record_now(a: Arrays) -> int:
    """Record the present state; 0 or a code."""
    code = realize(a, ix.MOTION)
    if code != 0:
        return code
    code = walk_listed(a, OUTER, a.clock[ix.TIME], a.y, a.c)
    return write_row(a, a.clock[ix.TIME], a.y, a.c) if code == 0 else code


def walk_listed(a: Arrays, which: int, t: float, y: Reals, c: Reals) -> int:
    """Call the blocks that the chosen values need; 0 or a code."""
    for i in range(a.choice[which]):
        block = a.choice[a.choice[which + 1] + i]
        code = walk_rows(a, block, block + 1, t, y, c)
        if code != 0:
            return code
    return 0


def record_step(a: Arrays) -> int:
    """Record what belongs to the step that has ended; 0 or a code."""
    now = a.clock[ix.TIME]
    if a.places[ix.RECORDING] == ix.AT_STEPS:
        return record_now(a)
    if a.places[ix.RECORDING] == ix.AT_EVENTS:
        return record_now(a) if has_pending_updates(a) else 0
    origin = a.rows[ORIGIN]
    interval = a.rows[INTERVAL]
    if origin + a.rows[POINT] * interval < now - SLACK * interval:
        exchange_swapped(a)
        code = record_all_inside(a, now)
        exchange_swapped(a)
        if code != 0:
            return code
    on_grid = origin + a.rows[POINT] * interval <= now + SLACK * interval
    if on_grid:
        a.rows[POINT] += 1.0
    if on_grid or now >= a.rows[UNTIL]:
        return record_now(a)
    if a.places[ix.RECORDING] == ix.ON_GRID and has_pending_updates(a):
        return record_now(a)
    return 0


def record_update(a: Arrays) -> int:
    """Record what updates have made of the present state; 0 or a code."""
    if a.places[ix.RECORDING] == ix.ON_GRID_ALONE:
        last = a.places[ix.ROWS_USED] - 1 - a.choice[VALUES]
        if last < 0 or a.rows[ROWS_HEADER + last] != a.clock[ix.TIME]:
            return 0
        a.places[ix.ROWS_USED] = last
    return record_now(a)


def record_all_inside(a: Arrays, now: float) -> int:
    """Record the times inside the last step, with the variables that it had; 0 or a code."""
    code = complete(a)
    if code == 0 and a.choice[INNER] > 0:
        code = probe_last_step(a)
    while code == 0 and a.rows[ORIGIN] + a.rows[POINT] * a.rows[INTERVAL] < now - SLACK * a.rows[INTERVAL]:
        code = record_inside(a, a.rows[ORIGIN] + a.rows[POINT] * a.rows[INTERVAL])
        if code == 0:
            a.rows[POINT] += 1.0
    return code


def probe_last_step(a: Arrays) -> int:
    """Fill the cache of times inside the step with what does not vary in it; 0 or a code."""
    _, c = probed(a)
    copy_cache(a, a.c, c)
    if swaps_reach_instance(a):
        return walk_rows(a, a.program[ix.ALL], a.program[ix.FIRST], a.clock[ix.TIME], a.y, c)
    return 0


def record_inside(a: Arrays, t: float) -> int:
    """Record a time inside the last step, on the dense output; 0 or a code."""
    interpolate(a, max(t, a.work[STEP_START]), a.work)
    y, c = probed(a)
    code = walk_listed(a, INNER, t, y, c)
    return write_row(a, t, y, c) if code == 0 else code
