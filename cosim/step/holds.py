"""Witnesses that are held at their zero because their events do not end.

`Holds` says how many are held, `held_order` which. Each witness has a `Hold`, and either the direction of a
push (`push_of`), as many numbers as there are states, where its handlers have changed the state, or the
`Switch` of each variable that they have switched (`switch_of`). While something is held the integrator walks
a second list of the blocks of a derivative, with `sliding_field` at its end. The row of that block in `ints`
and the numbers behind the cache in `c` are written from here before each step.
"""

from __future__ import annotations

from cosim.component.history import RING
from cosim.run_data.records.handlers import IN_D, IN_K, IN_Y, PUBLISH, TRIGGERED, WRITES_SUMS, Handler, Result
from cosim.run_data.records.holds import (
    IN_SWITCH_D,
    IN_SWITCH_K,
    IN_SWITCH_P,
    PUSHED,
    SET_BACK,
    SWITCHED,
    Hold,
    Switch,
)
from cosim.run_data.records.witnesses import (
    BOTH,
    EITHER,
    EXACT_BAND,
    LEAVING,
    NO_DIRECTION,
    NOT_AT_ZERO,
    NOT_EXPECTED,
    REPORTED,
    UNGUARDED,
)
from cosim.run_data.run import Reals, Run
from cosim.step.block_calls import copy_cache, walk_here
from cosim.step.event_log import HELD as FOUND_HELD
from cosim.step.event_log import RELEASED, RELEASED_BY_HANDLER, RELEASED_BY_WRITE, report_finding
from cosim.step.failures import BlockFailed, NothingToHoldBy
from cosim.step.sliding_field import (
    SWITCHED_WIDTH,
    HeldWitness,
    ListedBlock,
    SlidingRow,
    Switched,
    field_numbers,
)
from cosim.step.witness_values import (
    MOST_REPEATS,
    RATE_SPACING,
    compute_rates,
    direction_of,
    error_of_accuracy,
    falling_triggers,
    measure_rounding,
    rates_along,
    rising_triggers,
    value,
)
from cosim.walker import walk
from cosim_compiler.record import rows_of

KEPT = 0.5  # of its rate: a witness that keeps more goes on as before


def can_hold(run: Run) -> bool:
    """Whether witnesses may be held at all."""
    return run.plan.held.last > 0


def held_count(run: Run) -> int:
    """The number of held witnesses."""
    return int(run.holds.count) if can_hold(run) else 0


def held_at(run: Run, j: int) -> int:
    """The index of the `j`-th held witness."""
    return int(run.held_order[j])


def hold_of(run: Run, i: int) -> Hold:
    """The hold of a witness."""
    return run.witness_holds[i]


def push_of(run: Run, i: int) -> Reals:
    """The direction in which a held witness is pushed."""
    n = run.y.shape[0]
    return rows_of(float, run.hold_pushes, n * i, n)


def switch_of(run: Run, i: int, s: int) -> Switch:
    """One of the `Hold.size` variables that a held witness switches."""
    return run.hold_switches[run.plan.switchable * i + s]


def clear_holds(run: Run) -> None:
    """Hold no witness: a run begins."""
    if can_hold(run):
        run.holds.count = 0.0
        run.holds.uses_own_method = 0.0
        run.holds.has_derivatives = 0.0


def uses_held_method(run: Run) -> bool:
    """Whether the memory of the method is that of a system with held witnesses."""
    return can_hold(run) and run.holds.uses_own_method != 0.0


def mark_held_derivatives(run: Run, is_held: bool) -> None:
    """Note whether the derivatives were computed with what holds witnesses."""
    if can_hold(run):
        run.holds.has_derivatives = 1.0 if is_held else 0.0


def has_held_derivatives(run: Run) -> bool:
    """Whether the derivatives in the cache are those with what holds witnesses."""
    return can_hold(run) and run.holds.has_derivatives != 0.0


def is_held(run: Run, i: int) -> bool:
    """Whether a witness is held."""
    is_listed = False
    for j in range(held_count(run)):
        is_listed = is_listed or held_at(run, j) == i
    return is_listed


def list_held(run: Run, place: int, i: int) -> int:
    """List a witness as held, at a place of the order; the place behind it."""
    run.held_order[place] = float(i)
    return place + 1


def exclude_held(run: Run) -> None:
    """Set the directions in which witnesses have to cross, none for those that are held."""
    for i in range(len(run.witnesses)):
        run.probes[i].direction = direction_of(run, i)
    for j in range(held_count(run)):
        run.probes[held_at(run, j)].direction = NO_DIRECTION


def prepare_sliding_field(run: Run) -> None:
    """Write the row of `sliding_field` and the numbers that it works with."""
    held = held_count(run)
    row = rows_of(SlidingRow, run.held_ints, run.plan.held_row, 1)[0]
    numbers = field_numbers(run.c, held, run.y.shape[0], run.plan.cache_size)
    at = row.switches_at
    sides = 0
    row.held = held
    row.pushed = 0
    for j in range(held):
        hold = hold_of(run, held_at(run, j))
        list_held_witness(run, row, j)
        write_push(run, j, numbers.pushes)
        if hold.kind == PUSHED:
            row.pushed += 1
        if hold.kind == SWITCHED:
            count = int(hold.size)
            write_switches(run, j, at, numbers.sides, sides)
            at += 1 + SWITCHED_WIDTH * count
            sides += 2 * count


def list_held_witness(run: Run, row: SlidingRow, j: int) -> None:
    """Write the entry of the `j`-th held witness: where its value is, and how its rate is computed."""
    held = held_count(run)
    i = held_at(run, j)
    kind = run.witness_kinds[i]
    own_rate = rows_of(ListedBlock, run.held_ints, row.rates_at, len(run.witnesses))[i]
    entry = rows_of(HeldWitness, run.held_ints, row.witnesses_at, held)[j]
    entry.value = run.probes[i].value
    entry.rate = run.probes[i].rate
    entry.kind = int(hold_of(run, i).kind)
    entry.straight_block = kind.own_block if kind.is_straight != 0 else -1
    entry.rate_block = i if own_rate.address != 0 else -1
    entry.side = int(hold_of(run, i).side)
    entry.is_first = 1
    for earlier in range(j):
        if run.witness_kinds[held_at(run, earlier)].own_block == kind.own_block:
            entry.is_first = 0


def write_push(run: Run, j: int, pushes: Reals) -> None:
    """Write the direction in which the `j`-th held witness is pushed: zeros if it switches variables."""
    n = run.y.shape[0]
    i = held_at(run, j)
    is_pushed = hold_of(run, i).kind != SWITCHED
    direction = push_of(run, i)
    for m in range(n):
        pushes[j * n + m] = direction[m] if is_pushed else 0.0


def write_switches(run: Run, j: int, at: int, sides: Reals, first_side: int) -> None:
    """Write the variables that the `j`-th held witness switches, from `at` on, and both values of each."""
    i = held_at(run, j)
    count = int(hold_of(run, i).size)
    run.held_ints[at] = count
    for s in range(count):
        switch = switch_of(run, i, s)
        switched = rows_of(Switched, run.held_ints, at + 1, count)[s]
        switched.array = int(switch.array)
        switched.offset = int(switch.offset)
        switched.sides_at = first_side + 2 * s
        sides[first_side + 2 * s] = switch.present
        sides[first_side + 2 * s + 1] = switch.other


def realize_held(run: Run) -> None:
    """Compute the derivatives with what holds witnesses, at the present state."""
    prepare_sliding_field(run)
    first = run.plan.held.first
    last = run.plan.held.last
    status = walk(
        run.held_table, run.held_ints, first, last, run.clock.time, run.y, run.p, run.d, run.k, run.h, run.c
    )
    mark_held_derivatives(run, True)
    if status != 0:
        run.failure.block = min(
            status - 1 - first + run.plan.derivatives.first, run.plan.derivatives.last - 1
        )
        raise BlockFailed()


def release_unpressed(run: Run) -> None:
    """Release the witnesses that no rate presses against zero any more.

    One that leaves on the side for which its variables are not switched fires once more: now, or just
    behind its zero where that is still ahead.
    """
    count = held_count(run)
    if count == 0:
        return
    realize_held(run)
    multipliers = field_numbers(run.c, count, run.y.shape[0], run.plan.cache_size).multipliers
    remaining = 0
    for j in range(count):
        i = held_at(run, j)
        strength = multipliers[j]
        switches_over = hold_of(run, i).kind == SWITCHED and strength >= 1.0
        if strength > 0.0 and not switches_over:
            remaining = list_held(run, remaining, i)
            continue
        start_released(run, i)
        report_finding(run, RELEASED, i, 0.0)
        if switches_over:
            switch_over(run, i)
    if remaining == count:
        return
    run.holds.count = float(remaining)
    # the derivatives that are left in the cache are those with the holds
    mark_held_derivatives(run, False)
    walk_here(run, run.plan.derivatives.first, run.plan.derivatives.last)


def start_released(run: Run, i: int) -> None:
    """Say what counts as zero, and what leaving it means, for a witness that is held no longer."""
    now = value(run, i)
    witness = run.witnesses[i]
    hold = hold_of(run, i)
    if hold.kind == SWITCHED:
        start_leaving(run, i, -hold.side)  # the last switch has sent it back to `side`: that was the hold
    elif hold.kind == SET_BACK and direction_of(run, i) == BOTH:
        witness.start_over(now, EITHER, EXACT_BAND)  # it would be set back from the other side as well
    elif hold.kind == PUSHED or now * hold.side > 0.0:
        start_leaving(run, i, hold.side)
    else:
        witness.start_over(now, hold.side, EXACT_BAND)


def start_leaving(run: Run, i: int, side: float) -> None:
    """Say what counts as zero for a witness that leaves its hold toward a side, as slowly as can be.

    The errors of the first steps, and what let it return to zero, are no crossing.
    """
    now = value(run, i)
    if now * side > 0.0:  # it is out
        run.witnesses[i].start_over(0.0, UNGUARDED, NOT_AT_ZERO)
    else:
        measure_rounding(run)
        run.witnesses[i].start_over(now, side, error_of_accuracy(run, i))


def switch_over(run: Run, i: int) -> None:
    """Let a witness leave on the side for which nothing is switched yet: its handlers run once more."""
    side = hold_of(run, i).side
    direction = direction_of(run, i)
    triggers = rising_triggers(direction) if side > 0.0 else falling_triggers(direction)
    witness = run.witnesses[i]
    if value(run, i) * side < 0.0 and triggers:  # its zero is still ahead
        witness.level = 0.0
        witness.band = NOT_AT_ZERO
    else:
        witness.repeats = LEAVING
        make_pending(run, i)


def make_pending(run: Run, i: int) -> None:
    """Mark the handlers of a witness as pending."""
    for handler in run.handlers:
        if handler.cause == TRIGGERED and handler.flag == i:
            run.next_index[handler.number] = 1


def start_over_after_write(run: Run, i: int, why: int) -> None:
    """Report why a hold has ended, and say what counts as zero for its witness: a variable was written."""
    report_finding(run, why, i, 0.0)
    witness = run.witnesses[i]
    now = value(run, i)
    side = hold_of(run, i).side
    if now * side <= 0.0:
        witness.start_over(now, side, EXACT_BAND)
    else:
        witness.start_over(0.0, UNGUARDED, NOT_AT_ZERO)


def was_overwritten(run: Run, i: int) -> bool:
    """Whether the variables that a held witness switches were given other values."""
    has_other_value = False
    if hold_of(run, i).kind == SWITCHED:
        for s in range(int(hold_of(run, i).size)):
            switch = switch_of(run, i, s)
            has_other_value = has_other_value or switched_value(run, switch) != switch.present
    return has_other_value


def switched_value(run: Run, switch: Switch) -> float:
    """The present value of a variable that a witness switches."""
    offset = int(switch.offset)
    if switch.array == IN_SWITCH_P:
        return run.p[offset]
    return float(run.k[offset]) if switch.array == IN_SWITCH_K else run.d[offset]


def evaluate_before_updates(run: Run) -> None:
    """Compute values and rates of the witnesses in the state that handlers found.

    The values are left in `window_values`, the rates, in 1/s, in `present_values`.
    """
    for number in range(len(run.rings)):
        place = run.rings[number]
        for m in range(RING):  # what histories hold has grown since
            run.starting.k[place + m] = run.k[place + m]
    before = run.starting
    twin = run.twin_cache
    copy_cache(run, run.c, twin)
    status = walk(
        run.table, run.ints, run.plan.first_row, run.plan.derivatives.last, run.clock.time,
        before.y, before.p, before.d, before.k, run.h, twin,
    )  # fmt: skip
    if status != 0:
        run.failure.block = status - 1
        raise BlockFailed()
    for i in range(len(run.witnesses)):
        run.window_values[i] = twin[run.probes[i].value]
    rates_along(run, before, twin, RATE_SPACING, run.present_values)


def release_reset(run: Run) -> None:
    """Release witnesses where handlers have changed what holds them; `starting` has the state before."""
    count = held_count(run)
    if count == 0:
        return
    moved = False
    for m in range(run.y.shape[0]):
        moved = moved or run.starting.y[m] != run.y[m]
    if moved:
        evaluate_before_updates(run)
        compute_rates(run, RATE_SPACING)
    remaining = 0
    for j in range(count):
        i = held_at(run, j)
        stays = not was_overwritten(run, i)
        if moved:
            stays = stays and run.window_values[i] == value(run, i)
            has_rate = run.present_values[i] == run.rates_now[i]
            stays = stays and (has_rate or hold_of(run, i).kind == SET_BACK or all_fired_are_endless(run))
        if stays:
            remaining = list_held(run, remaining, i)
        else:
            start_over_after_write(run, i, RELEASED_BY_HANDLER)
    run.holds.count = float(remaining)


def all_fired_are_endless(run: Run) -> bool:
    """Whether the handlers that have run are those of witnesses whose events do not end: all will be held."""
    some = False
    for i in range(len(run.witnesses)):
        if run.has_fired[i] != 0:
            some = True
            if not is_endless(run, i):
                return False
    return some


def release_moved(run: Run) -> None:
    """Release the held witnesses that were moved, or set in motion, since the last step."""
    count = held_count(run)
    if count == 0:
        return
    compute_rates(run, RATE_SPACING)
    remaining = 0
    for j in range(count):
        i = held_at(run, j)
        witness = run.witnesses[i]
        has_moved = value(run, i) != witness.value
        if hold_of(run, i).kind == PUSHED:
            has_moved = has_moved or run.rates_now[i] != witness.rate
        if has_moved:
            start_over_after_write(run, i, RELEASED_BY_WRITE)
        else:
            remaining = list_held(run, remaining, i)
    run.holds.count = float(remaining)


def store_held_rates(run: Run) -> None:
    """Store how fast the held witnesses change at the end of a step."""
    count = held_count(run)
    if count > 0:
        compute_rates(run, RATE_SPACING)
    for j in range(count):
        i = held_at(run, j)
        run.witnesses[i].rate = run.rates_now[i]


# What handlers of a witness have done, for a hold


def candidate_push(run: Run, i: int) -> Reals:
    """The change of the states by the handlers of a witness."""
    n = run.y.shape[0]
    return rows_of(float, run.candidate_pushes, n * i, n)


def candidate_switch(run: Run, i: int, s: int) -> Switch:
    """One of the variables that the handlers of witness `i` have switched, of `switched_counts[i]`."""
    return run.candidate_switches[run.plan.switchable * i + s]


def is_endless(run: Run, i: int) -> bool:
    """Whether a witness is to be held as soon as an event of it shows how."""
    return MOST_REPEATS <= run.witnesses[i].repeats < REPORTED


def clear_candidates(run: Run) -> None:
    """Forget what handlers have done, of the witnesses in `has_fired`: theirs are about to run."""
    for i in range(len(run.witnesses)):
        if run.has_fired[i] != 0:
            push = candidate_push(run, i)
            for m in range(run.y.shape[0]):
                push[m] = 0.0
            run.switched_counts[i] = 0


def collects_results(run: Run, handler: Handler) -> bool:
    """Whether what a handler writes says how its witness can be held."""
    if len(run.switched_counts) == 0 or handler.cause != TRIGGERED or handler.is_private != 0:
        return False
    return handler.flag >= 0 and handler.kind != PUBLISH


def collect_result(run: Run, handler: Handler, result: Result, m: int, before: float, after: float) -> None:
    """Add a number that a handler of a witness has written to its candidates; it replaces `before`."""
    i = handler.flag
    array = result.array
    offset = result.offset + m
    if array == IN_Y and result.write_pattern == WRITES_SUMS:
        candidate_push(run, i)[offset] += after - before
    elif array == IN_Y:
        if after != before:  # all have read the state at which they started
            candidate_push(run, i)[offset] = after - run.starting.y[offset]
    elif result.is_switchable != 0 and before != after:
        switch = candidate_switch(run, i, run.switched_counts[i])
        switch.array = float(IN_SWITCH_D if array == IN_D else IN_SWITCH_K if array == IN_K else IN_SWITCH_P)
        switch.offset = float(offset)
        switch.present = after
        switch.other = before
        run.switched_counts[i] += 1


def largest_push(run: Run, i: int) -> float:
    """The largest change of a state by the handlers of a witness; 0 where they have changed none."""
    largest = 0.0
    for change in candidate_push(run, i):
        largest = max(largest, abs(change))
    return largest


def is_set_back(run: Run, i: int, side: float) -> bool:
    """Whether the handlers of a witness have moved it back to the side from which it comes, and no more.

    Its rate goes on: a push that changes W'' alone would not hold it.
    """
    rate = run.witnesses[i].rate
    goes_on = rate * side < 0.0 and rate * run.rates_now[i] > KEPT * rate * rate
    return goes_on and (value(run, i) - run.values_before[i]) * side > 0.0


def store_push(run: Run, i: int, side: float) -> None:
    """Keep how handlers have pushed the state last, of the events in a row, where a hold will have it.

    `side` is that from which the witness comes.
    """
    hold = hold_of(run, i)
    largest = largest_push(run, i)
    is_shared = largest > 0.0 and other_witness_pushes(run, i)
    if is_shared and run.witnesses[i].repeats > 0.0 and is_pushable(hold):
        return  # the rate follows from all pushes of this instant: an earlier one shows which way it goes
    if largest > 0.0:
        hold.kind = float(SET_BACK if is_set_back(run, i, side) else PUSHED)
        hold.size = float(run.y.shape[0])
        push = push_of(run, i)
        change = candidate_push(run, i)
        for m in range(run.y.shape[0]):
            push[m] = change[m] / largest
    elif run.witnesses[i].repeats == 0.0:
        hold.size = 0.0


def is_pushed(run: Run, i: int, moves_on: bool) -> bool:
    """Whether a witness is held by a push: that of this event, else the last one where the state `moves_on`.

    Handlers leave state and derivatives as they are where rounding lets a body that rests leave by itself.
    """
    if largest_push(run, i) > 0.0:
        return True
    if not can_hold(run) or (not moves_on and run.switched_counts[i] > 0):
        return False
    return is_pushable(hold_of(run, i))


def is_pushable(hold: Hold) -> bool:
    """Whether an event of this row of events has left a push."""
    return hold.kind != SWITCHED and hold.size > 0.0


def other_witness_pushes(run: Run, i: int) -> bool:
    """Whether handlers of another witness than `i` have changed a state at this instant."""
    some = False
    for j in range(len(run.witnesses)):
        some = some or (j != i and run.has_fired[j] != 0 and largest_push(run, j) > 0.0)
    return some


def hold_witness(run: Run, i: int, side: float, moves_on: bool) -> None:
    """Hold a witness by what its handlers have done, see `is_pushed`."""
    hold = hold_of(run, i)
    if not is_pushed(run, i, moves_on):
        count = run.switched_counts[i]
        hold.kind = float(SWITCHED)
        hold.size = float(count)
        for s in range(count):
            candidate = candidate_switch(run, i, s)
            switch = switch_of(run, i, s)
            switch.array = candidate.array
            switch.offset = candidate.offset
            switch.present = candidate.present
            switch.other = candidate.other
        if count == 0:
            run.failure.witness = i
            raise NothingToHoldBy()
    hold.side = side
    held = held_count(run)
    run.held_order[held] = float(i)
    run.holds.count = float(held + 1)
    witness = run.witnesses[i]
    witness.start_over(0.0, UNGUARDED, NOT_AT_ZERO)
    for j in range(len(run.witnesses)):
        run.witnesses[j].expected = NOT_EXPECTED
    report_finding(run, FOUND_HELD, i, 0.0)
