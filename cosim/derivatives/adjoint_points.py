"""Going back over what a step has remembered inside itself: points of its dense output, and needed ones.

These points are repeated, on a tape. Each operation puts on it what going back needs, then the number of the
point and what was done (`INTERPOLATE` …). The tape ends with the count of operations, so going back takes
them one after the other from its end.
"""

from __future__ import annotations

import math

from cosim.component.history import BEFORE, INSIDE, REFINED, margin
from cosim.derivatives.adjoint_memory import reverse_loaded_swaps, reverse_stored_swaps
from cosim.derivatives.adjoint_parts import add_to, record_at
from cosim.derivatives.carrier import ALONG, Dual, method_of, part_of
from cosim.derivatives.tangent_memory import added_since, history_of, load_swaps, store_swaps
from cosim.recorded_walk import reverse_walk
from cosim.step.block_calls import copy_reals
from cosim.step.histories import CLOSE, FIRST_PART, ROOM_FOR_REFINEMENT, SECOND_PART, SHORTEST, set_side
from cosim.walker import call_dense_record, call_dense_reverse
from cosim_compiler.derivatives.rates import clear
from cosim_compiler.derivatives.tape_ends import has_overflowed, pop, push

INTERPOLATE, WALK, COPY_CACHE, COPY_STATES, LOAD_SWAPS, STORE_SWAPS = range(6)
"""The operations."""
SPARE = -1  # in place of the number of a point: the spare cache


def record_inside(run, carrier, back, start, now):
    """As `tangent_memory.remember_inside_along`, on the tape; whether that was possible."""
    tape = back.tape
    push(tape, 0.0)
    has_inside = not run.plan.inside_updates.is_empty()
    has_between = not run.plan.between_updates.is_empty()
    if not (has_inside or has_between) or not start < now:
        return True
    rows = run.plan.derivatives
    count = run.plan.points_inside if has_inside else 0
    is_recorded = True
    for j in range(count):
        t = start + (now - start) * (j + 1) / (count + 1)
        copy_present_cache(carrier, back, j)
        is_recorded = is_recorded and record_interpolation(run, carrier, back, t)
        is_recorded = is_recorded and record_inner(run, carrier, back, rows.first, rows.last, t, j)
    for number in range(len(run.rings)):
        history_of(run, carrier, ALONG, number).forget_after(start)
    for j in range(count):
        t = start + (now - start) * (j + 1) / (count + 1)
        is_recorded = is_recorded and record_interpolation(run, carrier, back, t)
        set_side(run, cache_of(carrier, j), INSIDE, math.inf)
        is_recorded = is_recorded and record_update(run, carrier, back, run.plan.inside_updates, t, j)
    if has_between:
        is_recorded = is_recorded and record_refinement(run, carrier, back, start, now)
    return is_recorded


def push_operation(back, operation, j):
    """Put an operation and the number of its point on the tape, below the count of operations."""
    tape = back.tape
    count = pop(tape)
    push(tape, float(j))
    push(tape, float(operation))
    push(tape, count + 1.0)


def record_refinement(run, carrier, back, start, now):
    """As `tangent_memory.refine_along`, on the tape; whether that was possible."""
    rows = run.plan.between_updates
    copy_reals(carrier.y, carrier.spare_y)
    copy_reals(part_of(carrier.y_dots, ALONG, carrier.y), carrier.spare_y_dot)
    push_operation(back, COPY_STATES, SPARE)
    copy_present_cache(carrier, back, SPARE)
    carrier.spare_c[run.plan.side] = BEFORE
    is_recorded = record_inner(run, carrier, back, rows.first, rows.last, now, SPARE)
    for source in run.smoothness:
        carrier.spare_c[source.at] = CLOSE * run.method_settings.accuracy
    shortest = max(SHORTEST * (now - start), 4.0 * margin(now))
    low = start
    added = 0
    while low < now and is_recorded:
        high = now
        for number in range(len(run.rings)):
            high = min(high, history_of(run, carrier, ALONG, number).time_after(low))
        t = low + FIRST_PART * (high - low)
        is_recorded = record_point(run, carrier, back, t)
        changed = added_since(run, carrier, ALONG, t)
        if changed == math.inf and is_recorded:
            t = low + SECOND_PART * (high - low)
            is_recorded = record_point(run, carrier, back, t)
            changed = added_since(run, carrier, ALONG, t)
        added += 1 if changed < math.inf else 0
        is_done = high - low <= shortest or added > ROOM_FOR_REFINEMENT - 4
        low = high if is_done or changed == math.inf else max(start, changed)
    return is_recorded


def record_point(run, carrier, back, t):
    """As `tangent_memory.add_point`, on the tape; whether that was possible."""
    derivatives = run.plan.derivatives
    rows = run.plan.between_updates
    is_recorded = record_interpolation(run, carrier, back, t)
    carrier.spare_c[run.plan.side] = REFINED
    is_recorded = is_recorded and record_inner(
        run, carrier, back, derivatives.first, derivatives.last, t, SPARE
    )
    return is_recorded and record_inner(run, carrier, back, rows.first, rows.last, t, SPARE)


def record_update(run, carrier, back, rows, t, j):
    """Call updates on the spare states, on the tape; whether that was possible."""
    c = cache_of(carrier, j)
    c_dot = cache_dot_of(carrier, j)
    load_swaps(run, carrier, ALONG, c, c_dot)
    push_operation(back, LOAD_SWAPS, j)
    is_recorded = record_inner(run, carrier, back, rows.first, rows.last, t, j)
    store_swaps(run, carrier, ALONG, c, c_dot)
    push_operation(back, STORE_SWAPS, j)
    return is_recorded


def record_interpolation(run, carrier, back, t):
    """The states at a time inside the step, which moves with its ends, on the tape: the spare ones."""
    count = pop(back.tape)
    call_dense_record(
        back.plan.dense,
        (
            t, method_of(run, carrier).coefficients, carrier.work, carrier.spare_y, carrier.spare_y,
            carrier.time_dots[ALONG], part_of(carrier.work_dots, ALONG, carrier.work), carrier.spare_y_dot,
            carrier.spare_y_dot, 0, 0, 0, back.tape,
        ),
    )  # fmt: skip
    push(back.tape, count)
    push_operation(back, INTERPOLATE, SPARE)
    return not has_overflowed(back.tape)


def record_inner(run, carrier, back, first, last, t, j):
    """Evaluate rows of the table at the spare states, into the cache of a point, on the tape."""
    count = pop(back.tape)
    time = Dual(t, carrier.time_dots[ALONG])
    states = Dual(carrier.spare_y, carrier.spare_y_dot)
    cache = Dual(cache_of(carrier, j), cache_dot_of(carrier, j))
    is_recorded = record_at(run, carrier, back, (first, last), time, states, cache)
    push(back.tape, count)
    push_operation(back, WALK, j)
    return is_recorded


def copy_present_cache(carrier, back, j):
    """Copy the cache of the end of the step, and its tangent, to that of a point."""
    copy_reals(carrier.c, cache_of(carrier, j))
    copy_reals(part_of(carrier.c_dots, ALONG, carrier.c), cache_dot_of(carrier, j))
    push_operation(back, COPY_CACHE, j)


def cache_of(carrier, j):
    """The cache of a point inside the step."""
    if j == SPARE:
        return carrier.spare_c
    return part_of(carrier.inner_caches, j, carrier.c)


def cache_dot_of(carrier, j):
    """The tangent of the cache of a point inside a step, or of the spare cache."""
    if j == SPARE:
        return carrier.spare_c_dot
    return part_of(carrier.inner_dots, j, carrier.c)


def root_of(back, j):
    """The adjoint of the cache of a point inside a step, or of the spare cache."""
    if j == SPARE:
        return back.spare_c
    return part_of(back.inner_c, j, back.c)


def reverse_points(run, back):
    """Go back over points inside a step."""
    tape = back.tape
    clear(back.spare_y)
    clear(back.spare_c)
    for _ in range(int(pop(tape))):
        operation = int(pop(tape))
        j = int(pop(tape))
        if operation == INTERPOLATE:
            call_dense_reverse(back.plan.dense_back, (back.work, back.spare_y, back.spare_y, tape, back.bars))
            back.notes.time_bar += back.bars[0]
        elif operation == WALK:
            c = root_of(back, j)
            back.notes.time_bar += reverse_walk(back.spare_y, back.p, back.d, back.h, c, tape)
        elif operation == COPY_CACHE:
            add_to(back.c, root_of(back, j))
        elif operation == COPY_STATES:
            add_to(back.y, back.spare_y)
        elif operation == LOAD_SWAPS:
            reverse_loaded_swaps(run, back, root_of(back, j))
        else:
            reverse_stored_swaps(run, back, root_of(back, j))
