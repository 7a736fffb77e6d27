"""Witnesses that are held at their zero because their events do not end: what holds one, and since when.

`Holds` says how many are held, `held_order` which. Each witness has a `Hold`, and either the direction of a
push (`push_of`), as many numbers as there are states, where its handlers have changed the state, or the
`Switch` of each variable that they have switched (`switch_of`).

What the handlers of a witness do at an event is collected as its candidates (`collect_result`). Pushes are
stored at each event (`store_push`); `hold_witness` takes what is known when the events turn out to be
endless. `realize` computes derivatives with what holds witnesses, `releases` ends holds.
"""

from __future__ import annotations

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
    NO_DIRECTION,
    NOT_AT_ZERO,
    NOT_EXPECTED,
    REPORTED,
    UNGUARDED,
)
from cosim.run_data.run import Reals, Run
from cosim.step.event_log import HELD as FOUND_HELD
from cosim.step.event_log import report_finding
from cosim.step.failures import NothingToHoldBy
from cosim.step.witness_values import (
    MOST_REPEATS,
    RATE_SPACING,
    compute_rates,
    direction_of,
    value,
)
from cosim_compiler.record import rows_of

GOES_ON = 0.5  # of its rate before: a witness that keeps more of it goes on as before


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
        run.holds.has_moving = 0.0


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


def store_held_rates(run: Run) -> None:
    """Store how fast the held witnesses change at the end of a step."""
    count = held_count(run)
    if count > 0:
        compute_rates(run, RATE_SPACING)
    for j in range(count):
        i = held_at(run, j)
        run.witnesses[i].rate = run.rates_now[i]


# What the handlers of a witness have done at an event


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
    goes_on = rate * side < 0.0 and rate * run.rates_now[i] > GOES_ON * rate * rate
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
    held = held_count(run)
    if held == 0:
        run.holds.has_moving = 0.0  # that of a hold which has ended before a step
    if hold.kind == PUSHED and hold.was_released != 0.0:
        run.holds.has_moving = 1.0
    hold.was_released = 0.0
    hold.side = side
    run.held_order[held] = float(i)
    run.holds.count = float(held + 1)
    run.course.hold_known = 0
    witness = run.witnesses[i]
    witness.start_over(0.0, UNGUARDED, NOT_AT_ZERO)
    for j in range(len(run.witnesses)):
        run.witnesses[j].expected = NOT_EXPECTED
    report_finding(run, FOUND_HELD, i, 0.0)
