"""The memory of a run: auto-updates, and histories with entries between the ends of steps.

Error control does not see a signal that is not integrated: steps grow as if it were constant. So the
histories of such signals (updates "between") are checked when a step has ended: the signal is evaluated on
the dense output, and a point is added where the history is off, from left to right in parts of parts, until
it is off nowhere: from where the new point has changed a history it is checked again. A step that would need
too many points is taken again, shorter. Whether a point is needed its value tells; the derivative (forces and
accelerations, where a speed is delayed) is computed for those that are added.

What is appended, and whether a point is needed, are kernel functions of the components that remember (of a
delay `remember`, `remember_between` …, in `cosim_measures.delay`): rows of the schedule (`plan.end_updates`,
`between_updates`, `inside_updates`) that are called from here, and told their `side` by a slot of the cache.
The components also write what is only read here: the slots `kinks` and `breaks` of the cache, and the flags
of a ring, which say that a history is full, has got a point, or has no value.

Three words: a *swap* is an auto-update variable; a *ring* is the head of a history in `k`; *past* are the
blocks that read histories. `plan.remembers` says whether there is an update of any kind.
"""

from __future__ import annotations

import math

from cosim.component.history import (
    ADDED,
    AFTER_ARRIVAL,
    BEFORE,
    ENTRY_WIDTH,
    INSIDE,
    LOOKED,
    MEASURED,
    MOVED,
    NO_VALUE,
    REFINED,
    margin,
)
from cosim.run_data.records.evaluation import DERIVATIVES, INSTANCE, MOTION, NOTHING, RowRange
from cosim.run_data.records.handlers import IN_K
from cosim.run_data.records.past import ON_ALL, ON_REPORTS, Swap
from cosim.run_data.run import Integers, Reals, Run
from cosim.step.block_calls import (
    UNTOUCHED,
    copy_cache,
    different,
    follow_change,
    mark_change,
    probed,
    walk_here,
    walk_rows,
)
from cosim.step.event_log import MEMORY_UPDATED, NOT_KNOWN_INSIDE, NOT_SMOOTH, report_finding
from cosim.step.failures import BlockFailed, HistoryFull, HistoryOverrun
from cosim.step.holds import has_held_derivatives
from cosim.step.integration import interpolate, method_arrays, redo
from cosim.step.realize import realize
from cosim.step.tape import log_mark
from cosim.step.witness_values import relative_move
from cosim.walker import walk
from cosim_compiler.calls import never_inlined

# how smooth a signal is where something is remembered: what an event changes shows in value and derivative,
# so that the second derivative is the first that may jump unseen
UNSEEN_BREAK, SMOOTH = 2.0, math.inf
ROOM_FOR_STEP = 12  # entries: more than the ends of a step and the points inside it can bring


def earliest(run: Run, slots: Integers) -> float:
    """The smallest of some slots of the cache."""
    first = math.inf
    for slot in slots:
        first = min(first, run.c[slot])
    return first


def next_kink(run: Run) -> float:
    """The next time at which a component is not smooth, s; infinite if none says so."""
    return earliest(run, run.kinks)


def arrived_break(run: Run) -> float:
    """Order of a delayed break that has arrived; infinite when none has."""
    return earliest(run, run.breaks)


def remember(run: Run, side: float, smoothness: float) -> None:
    """Append to histories and swap in the new values of auto-update variables.

    `smoothness` is the least order of the derivatives that may jump there although nothing shows it.
    """
    realize(run, MOTION)
    if not run.plan.end_updates.is_empty():
        append_and_swap(run, side, smoothness)


@never_inlined
def append_and_swap(run: Run, side: float, smoothness: float) -> None:
    """Call the blocks that remember, and evaluate what follows from what they have done."""
    log_mark(run, MEMORY_UPDATED, run.clock.time, side, smoothness)
    update_memory(run, run.plan.end_updates, run.clock.time, run.y, run.c, side, smoothness)
    if side == BEFORE and run.plan.between_updates.is_empty():
        measure_floors(run)
    if len(run.rings) != 0 and run.evaluation.stage >= MOTION:
        evaluate_past(run)
    realize(run, DERIVATIVES)


DIRECTIONS = 3  # in which states are moved at once


def measure_floors(run: Run) -> None:
    """Measure the floors of the signals that have been small so far: no smaller error of them counts.

    A signal is computed from states, and these are right to their absolute tolerances. So the floor is the
    distance that the signal moves if the states move by their tolerances and by rounding. The tolerance of a
    state that leaves 0 allows for its growth, and so does the floor.
    """
    tolerances = method_arrays(run).step_tolerances
    needs_measure = False
    for number in range(len(run.rings)):
        past = run.history(number)
        state = run.followed_states[number]
        if past.is_small and state >= 0:
            past.set_floor(tolerances[state])
        elif past.is_small:
            needs_measure = True
            past.lower_floor()
    if not needs_measure:
        return
    if not run.plan.between_updates.is_empty():
        measure_checked_signals(run, 0)
    for number in range(len(run.rings)):
        past = run.history(number)
        if past.ring.flags & MEASURED == 0 and run.followed_states[number] < 0:
            past.set_floor(math.inf)  # nothing is known of it
        past.ring.flags &= ~MEASURED


def measure_checked_signals(run: Run, turn: int) -> None:
    """Measure how far the signals that are no states move if states move by their tolerances and rounding.

    Each `turn` moves them in other directions, so that neither cancels in all of them nor rounding hides.
    """
    y, c = probed(run)
    n = run.y.shape[0]
    tolerances = method_arrays(run).step_tolerances
    for direction in range(DIRECTIONS):
        first = (DIRECTIONS * turn + direction) * (n + 1)
        for m in range(n):
            move = relative_move(first + m, 1)
            y[m] = run.y[m] + move * run.y[m] + math.copysign(tolerances[m], move)
        # a block that fails there shows nothing
        walk_checks(run, run.clock.time * (1.0 + relative_move(first + n, 1)), MOVED, y, c)


def evaluate_past(run: Run) -> None:
    """Compute the blocks that read histories, after something was appended to these.

    Where what other blocks take from there is still the same, to the last bit, nothing else has changed.
    Where the run goes on at once, blocks that nothing needs before the end of the next step wait for it.
    """
    if len(run.past) == 0 or has_held_derivatives(run):
        run.evaluation.stage = min(run.evaluation.stage, INSTANCE)
        return
    for i in range(len(run.past_results)):
        run.past_results_before[i] = run.c[run.past_results[i]]
    stage = MOTION
    for block in run.past:
        if block.waits != 0:
            stage = DERIVATIVES
        else:
            walk_here(run, block.row, block.row + 1)
    for i in range(len(run.past_results)):
        before = run.past_results_before[i]
        now = run.c[run.past_results[i]]
        if different(before, now) or math.copysign(1.0, before) != math.copysign(1.0, now):
            stage = INSTANCE
    run.evaluation.stage = min(run.evaluation.stage, stage)
    if stage == DERIVATIVES and run.course.continues == 0:
        realize(run, MOTION)


def update_memory(
    run: Run, rows: RowRange, t: float, y: Reals, c: Reals, side: float, smoothness: float
) -> None:
    """Append to histories and swap in new values of auto-update variables, from any cache."""
    set_side(run, c, side, smoothness)
    for swap in run.swaps:
        c[swap.update] = swapped_value(run, swap)
    walk_rows(run, rows.first, rows.last, t, y, c)
    for number in range(len(run.rings)):
        if run.history(number).ring.flags != 0:
            raise HistoryOverrun()
    marks_readers = has_only_swaps(run)
    lowest = UNTOUCHED
    for swap in run.swaps:
        value = c[swap.update]
        if value != swapped_value(run, swap):
            swap_in(run, swap, value)
            if marks_readers:
                lowest = min(lowest, mark_change(run, swap.array, swap.offset))
            else:
                run.evaluation.stage = min(run.evaluation.stage, valid_stage(swap))
    if lowest != UNTOUCHED:
        follow_change(run, lowest)


def has_only_swaps(run: Run) -> bool:
    """Whether auto-update variables are all that changes at ends of steps.

    Then what reads them is computed again, and nothing else.
    """
    return len(run.rings) == 0 and run.plan.inside_updates.is_empty() and run.plan.between_updates.is_empty()


def set_side(run: Run, c: Reals, side: float, smoothness: float) -> None:
    """Write into a cache on which side of an instant updates are, and how smooth sources are there.

    A break is of no account where it is smoother than the order of the method.
    """
    c[run.plan.side] = side
    for source in run.smoothness:
        order = smoothness
        if side == AFTER_ARRIVAL and source.is_immediate == 0:
            order = smoothness + 1.0
        c[source.at] = order if order <= float(run.plan.order) else math.inf


def swapped_value(run: Run, swap: Swap) -> float:
    """The value of an auto-update variable."""
    return float(run.k[swap.offset]) if swap.array == IN_K else run.d[swap.offset]


def swap_in(run: Run, swap: Swap, value: float) -> None:
    """Give an auto-update variable a value."""
    if swap.array == IN_K:
        run.k[swap.offset] = int(value)
    else:
        run.d[swap.offset] = value


def valid_stage(swap: Swap) -> int:
    """The stage to which the cache stays valid after a change of an auto-update variable."""
    if swap.depends == ON_REPORTS:
        return MOTION
    return NOTHING if swap.depends == ON_ALL else INSTANCE


def save_swapped(run: Run) -> None:
    """Keep the auto-update variables as they are during the step that begins."""
    for i in range(len(run.swaps)):
        run.kept_swaps[i] = swapped_value(run, run.swaps[i])


def exchange_swapped(run: Run) -> None:
    """Exchange auto-update variables with what `save_swapped` has kept; twice leaves them as they were."""
    for i in range(len(run.swaps)):
        swap = run.swaps[i]
        saved = run.kept_swaps[i]
        run.kept_swaps[i] = swapped_value(run, swap)
        swap_in(run, swap, saved)


def swaps_reach_instance(run: Run) -> bool:
    """Whether something that is computed before time is known depends on an auto-update variable."""
    reaches = False
    for swap in run.swaps:
        reaches = reaches or swap.depends == ON_ALL
    return reaches


def remember_step(run: Run) -> None:
    """Append to histories what the step has brought."""
    realize(run, MOTION)
    arrived = arrived_break(run)
    if not run.plan.inside_updates.is_empty() and run.plan.between_updates.is_empty():
        remember_inside(run)  # else `refine_step` has done it
    remember(run, BEFORE, SMOOTH)
    if arrived < math.inf:
        remember(run, AFTER_ARRIVAL, arrived)


def stop_before_jump(run: Run) -> None:
    """Append what the dense output of the step alone knows; the rest waits for an event mode."""
    if run.plan.between_updates.is_empty():
        remember_inside(run)


def time_inside(run: Run, number: int, count: int) -> float:
    """The time of point `number` of `count` points inside the last step, s."""
    start = run.last_step.start
    return start + (run.clock.time - start) * (number + 1) / (count + 1)


def remember_inside(run: Run) -> None:
    """Append the points inside the last step, all of which are computed before the first is remembered."""
    rows = run.plan.inside_updates
    start = run.last_step.start
    if (rows.is_empty() and run.plan.between_updates.is_empty()) or not start < run.clock.time:
        return
    y, _ = probed(run)
    size = run.c.shape[0]
    count = 0 if rows.is_empty() else run.plan.points_inside
    for i in range(count):
        c = run.inner_caches[i * size : i * size + size]
        time = time_inside(run, i, count)
        copy_cache(run, run.c, c)
        interpolate(run, time, run.work)
        walk_rows(run, run.plan.derivatives.first, run.plan.derivatives.last, time, y, c)
    for number in range(len(run.rings)):
        run.history(number).forget_after(start)
    stage = run.evaluation.stage
    for i in range(count):
        c = run.inner_caches[i * size : i * size + size]
        update_memory(run, rows, time_inside(run, i, count), y, c, INSIDE, SMOOTH)
    run.evaluation.stage = stage


def make_room(run: Run) -> None:
    """Have room in every history for what a step can bring; `HistoryFull` where `h` has to be longer."""
    has_room = True
    for number in range(len(run.rings)):
        ring = run.history(number).ring
        has_room = has_room and ring.capacity - ring.count >= run.plan.room
    if has_room:
        return
    missing = 0
    used = 0
    for number in range(len(run.rings)):
        ring = run.history(number).ring
        used = max(used, ring.stop)
        capacity = ring.capacity
        while capacity - ring.count < run.plan.room:
            capacity *= 2
        missing += ENTRY_WIDTH * (capacity - ring.capacity)
    if run.h.shape[0] < used + missing:
        run.failure.needed = used + missing
        raise HistoryFull()
    for number in range(len(run.rings)):
        ring = run.history(number).ring
        while ring.capacity - ring.count < run.plan.room:
            used = double_capacity(run, number, used)


def double_capacity(run: Run, number: int, used: int) -> int:
    """Double the capacity of one history; the stretches behind it move up. The length that is used then."""
    ring = run.history(number).ring
    capacity = ring.capacity
    stop = ring.stop
    added = ENTRY_WIDTH * capacity
    for m in range(used - 1, stop - 1, -1):
        run.h[m + added] = run.h[m]
    for other in range(len(run.rings)):
        if other != number and run.history(other).ring.start >= stop:
            run.history(other).ring.start += added
    # entries that had wrapped round to the front now follow the others
    wrapped = max(0, ring.oldest + ring.count - capacity)
    for m in range(ENTRY_WIDTH * wrapped):
        run.h[stop + m] = run.h[ring.start + m]
    ring.capacity = 2 * capacity
    return used + added


MOST_POINTS = 100  # points that a step may add to a history; then it is taken again, shorter
ROOM_FOR_REFINEMENT = MOST_POINTS + 180  # entries that are added between the ends of a step, at most
SHORTENED = 60  # how often, at most
SHORTEST = 1e-9  # of a step: what is off in an interval that short jumps there
CLOSE = 0.25  # of the accuracy
FIRST_PART, SECOND_PART = 0.4829, 0.7919  # of an interval, where it is checked: no method has points there


def refine_step(run: Run) -> None:
    """Complete the histories of the last step; unless its length is fixed, it may end sooner."""
    complete_histories(run, run.method_settings.fixed_step == 0.0 or run.y.shape[0] == 0)


def refine_ended_step(run: Run) -> None:
    """Complete the histories of a step that an event has ended, where that has made it shorter."""
    complete_histories(run, False)


def complete_histories(run: Run, shorter: bool) -> None:
    """Add points to histories inside the last step until they are good; `shorter`: it may be repeated so."""
    if run.transient.refined_until == run.clock.time:
        return
    for _ in range(SHORTENED):
        if not run.last_step.start < run.clock.time:
            break
        remember_inside(run)
        reached = refine(run, shorter)
        if reached >= run.clock.time:
            break
        redo(run, reached)  # the next `remember_inside` forgets what the longer attempt has appended
        realize(run, MOTION)
    run.transient.refined_until = run.clock.time


def refine(run: Run, shorter: bool) -> float:
    """Add points between the ends of the last step; how far the histories are good then.

    That is the end of the step unless it may be `shorter`.
    """
    start = run.last_step.start
    now = run.clock.time
    _, c = probed(run)
    copy_cache(run, run.c, c)
    c[run.plan.side] = BEFORE
    walk_rows(run, run.plan.between_updates.first, run.plan.between_updates.last, now, run.y, c)
    measure_floors(run)
    for source in run.smoothness:
        c[source.at] = CLOSE * run.method_settings.accuracy
    shortest = max(SHORTEST * (now - start), 4.0 * margin(now))
    low = start
    added = 0
    while low < now:
        high = next_entry(run, low, now)
        middle = low + FIRST_PART * (high - low)
        needs_point = check_between_ends(run, middle, added)
        if not needs_point:
            middle = low + SECOND_PART * (high - low)
            needs_point = check_between_ends(run, middle, added)
        added += 1 if needs_point else 0
        is_shortest = high - low <= shortest
        is_full = added > ROOM_FOR_REFINEMENT - 4
        if needs_point and (is_full or (is_shortest and start < low and high < now)):
            report_once(run, ADDED, NOT_SMOOTH)  # at its ends dense output may not quite meet the states
        if not needs_point or is_shortest or is_full:
            low = high
        elif shorter and added >= MOST_POINTS and low > start:
            break
        else:
            low = max(start, changed_from(run, middle))
    return low


def check_between_ends(run: Run, t: float, added: int) -> bool:
    """Check what is remembered at a time inside the last step; whether a history needs a point there.

    Before a small signal gets one, its floor is measured again, more and more rarely: `added` points were
    needed so far.
    """
    interpolate(run, t, run.work)
    y, c = probed(run)
    if not compare(run, t, LOOKED, y, c):
        return False
    if added & (added - 1) == 0 and has_small_off(run):
        measure_checked_signals(run, added + 1)
        clear_flags(run)
        interpolate(run, t, run.work)
        if not compare(run, t, LOOKED, y, c):
            return False
    return compare(run, t, REFINED, y, c)


def has_small_off(run: Run) -> bool:
    """Whether a history of a small signal was found to be off."""
    is_off = False
    for number in range(len(run.rings)):
        is_off = is_off or (run.history_flags[number] & ADDED != 0 and run.history(number).is_small)
    return is_off


def clear_flags(run: Run) -> None:
    """Clear the flags that blocks have set in histories."""
    for number in range(len(run.rings)):
        run.history(number).ring.flags = 0


def walk_checks(run: Run, t: float, side: float, y: Reals, c: Reals) -> int:
    """Call the blocks that check histories at a time; 0, or one more than the place of that which failed.

    They compute values; where a point is added, derivatives.
    """
    first = run.plan.first_checked
    last = first + run.plan.checked_values
    if side == REFINED:
        first, last = last, run.plan.first_checked + len(run.checked_blocks)
    c[run.plan.side] = side
    return walk(run.watched, run.ints, first, last, t, y, run.p, run.d, run.k, run.h, c)


def compare(run: Run, t: float, side: float, y: Reals, c: Reals) -> bool:
    """Compare the histories with what they remember, at a time; whether one is off."""
    status = walk_checks(run, t, side, y, c)
    if status != 0:
        run.failure.block = run.checked_blocks[status - 1 - run.plan.first_checked]
        raise BlockFailed()
    is_off = False
    for number in range(len(run.rings)):
        ring = run.history(number).ring
        run.history_flags[number] = ring.flags
        is_off = is_off or ring.flags & ADDED != 0
        ring.flags = 0
    report_once(run, NO_VALUE, NOT_KNOWN_INSIDE)
    return is_off


def next_entry(run: Run, t: float, now: float) -> float:
    """The first time after `t` of which a history knows something: `now` at the latest."""
    time = now
    for i in range(len(run.rings)):
        time = min(time, run.history(i).time_after(t))
    return time


def changed_from(run: Run, t: float) -> float:
    """Since when histories say something else because points were added to them at `t`.

    Each history has points of its own: what lies before a new one has been checked for the sake of other
    histories, when this one still was another polynomial there.
    """
    since = t
    for i in range(len(run.rings)):
        if run.history_flags[i] & ADDED != 0:
            since = min(since, run.history(i).piece_start(t))
    return since


def report_once(run: Run, flag: int, kind: int) -> None:
    """Report a finding about each history that has this flag, once in a run."""
    for i in range(len(run.rings)):
        if run.history_flags[i] & flag != 0 and run.reported_histories[i] & flag == 0:
            run.reported_histories[i] |= flag
            report_finding(run, kind, i, 0.0)
