"""Witnesses that lie at zero: how close to zero is rounding, and on which side they have to leave it.

A witness lies at zero while it is no further from its level than its band, and counts as exactly zero there.
The band of a witness is how far it moves when the states and the time that it is computed from are moved by
1e-14 to 2e-14 of themselves. Its guard says how it came there, and what leaving zero means:

================= ========================================= ==================================================
guard             how it came to zero                       what is an event then
================= ========================================= ==================================================
UNGUARDED         by itself, and that was an event          nothing
DOWNWARD, UPWARD  set there, and one direction triggers;    leaving downward, upward
                  or turned round there by its handlers
EITHER            set there, and both directions trigger    leaving either way
ARRIVED, -ARRIVED by itself, from above, from below, and    passing, and staying or going back
                  has not passed                            (`list_arrivals`)
PASSED, -PASSED   from above, from below, and was stopped   nothing
                  just behind zero
================= ========================================= ==================================================

The sign of a guard other than EITHER is the side from which the witness came: positive above. Guards are set
where a run starts (`start_zeros`), at the end of each step (`store_zeros`), before updates (`list_arrivals`)
and behind them (`guard_set_witnesses`, `triggered.set_level_after_handlers`); `is_out` says when one is over.
"""

from __future__ import annotations

from cosim.run_data.records.handlers import TRIGGERED, Handler
from cosim.run_data.records.witnesses import (
    ARRIVED,
    BOTH,
    DOWNWARD,
    EITHER,
    FALLING,
    NOT_AT_ZERO,
    PASSED,
    UNGUARDED,
    UPWARD,
)
from cosim.run_data.run import Run
from cosim.step.block_calls import copy_cache, probed
from cosim.step.holds import is_held
from cosim.step.witness_values import (
    MOVED_BY,
    RATE_SPACING,
    compute_rates,
    direction_of,
    evaluate_moved,
    falling_triggers,
    has_events,
    is_timed,
    measure_rounding,
    relative_move,
    rising_triggers,
    rounding,
    value,
)
from cosim.walker import walk

NEAR = 1e-12  # of the largest number around: further away from zero nothing is measured
NOT_NEAR = -1.0  # in place of a rounding: no value is as small
STOPPED = 1e-6  # of the rate before: slower is a stop
# `was_set` says what the updates of an instant have done to a witness that lies at zero:
NOT_SET = 0
SET_BY_OWN = 1  # its own handler has set it to zero again
SET_BY_ANOTHER = -1  # the handler of another event has set it to zero
TAKEN_AWAY = 2  # it had come to zero and had not passed, and was written to
WITHOUT_EFFECT = 3  # its own handler has set a state that another handler has overwritten


def set_guard(run: Run, i: int) -> float:
    """The guard of a witness that was set to zero: its triggering side."""
    direction = direction_of(run, i)
    if direction == BOTH:
        return EITHER
    return DOWNWARD if direction == FALLING else UPWARD


def leaving_triggers(guard: float, after: float) -> bool:
    """Whether going from zero to a value is an event of a witness with this guard."""
    guards_below = guard > 0.0
    guards_above = guard < 0.0 or guard == EITHER
    return (guards_below and after < 0.0) or (guards_above and after > 0.0)


def passing_triggers(direction: int, before: float, after: float) -> bool:
    """Whether it is an event to go from a value to zero, or to the other side, where `direction` triggers."""
    falls = falling_triggers(direction) and before > 0.0 and after <= 0.0
    rises = rising_triggers(direction) and before < 0.0 and after >= 0.0
    return falls or rises


def came_to_zero(guard: float) -> bool:
    """Whether a witness has come to zero and has not passed it."""
    return abs(guard) == ARRIVED


def was_stopped_behind(guard: float) -> bool:
    """Whether a witness has passed zero and was stopped just behind it."""
    return abs(guard) == PASSED


def is_turned_round(guard: float) -> bool:
    """Whether leaving zero one way is an event: the witness was set or turned round there."""
    return guard in (DOWNWARD, UPWARD)


def is_out(run: Run, i: int, number: float) -> bool:
    """Whether a value of a witness that was turned round is out on the side from which it came.

    One that was stopped behind its zero, or was held beside it, is out on either side.
    """
    witness = run.witnesses[i]
    zero = witness.level
    guard = witness.guard
    if zero == 0.0 or not abs(number - zero) > witness.band:
        return False
    if guard == UNGUARDED:
        is_between = 0.0 <= number <= zero or zero <= number <= 0.0
        return not is_between  # else it has not passed its zero
    return number * guard > 0.0 or (was_stopped_behind(guard) and (number - zero) * zero > 0.0)


def stays_behind_zero(run: Run, i: int, now: float) -> bool:
    """Whether a witness that rests just behind zero, and was written to `now`, still rests there.

    It does if it has moved no further than its distance from zero, or than rounding. Otherwise it is on a
    side of zero and needs no guard, which would trigger when it comes to zero from there and goes back.
    """
    zero = run.witnesses[i].level
    moved = abs(now - zero)
    return moved <= abs(zero) or moved <= measured_rounding(run, i)


def reset_level(run: Run, i: int, now: float) -> None:
    """Make zero the level of a witness again, which is `now`; where it lies at zero, it stays on guard."""
    witness = run.witnesses[i]
    guard = witness.guard
    witness.clear_level()
    if is_near(run, i, now, 0.0, largest_state(run)):
        measure_rounding(run)
        if abs(now) <= rounding(run, i):
            witness.rest_at(0.0, guard if is_turned_round(guard) else UNGUARDED, rounding(run, i))


def is_near(run: Run, i: int, number: float, before: float, largest: float) -> bool:
    """Whether a value of a witness may be zero up to rounding, beside the `largest` state and one before."""
    scale = max(largest, abs(before))
    if is_timed(run, i):
        scale = max(scale, abs(run.clock.time))
    return abs(number) <= NEAR * scale


def largest_state(run: Run) -> float:
    """The largest of the states."""
    largest = 0.0
    for m in range(run.y.shape[0]):
        largest = max(largest, abs(run.y[m]))
    return largest


def clear_measures(run: Run) -> None:
    """Forget what was measured: the state has changed. Measuring takes evaluations, so it is done once."""
    run.transient.largest_state = -1.0
    run.transient.has_roundings = 0.0


def measured_rounding(run: Run, i: int) -> float:
    """The rounding of a witness, which is measured for the first witness that asks since `clear_measures`."""
    if run.transient.has_roundings == 0.0:
        measure_rounding(run)
        run.transient.has_roundings = 1.0
    return rounding(run, i)


def rounding_near_zero(run: Run, i: int, number: float, before: float) -> float:
    """The rounding of a witness; NOT_NEAR, unmeasured, where a value of it is too large to be rounding.

    `before` is an earlier value of it. See `measured_rounding`.
    """
    if run.transient.largest_state < 0.0:
        run.transient.largest_state = largest_state(run)
    if is_near(run, i, number, before, run.transient.largest_state):
        return measured_rounding(run, i)
    return NOT_NEAR


def start_zeros(run: Run) -> None:
    """Find the witnesses that lie at zero at the beginning of a run: the start has set them there."""
    measure_rounding(run)
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        is_zero = abs(value(run, i)) <= rounding(run, i)
        witness.band = rounding(run, i) if is_zero else NOT_AT_ZERO
        witness.guard = set_guard(run, i) if is_zero else UNGUARDED


def store_zeros(run: Run, has_triggered: bool) -> None:
    """At the end of a step store which witnesses lie at zero, and which have arrived there without passing.

    With `has_triggered` those in `has_crossed` have crossed. Roundings and rates take evaluations: they are
    computed once, for the first witness that asks for them.
    """
    time = run.clock.time
    far = NEAR * max(largest_state(run), abs(time))
    length = time - run.last_step.start
    share = MOVED_BY * max(1.0, abs(time) / length) if length > 0.0 else 0.0
    clear_measures(run)
    has_rates = False
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        distance = abs(value(run, i) - witness.level)
        before = run.values_before[i] - witness.level
        is_far = distance > far and distance > NEAR * abs(before)
        if is_far and not witness.lies_at_zero() and not has_triggered:
            continue  # most are
        has_crossed = has_triggered and run.has_crossed[i] != 0
        if has_crossed and came_to_zero(witness.guard):
            witness.guard = UNGUARDED
        if not has_events(run, i):
            continue
        if store_zero(run, i, has_crossed, share):
            if not has_rates:
                compute_rates(run, RATE_SPACING)
                has_rates = True
            witness.rate = run.rates_now[i]
            witness.guard = ARRIVED if before > 0.0 else -ARRIVED


def store_zero(run: Run, i: int, has_crossed: bool, share: float) -> bool:
    """Store whether a witness lies at zero at the end of a step; whether it has arrived without passing.

    `share` is that of the change of a witness in the step which rounding of the time may have caused.
    """
    witness = run.witnesses[i]
    band = witness.band
    now = value(run, i) - witness.level
    before = run.values_before[i] - witness.level
    if witness.lies_at_zero() and abs(now) <= 0.5 * band:
        return False  # it stays there, and so does its band
    noise = rounding_near_zero(run, i, now, before)
    if noise != NOT_NEAR:
        # what comes to zero was rounded where it came from, and no time is finer than its rounding
        noise = max(noise, share * abs(now - before))
    if witness.lies_at_zero():
        # one that drifts, by less than its rounding in a whole step, takes its band with it
        drifts = abs(now - before) <= 0.25 * noise and not has_crossed
        band = max(band, 2.0 * abs(now)) if drifts else band
        witness.band = band if abs(now) <= band else NOT_AT_ZERO
        return False
    if not abs(now) <= noise:
        return False
    leaves = now > before > 0.0 or now < before < 0.0
    if not has_crossed and (leaves or is_turned_round(witness.guard)):
        return False  # it is on its way away from zero, or on a flight from where it was turned
    witness.band = noise
    return not has_crossed and passing_triggers(direction_of(run, i), before, 0.0)


def has_arrivals(run: Run) -> bool:
    """Whether a witness has come to zero and has not passed it, or was taken away from there."""
    has_arrived = False
    for i in range(len(run.witnesses)):
        was_taken = run.was_set[i] == TAKEN_AWAY
        has_arrived = has_arrived or was_taken or came_to_zero(run.witnesses[i].guard)
    return has_arrived


def list_arrivals(run: Run) -> bool:
    """List in `has_crossed` the witnesses that have come to zero and stay, or go back; whether there are any.

    They came no further than rounding before the start of this step, and its updates have run. A witness that
    an update has taken away from there is listed as well.
    """
    has_listed = False
    for i in range(len(run.witnesses)):
        was_taken = run.was_set[i] == TAKEN_AWAY
        is_set = was_taken and run.witnesses[i].guard != UNGUARDED
        run.has_crossed[i] = 1 if was_taken else 0
        run.was_set[i] = SET_BY_ANOTHER if is_set else NOT_SET
    compute_rates(run, RATE_SPACING)
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        run.values_before[i] = value(run, i)
        if came_to_zero(witness.guard) and witness.lies_at_zero():
            rate = run.rates_now[i]
            goes_back = rate * witness.guard >= 0.0
            stops = abs(rate) <= STOPPED * abs(witness.rate)
            if goes_back or stops:
                run.has_crossed[i] = 1
                # one that goes back may come again before it is out, and passes then
                turned = DOWNWARD if witness.guard > 0.0 else UPWARD
                witness.guard = UNGUARDED if stops else turned
        has_listed = has_listed or run.has_crossed[i] != 0
    return has_listed


def is_handler_of(handler: Handler, i: int) -> bool:
    """Whether a handler is called by a witness."""
    return handler.cause == TRIGGERED and handler.flag == i


def may_be_set(run: Run, handler: Handler, i: int) -> bool:
    """Whether it matters that a handler has set a witness: it lies at zero, or passes it at this instant."""
    fires = run.has_fired[i] != 0 and not is_handler_of(handler, i)
    return fires or run.witnesses[i].lies_at_zero()


def may_set_some(run: Run, handler: Handler) -> bool:
    """Whether it matters for some witness that a handler may have set it."""
    matters = False
    for link in run.states_set_by(handler):
        matters = matters or may_be_set(run, handler, link.witness)
    return matters


def mark_set_witnesses(run: Run, handler: Handler) -> None:
    """Mark in `was_set` the witnesses that a handler has set to the zero at which they lie.

    Where the handler is not theirs, those that fire at this instant, just behind zero, count as well. It is
    called once more with the states that it may set moved: a witness that it sets does not move.
    """
    if not may_set_some(run, handler):
        return
    moved_state, moved_cache = probed(run)
    copy_cache(run, run.c, moved_cache)
    if not call_with_moved_states(run, handler) or not evaluate_moved(run, run.clock.time):
        return
    for link in run.states_set_by(handler):  # how far the witnesses move with the states
        i = link.witness
        run.roundings[i] = abs(moved_cache[run.probes[i].value] - value(run, i))
    for link in run.states_set_by(handler):
        moved_state[link.state] = run.c[link.result]
    if not evaluate_moved(run, run.clock.time):
        return
    for link in run.states_set_by(handler):  # and how far with what the handler makes of them
        i = link.witness
        set_value = value(run, i) if run.witnesses[i].lies_at_zero() else 0.0
        distance = abs(moved_cache[run.probes[i].value] - set_value)
        if distance < 0.5 * rounding(run, i) and may_be_set(run, handler, i):
            run.was_set[i] = SET_BY_OWN if is_handler_of(handler, i) else SET_BY_ANOTHER


def call_with_moved_states(run: Run, handler: Handler) -> bool:
    """Call a handler with the states that it may set moved, which are kept; whether it could be called."""
    y, _ = probed(run)
    largest = largest_state(run)
    for m in range(run.y.shape[0]):
        y[m] = run.y[m]
    for link in run.states_set_by(handler):
        m = link.state
        y[m] = run.y[m] + relative_move(m, 0) * (largest if largest > 0.0 else 1.0)
        run.c[link.result] = y[m]
    block = handler.block
    t = run.clock.time
    return walk(run.table, run.ints, block, block + 1, t, y, run.p, run.d, run.k, run.h, run.c) == 0


def guard_set_witnesses(run: Run) -> None:
    """After updates, guard the witnesses that they have set to zero: leaving it is an event.

    `was_set` says which of those that lay at zero were set there again. It becomes TAKEN_AWAY for a witness
    that had come to zero and was written to, else NOT_SET.
    """
    clear_measures(run)
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        now = value(run, i)
        before = run.values_before[i]
        was_set = run.was_set[i] != NOT_SET
        run.was_set[i] = NOT_SET
        if (now == before or now != now) and not was_set:
            continue  # no update has reached it, or it is not a number
        if is_out(run, i, before):
            witness.clear_level()
        witness.value = now
        was_turned = run.was_handled[i] != 0 and witness.guard != UNGUARDED
        if was_turned or is_held(run, i):
            continue  # its own handlers have said what leaving zero means
        if now == before:
            guard_set_again(run, i)
        else:
            guard_written(run, i, before, now)


def guard_set_again(run: Run, i: int) -> None:
    """Guard a witness that updates have set to the value that it had, if it lies at zero."""
    witness = run.witnesses[i]
    if witness.lies_at_zero() and witness.level == 0.0:
        if came_to_zero(witness.guard):
            run.was_set[i] = TAKEN_AWAY
        witness.guard = set_guard(run, i)


def guard_written(run: Run, i: int, before: float, now: float) -> None:
    """Say what counts as zero for a witness that updates have moved from one value to another."""
    witness = run.witnesses[i]
    if came_to_zero(witness.guard) and witness.lies_at_zero():
        run.was_set[i] = TAKEN_AWAY
        witness.guard = UNGUARDED
    noise = rounding_near_zero(run, i, now, before)
    if abs(now) <= noise:
        witness.rest_at(0.0, set_guard(run, i), noise)
    elif witness.level != 0.0 and stays_behind_zero(run, i, now):
        witness.level = now
    else:
        witness.clear_level()
