"""Ending holds: witnesses that nothing presses against zero any more, or whose state was changed.

A hold ends where no rate presses its witness against zero (`release_unpressed`), where a handler has changed
what holds it (`release_reset`), and where a host has moved it between steps (`release_moved`). In each case
the witness gets a new level, guard and band: they say what leaving zero means from here on (`zeros`).
"""

from __future__ import annotations

from cosim.component.history import RING
from cosim.run_data.records.handlers import TRIGGERED
from cosim.run_data.records.holds import IN_SWITCH_K, IN_SWITCH_P, PUSHED, SET_BACK, SWITCHED, Switch
from cosim.run_data.records.witnesses import BOTH, EITHER, EXACT_BAND, LEAVING, NOT_AT_ZERO, UNGUARDED
from cosim.run_data.run import Run
from cosim.step.block_calls import copy_cache, walk_here
from cosim.step.event_log import RELEASED, RELEASED_BY_HANDLER, RELEASED_BY_WRITE, report_finding
from cosim.step.failures import BlockFailed
from cosim.step.holds import (
    held_at,
    held_count,
    hold_of,
    is_endless,
    list_held,
    mark_held_derivatives,
    switch_of,
)
from cosim.step.realize import realize_held
from cosim.step.sliding_field import field_numbers
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
        run.course.hold_known = 1
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
    hold_of(run, i).was_released = 1.0 if why == RELEASED_BY_HANDLER else 0.0
    if why == RELEASED_BY_HANDLER:  # its next event, if it is close, holds it again
        witness.fired = run.clock.time
        witness.repeats = MOST_REPEATS - 1.0


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
    run.course.hold_known = 0


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
    run.course.hold_known = 0
