"""What a run remembers: auto-updates, histories, points inside a step, room for more."""

from __future__ import annotations

import math

from cosim.contracts.method_layout import START as STEP_START
from cosim.step import layout as ix
from cosim.step.arrays import Arrays, Reals
from cosim.step.codes import FAILED_HISTORY, GROW
from cosim.step.copies import different
from cosim.step.evaluation import copy_cache, probed, walk_here, walk_rows
from cosim.step.holds import has_held_derivatives
from cosim.step.realize import interpolate, realize, realized
from cosim.system.history_buffer import (
    AFTER_ARRIVAL,
    BEFORE,
    CAPACITY,
    COUNT,
    FULL,
    RING,
    START,
    WIDTH,
    forget_after,
)
from cosim.system.history_buffer import (
    FIRST as OLDEST,
)

ROOM = 12  # entries: more than one step can bring


def earliest(a: Arrays, table: int) -> float:
    """The smallest of some slots of the cache."""
    first = math.inf
    at = a.program[table + 1]
    for i in range(a.program[table]):
        first = min(first, a.c[a.program[at + i]])
    return first


def next_kink(a: Arrays) -> float:
    """When a component will not be smooth."""
    return earliest(a, ix.KINKS)


def arrived_break(a: Arrays) -> float:
    """Order of a delayed break that has arrived; infinite when none has."""
    return earliest(a, ix.BREAKS)


def remember(a: Arrays, side: float, smoothness: float) -> int:
    """Append to histories and swap in the new values of auto-update variables; 0 or a code."""
    code = realized(a, ix.MOTION)
    if code != 0 or a.program[ix.END_FIRST] == a.program[ix.END_LAST]:
        return code
    code = run_updates(
        a, a.program[ix.END_FIRST], a.program[ix.END_LAST], a.clock[ix.TIME], a.y, a.c, side, smoothness,
        float(a.program[ix.ORDER]),
    )  # fmt: skip
    if code == 0 and a.program[ix.RINGS] != 0 and a.places[ix.STAGE] >= ix.MOTION:
        code = look_again(a)
    return realized(a, ix.DERIVATIVES) if code == 0 else code


def look_again(a: Arrays) -> int:
    """Compute what is looked up in histories, to which something was appended; 0 or a code.

    Where what other blocks take from there is still the same, to the last bit, nothing else has changed.
    Where the run goes on at once, blocks that nothing needs before the end of the next step wait for it.
    """
    if a.program[ix.PAST] == 0 or has_held_derivatives(a):
        a.places[ix.STAGE] = min(a.places[ix.STAGE], ix.INSTANCE)
        return 0
    at = a.program[ix.FOUND_AT]
    before = a.program[ix.FOUND_BEFORE]
    for i in range(a.program[ix.FOUND]):
        a.scratch[before + i] = a.c[a.program[at + i]]
    stage = ix.MOTION
    for i in range(a.program[ix.PAST]):
        listed = a.program[ix.PAST_AT] + ix.PAST_WIDTH * i
        row = a.program[listed + ix.PAST_ROW]
        if a.program[listed + ix.WAITS] != 0:
            stage = ix.DERIVATIVES
            continue
        code = walk_here(a, row, row + 1)
        if code != 0:
            return code
    for i in range(a.program[ix.FOUND]):
        one = a.scratch[before + i]
        other = a.c[a.program[at + i]]
        if different(one, other) or math.copysign(1.0, one) != math.copysign(1.0, other):
            stage = ix.INSTANCE
    a.places[ix.STAGE] = min(a.places[ix.STAGE], stage)
    return 0 if stage != ix.DERIVATIVES or a.places[ix.GOES_ON] != 0 else realize(a, ix.MOTION)


def run_updates(
    a: Arrays,
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
    c[a.program[ix.SIDE]] = side
    at = a.program[ix.SMOOTHNESS_AT]
    for i in range(a.program[ix.SMOOTHNESS]):
        order = smoothness
        row = at + ix.SMOOTHNESS_WIDTH * i
        if side == AFTER_ARRIVAL and a.program[row + ix.AT_ONCE] == 0:
            order = smoothness + 1.0
        c[a.program[row + ix.SMOOTHNESS_OF]] = order if order <= tracked else math.inf
    at = a.program[ix.SWAPS_AT]
    for i in range(a.program[ix.SWAPS]):
        row = at + ix.SWAP_WIDTH * i
        place = a.program[row + ix.SWAPPED_AT]
        c[a.program[row + ix.NEW_AT]] = (
            float(a.k[place]) if a.program[row + ix.SWAPPED_IN] == ix.IN_K else a.d[place]
        )
    code = walk_rows(a, first, last, t, y, c)
    if code != 0:
        return code
    stage = a.places[ix.STAGE]
    for i in range(a.program[ix.RINGS]):
        if a.k[a.program[a.program[ix.RINGS_AT] + i] + FULL] != 0:
            return FAILED_HISTORY
    for i in range(a.program[ix.SWAPS]):
        row = at + ix.SWAP_WIDTH * i
        place = a.program[row + ix.SWAPPED_AT]
        value = c[a.program[row + ix.NEW_AT]]
        changed = False
        if a.program[row + ix.SWAPPED_IN] == ix.IN_K:
            changed = value != float(a.k[place])
            if changed:
                a.k[place] = int(value)
        else:
            changed = value != a.d[place]
            if changed:
                a.d[place] = value
        if changed:
            depends = a.program[row + ix.DEPENDS]
            valid = (
                ix.MOTION if depends == ix.ON_REPORTS else ix.NOTHING if depends == ix.ON_ALL else ix.INSTANCE
            )
            stage = min(stage, valid)
    a.places[ix.STAGE] = stage
    return 0


def note_swapped(a: Arrays) -> None:
    """Keep the auto-update variables as they are during the step that begins."""
    for i in range(a.program[ix.SWAPS]):
        row = a.program[ix.SWAPS_AT] + ix.SWAP_WIDTH * i
        place = a.program[row + ix.SWAPPED_AT]
        value = float(a.k[place]) if a.program[row + ix.SWAPPED_IN] == ix.IN_K else a.d[place]
        a.scratch[a.program[ix.SWAPPED] + i] = value


def exchange_swapped(a: Arrays) -> None:
    """Exchange auto-update variables with what `note_swapped` has kept; twice leaves them as they were."""
    for i in range(a.program[ix.SWAPS]):
        row = a.program[ix.SWAPS_AT] + ix.SWAP_WIDTH * i
        place = a.program[row + ix.SWAPPED_AT]
        kept = a.scratch[a.program[ix.SWAPPED] + i]
        if a.program[row + ix.SWAPPED_IN] == ix.IN_K:
            a.scratch[a.program[ix.SWAPPED] + i] = float(a.k[place])
            a.k[place] = int(kept)
        else:
            a.scratch[a.program[ix.SWAPPED] + i] = a.d[place]
            a.d[place] = kept


def swaps_reach_instance(a: Arrays) -> bool:
    """Whether something that is computed before time is known depends on an auto-update variable."""
    found = False
    for i in range(a.program[ix.SWAPS]):
        row = a.program[ix.SWAPS_AT] + ix.SWAP_WIDTH * i
        found = found or a.program[row + ix.DEPENDS] == ix.ON_ALL
    return found


def remember_step(a: Arrays) -> int:
    """Append to histories what the step has brought; 0 or a code."""
    code = realized(a, ix.MOTION)
    if code != 0:
        return code
    arrived = arrived_break(a)
    has_inside = a.program[ix.INSIDE_FIRST] != a.program[ix.INSIDE_LAST]
    if has_inside and a.program[ix.BETWEEN_FIRST] == a.program[ix.BETWEEN_LAST]:
        code = remember_inside(a)  # else `refine_step` has done it
    if code == 0:
        code = remember(a, BEFORE, math.inf)
    if code == 0 and arrived < math.inf:
        code = remember(a, AFTER_ARRIVAL, arrived)
    return code


def halt(a: Arrays) -> int:
    """Append what the dense output of the step alone knows; the rest waits for an event mode. 0 or a code."""
    if a.program[ix.BETWEEN_FIRST] == a.program[ix.BETWEEN_LAST]:
        return remember_inside(a)
    return 0


def remember_inside(a: Arrays) -> int:
    """Append the points inside the last step, all of which are computed before the first is remembered."""
    first = a.program[ix.INSIDE_FIRST]
    last = a.program[ix.INSIDE_LAST]
    start = a.work[STEP_START]
    now = a.clock[ix.TIME]
    has_between = a.program[ix.BETWEEN_FIRST] != a.program[ix.BETWEEN_LAST]
    if (first == last and not has_between) or not start < now:
        return 0
    y, _ = probed(a)
    size = a.c.shape[0]
    count = a.program[ix.POINTS_INSIDE] if first != last else 0
    caches = a.scratch[a.program[ix.INNER_C] : a.program[ix.INNER_C] + count * size]
    for i in range(count):
        c = caches[i * size : i * size + size]
        time = start + (now - start) * (i + 1) / (count + 1)
        copy_cache(a, a.c, c)
        interpolate(a, time, a.work)
        code = walk_rows(a, a.program[ix.FIRST], a.program[ix.LAST], time, y, c)
        if code != 0:
            return code
    for i in range(a.program[ix.RINGS]):
        ring = a.program[a.program[ix.RINGS_AT] + i]
        forget_after(a.h, a.k[ring : ring + RING], start)
    for i in range(count):
        c = caches[i * size : i * size + size]
        time = start + (now - start) * (i + 1) / (count + 1)
        stage = a.places[ix.STAGE]
        code = run_updates(a, first, last, time, y, c, -1.0, math.inf, math.inf)
        a.places[ix.STAGE] = stage
        if code != 0:
            return code
    return 0


def make_room(a: Arrays) -> int:
    """Have room in every history for what a step can bring; 0, or GROW with the length that `h` needs."""
    has_room = True
    for i in range(a.program[ix.RINGS]):
        ring = a.program[a.program[ix.RINGS_AT] + i]
        has_room = has_room and a.k[ring + CAPACITY] - a.k[ring + COUNT] >= a.program[ix.ROOM]
    if has_room:
        return 0
    wanted = 0
    used = 0
    for i in range(a.program[ix.RINGS]):
        ring = a.program[a.program[ix.RINGS_AT] + i]
        used = max(used, a.k[ring + START] + WIDTH * a.k[ring + CAPACITY])
        capacity = a.k[ring + CAPACITY]
        while capacity - a.k[ring + COUNT] < a.program[ix.ROOM]:
            capacity *= 2
        wanted += WIDTH * (capacity - a.k[ring + CAPACITY])
    if a.h.shape[0] < used + wanted:
        a.places[ix.NEEDED] = used + wanted
        return GROW
    for i in range(a.program[ix.RINGS]):
        ring = a.program[a.program[ix.RINGS_AT] + i]
        while a.k[ring + CAPACITY] - a.k[ring + COUNT] < a.program[ix.ROOM]:
            used = double(a, ring, used)
    return 0


def double(a: Arrays, ring: int, used: int) -> int:
    """Double the capacity of one history; the stretches behind it move up. The length that is used then."""
    capacity = a.k[ring + CAPACITY]
    stop = a.k[ring + START] + WIDTH * capacity
    added = WIDTH * capacity
    for m in range(used - 1, stop - 1, -1):
        a.h[m + added] = a.h[m]
    for i in range(a.program[ix.RINGS]):
        other = a.program[a.program[ix.RINGS_AT] + i]
        if other != ring and a.k[other + START] >= stop:
            a.k[other + START] += added
    # what had gone round to the front now follows the rest
    round_it = max(0, a.k[ring + OLDEST] + a.k[ring + COUNT] - capacity)
    for m in range(WIDTH * round_it):
        a.h[stop + m] = a.h[a.k[ring + START] + m]
    a.k[ring + CAPACITY] = 2 * capacity
    return used + added
