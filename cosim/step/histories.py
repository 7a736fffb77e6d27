"""What a run remembers: auto-updates, histories, points inside a step, room for more."""

from __future__ import annotations

import math

from cosim.contracts.method_layout import START as STEP_START
from cosim.step.codes import FAILED_HISTORY, GROW
from cosim.step.copies import different
from cosim.step.evaluation import copy_cache, probed, walk_here, walk_rows
from cosim.step.holds import has_held_derivatives
from cosim.step.realize import interpolate, realize, realized
from cosim.step.records import DERIVATIVES, IN_K, INSTANCE, MOTION, NOTHING, ON_ALL, ON_REPORTS, Swap
from cosim.step.run import Integers, Reals, Run
from cosim.system.history_buffer import (
    AFTER_ARRIVAL,
    BEFORE,
    CAPACITY,
    COUNT,
    FULL,
    START,
    WIDTH,
    forget_after,
)
from cosim.system.history_buffer import (
    FIRST as OLDEST,
)

ROOM = 12  # entries: more than one step can bring


def earliest(run: Run, slots: Integers) -> float:
    """The smallest of some slots of the cache."""
    first = math.inf
    for slot in slots:
        first = min(first, run.c[slot])
    return first


def next_kink(run: Run) -> float:
    """When a component will not be smooth."""
    return earliest(run, run.kinks)


def arrived_break(run: Run) -> float:
    """Order of a delayed break that has arrived; infinite when none has."""
    return earliest(run, run.breaks)


def remember(run: Run, side: float, smoothness: float) -> int:
    """Append to histories and swap in the new values of auto-update variables; 0 or a code."""
    code = realized(run, MOTION)
    if code != 0 or run.plan.end_updates.first == run.plan.end_updates.last:
        return code
    code = run_updates(
        run,
        run.plan.end_updates.first,
        run.plan.end_updates.last,
        run.clock.time,
        run.y,
        run.c,
        side,
        smoothness,
        float(run.plan.order),
    )
    if code == 0 and len(run.rings) != 0 and run.evaluation.stage >= MOTION:
        code = look_again(run)
    return realized(run, DERIVATIVES) if code == 0 else code


def look_again(run: Run) -> int:
    """Compute what is looked up in histories, to which something was appended; 0 or a code.

    Where what other blocks take from there is still the same, to the last bit, nothing else has changed.
    Where the run goes on at once, blocks that nothing needs before the end of the next step wait for it.
    """
    if len(run.past) == 0 or has_held_derivatives(run):
        run.evaluation.stage = min(run.evaluation.stage, INSTANCE)
        return 0
    for i in range(len(run.past_results)):
        run.past_results_before[i] = run.c[run.past_results[i]]
    stage = MOTION
    for block in run.past:
        if block.waits != 0:
            stage = DERIVATIVES
            continue
        code = walk_here(run, block.row, block.row + 1)
        if code != 0:
            return code
    for i in range(len(run.past_results)):
        one = run.past_results_before[i]
        other = run.c[run.past_results[i]]
        if different(one, other) or math.copysign(1.0, one) != math.copysign(1.0, other):
            stage = INSTANCE
    run.evaluation.stage = min(run.evaluation.stage, stage)
    return 0 if stage != DERIVATIVES or run.course.goes_on != 0 else realize(run, MOTION)


def run_updates(
    run: Run,
    first: int,
    last: int,
    t: float,
    y: Reals,
    c: Reals,
    side: float,
    smoothness: float,
    tracked: float,
) -> int:
    """Append to histories and swap in new values of auto-update variables, from any cache; 0 or a code."""
    c[run.plan.side] = side
    for source in run.smoothness:
        order = smoothness
        if side == AFTER_ARRIVAL and source.is_immediate == 0:
            order = smoothness + 1.0
        c[source.at] = order if order <= tracked else math.inf
    for swap in run.swaps:
        c[swap.update] = present_value(run, swap)
    code = walk_rows(run, first, last, t, y, c)
    if code != 0:
        return code
    stage = run.evaluation.stage
    for i in range(len(run.rings)):
        if run.k[run.rings[i] + FULL] != 0:
            return FAILED_HISTORY
    for swap in run.swaps:
        value = c[swap.update]
        if value != present_value(run, swap):
            swap_in(run, swap, value)
            stage = min(stage, valid_stage(swap))
    run.evaluation.stage = stage
    return 0


def present_value(run: Run, swap: Swap) -> float:
    """The value of an auto-update variable."""
    return float(run.k[swap.offset]) if swap.array == IN_K else run.d[swap.offset]


def swap_in(run: Run, swap: Swap, value: float) -> None:
    """Give an auto-update variable a value."""
    if swap.array == IN_K:
        run.k[swap.offset] = int(value)
    else:
        run.d[swap.offset] = value


def valid_stage(swap: Swap) -> int:
    """How far the cache stays valid where an auto-update variable has changed."""
    if swap.depends == ON_REPORTS:
        return MOTION
    return NOTHING if swap.depends == ON_ALL else INSTANCE


def note_swapped(run: Run) -> None:
    """Keep the auto-update variables as they are during the step that begins."""
    for i in range(len(run.swaps)):
        run.kept_swaps[i] = present_value(run, run.swaps[i])


def exchange_swapped(run: Run) -> None:
    """Exchange auto-update variables with what `note_swapped` has kept; twice leaves them as they were."""
    for i in range(len(run.swaps)):
        swap = run.swaps[i]
        kept = run.kept_swaps[i]
        run.kept_swaps[i] = present_value(run, swap)
        swap_in(run, swap, kept)


def swaps_reach_instance(run: Run) -> bool:
    """Whether something that is computed before time is known depends on an auto-update variable."""
    found = False
    for swap in run.swaps:
        found = found or swap.depends == ON_ALL
    return found


def remember_step(run: Run) -> int:
    """Append to histories what the step has brought; 0 or a code."""
    code = realized(run, MOTION)
    if code != 0:
        return code
    arrived = arrived_break(run)
    has_inside = run.plan.inside_updates.first != run.plan.inside_updates.last
    if has_inside and run.plan.between_updates.first == run.plan.between_updates.last:
        code = remember_inside(run)  # else `refine_step` has done it
    if code == 0:
        code = remember(run, BEFORE, math.inf)
    if code == 0 and arrived < math.inf:
        code = remember(run, AFTER_ARRIVAL, arrived)
    return code


def halt(run: Run) -> int:
    """Append what the dense output of the step alone knows; the rest waits for an event mode. 0 or a code."""
    if run.plan.between_updates.first == run.plan.between_updates.last:
        return remember_inside(run)
    return 0


def remember_inside(run: Run) -> int:
    """Append the points inside the last step, all of which are computed before the first is remembered."""
    first = run.plan.inside_updates.first
    last = run.plan.inside_updates.last
    start = run.work[STEP_START]
    now = run.clock.time
    has_between = run.plan.between_updates.first != run.plan.between_updates.last
    if (first == last and not has_between) or not start < now:
        return 0
    y, _ = probed(run)
    size = run.c.shape[0]
    count = run.plan.points_inside if first != last else 0
    for i in range(count):
        c = run.inner_caches[i * size : i * size + size]
        time = start + (now - start) * (i + 1) / (count + 1)
        copy_cache(run, run.c, c)
        interpolate(run, time, run.work)
        code = walk_rows(run, run.plan.derivatives.first, run.plan.derivatives.last, time, y, c)
        if code != 0:
            return code
    for i in range(len(run.rings)):
        forget_after(run.h, run.ring(i), start)
    for i in range(count):
        c = run.inner_caches[i * size : i * size + size]
        time = start + (now - start) * (i + 1) / (count + 1)
        stage = run.evaluation.stage
        code = run_updates(run, first, last, time, y, c, -1.0, math.inf, math.inf)
        run.evaluation.stage = stage
        if code != 0:
            return code
    return 0


def make_room(run: Run) -> int:
    """Have room in every history for what a step can bring; 0, or GROW with the length that `h` needs."""
    has_room = True
    for i in range(len(run.rings)):
        ring = run.rings[i]
        has_room = has_room and run.k[ring + CAPACITY] - run.k[ring + COUNT] >= run.plan.room
    if has_room:
        return 0
    wanted = 0
    used = 0
    for i in range(len(run.rings)):
        ring = run.rings[i]
        used = max(used, run.k[ring + START] + WIDTH * run.k[ring + CAPACITY])
        capacity = run.k[ring + CAPACITY]
        while capacity - run.k[ring + COUNT] < run.plan.room:
            capacity *= 2
        wanted += WIDTH * (capacity - run.k[ring + CAPACITY])
    if run.h.shape[0] < used + wanted:
        run.failure.needed = used + wanted
        return GROW
    for i in range(len(run.rings)):
        ring = run.rings[i]
        while run.k[ring + CAPACITY] - run.k[ring + COUNT] < run.plan.room:
            used = double(run, ring, used)
    return 0


def double(run: Run, ring: int, used: int) -> int:
    """Double the capacity of one history; the stretches behind it move up. The length that is used then."""
    capacity = run.k[ring + CAPACITY]
    stop = run.k[ring + START] + WIDTH * capacity
    added = WIDTH * capacity
    for m in range(used - 1, stop - 1, -1):
        run.h[m + added] = run.h[m]
    for i in range(len(run.rings)):
        other = run.rings[i]
        if other != ring and run.k[other + START] >= stop:
            run.k[other + START] += added
    # what had gone round to the front now follows the rest
    round_it = max(0, run.k[ring + OLDEST] + run.k[ring + COUNT] - capacity)
    for m in range(WIDTH * round_it):
        run.h[stop + m] = run.h[run.k[ring + START] + m]
    run.k[ring + CAPACITY] = 2 * capacity
    return used + added
