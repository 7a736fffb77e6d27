"""Witnesses that trigger: what follows of it, and of what their handlers have done.

`mark_jumped` and `trigger_handlers` come before the updates of an instant, `follow_handlers` behind them.
There a witness gets the level, the guard and the band (see `zeros`) that its handlers have left it with, by
the first row that holds (`set_level_after_handlers`):

======================== ===================== ======= ======================== ===========
its handlers have        it is                 level   guard                    band
======================== ===================== ======= ======================== ===========
(others have set it)     zero                  zero    its triggering side      rounding
turned it round          close to zero         here    the side it came from    EXACT_BAND
stopped it by a reset    close to zero         here *  the side it came from    rounding
stopped it by a switch   zero                  zero    UNGUARDED                rounding
stopped it by a switch   close behind zero     here    PASSED                   rounding
sent it back, alone      zero                  zero    its triggering side      rounding
let it pass              zero                  zero    UNGUARDED                rounding
let it pass              further away          zero    UNGUARDED                NOT_AT_ZERO
======================== ===================== ======= ======================== ===========

Zero is what is no further from it than rounding; close to zero it is no further off than twice the value
with which it triggered. (*: zero, where it is zero.) What flies off from where it was turned round comes back
there exactly: with a band, flights as low as that would gain from falling below. A relay that switches at its
surface, to the last bit, and so is sent back has to see it again.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.run_data.records.handlers import PUBLISH, TRIGGERED, Handler
from cosim.run_data.records.plan import STOP_RUN
from cosim.run_data.records.witnesses import (
    BOTH,
    DOWNWARD,
    EXACT_BAND,
    LEAVING,
    NOT_EXPECTED,
    PASSED,
    REPORTED,
    UNGUARDED,
    UPWARD,
    Witness,
)
from cosim.run_data.run import Run
from cosim.step.event_log import CHATTERING, ZENO, report_finding
from cosim.step.failures import EndlessEvents
from cosim.step.holds import can_hold, hold_of, hold_witness, is_endless, is_held, is_pushed, store_push
from cosim.step.releases import release_moved, start_leaving
from cosim.step.witness_values import (
    RATE_SPACING,
    compute_rates,
    direction_of,
    is_condition,
    is_moved,
    level,
    measure_rounding,
    rounding,
    value,
)
from cosim.step.zeros import (
    NOT_NEAR,
    NOT_SET,
    SET_BY_ANOTHER,
    STOPPED,
    WITHOUT_EFFECT,
    clear_measures,
    is_near,
    is_out,
    is_turned_round,
    largest_state,
    leaving_triggers,
    list_arrivals,
    measured_rounding,
    passing_triggers,
    rounding_near_zero,
    set_guard,
    stays_behind_zero,
    was_stopped_behind,
)

KEPT_RATE = 0.9
"""A witness that keeps this share of its rate has not been turned by what its handlers have changed.

Rounding of a rate, or errors of the accuracy, change far less than a tenth of it; a handler that turns a
witness changes its sign. The random systems of `tests/step_oracle` give the same events with 0.5 and 0.99.
"""
STAYS_WITHIN = 2.0  # times the value with which it triggered: handlers have moved away what is further off
LOST = 4.0  # of the rounding: a flight is a quarter as high as its time times the speed at its end


class Turn(NamedTuple):
    """The change of a witness's direction by handlers, from its rates before and after."""

    side: float  # from which it comes: DOWNWARD from above, UPWARD from below
    stops: bool
    is_turned: bool  # round, or stopped
    is_on_its_way: bool  # still on its way out since it was turned the last time


def clear_predicted(run: Run) -> None:
    """Drop all predicted crossings: the states were written to."""
    for i in range(len(run.witnesses)):
        run.witnesses[i].expected = NOT_EXPECTED


def record_window(run: Run, start: float) -> None:
    """Store for the records of events the window that ends now, and the witnesses at both of its ends."""
    run.located.start = start
    run.located.end = run.clock.time
    for i in range(len(run.witnesses)):
        run.located_before[i] = run.values_before[i]
        run.located_after[i] = value(run, i)


def record_isolated_window(run: Run, start: float) -> None:
    """Store the window as `record_window` does, with the witnesses where the search has put its start."""
    record_window(run, start)
    for i in range(len(run.witnesses)):
        run.located_before[i] = run.window_values[i] + level(run, i)


def is_lost(run: Run, i: int, since: float) -> bool:
    """Whether a witness was no further from zero than rounding since its last event: it is pressed there."""
    flown = since * abs(run.witnesses[i].rate)
    if not is_near(run, i, flown / LOST, 0.0, largest_state(run)):
        return False
    measure_rounding(run)
    return flown <= LOST * rounding(run, i)


def trigger_handlers(run: Run, near_by: float) -> None:
    """Make the handlers of witnesses that have crossed pending, and count repeated events.

    An event repeats the last one of its witness if it follows within `near_by`, s, or if the flight between
    both is lost in rounding. `rates_now` has the rates of the witnesses.
    """
    now = run.clock.time
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        witness.rate = run.rates_now[i]
        if run.has_crossed[i] != 0:
            witness.expected = NOT_EXPECTED
            since = now - witness.fired
            near = since <= near_by or is_lost(run, i, since)
            witness.repeats = witness.repeats + 1.0 if near else 0.0
            witness.fired = now
    for handler in run.handlers:
        waits = handler.cause == TRIGGERED and handler.flag >= 0
        if waits and run.has_crossed[handler.flag] != 0:
            run.next_index[handler.number] = 1


def mark_jumped(run: Run) -> bool:
    """Mark in `has_crossed` the witnesses that crossed because the state was written since the last step."""
    any_crossed = False
    clear_predicted(run)
    release_moved(run)
    clear_measures(run)
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        before = witness.value
        now = value(run, i)
        run.values_before[i] = before
        run.has_crossed[i] = 0
        if now == before or is_held(run, i):
            continue
        if is_out(run, i, before):
            witness.clear_level()
        noise = rounding_near_zero(run, i, now, before)
        is_zero = abs(now) <= noise
        if lies_behind_zero(witness) and not is_zero and stays_behind_zero(run, i, now):
            witness.level = now
            continue
        has_crossed = jumps_across(run, i, before, now, is_zero)
        if is_zero:
            witness.rest_at(0.0, UNGUARDED if has_crossed else set_guard(run, i), noise)
        else:
            witness.clear_level()
        run.has_crossed[i] = 1 if has_crossed else 0
        any_crossed = any_crossed or has_crossed
    if any_crossed:
        record_window(run, run.clock.time)
    return any_crossed


def lies_behind_zero(witness: Witness) -> bool:
    """Whether a witness lies where it was turned round or stopped, and not at zero itself."""
    return witness.level != 0.0 and witness.guard != UNGUARDED


def jumps_across(run: Run, i: int, before: float, now: float, is_zero: bool) -> bool:
    """Whether it is an event of a witness that a write has moved it from one value to another."""
    witness = run.witnesses[i]
    if lies_behind_zero(witness) or (witness.lies_at_zero() and witness.level == 0.0):
        leaves = not is_zero and not was_stopped_behind(witness.guard)
        return leaves and leaving_triggers(witness.guard, now)
    if is_zero and is_moved(run, i):
        return False  # written to zero: leaving it will be the event
    return passing_triggers(direction_of(run, i), before, now)


def trigger_arrivals(run: Run) -> bool:
    """Trigger the handlers of witnesses that have come to zero and do not pass it; whether there are some."""
    if not list_arrivals(run):
        return False
    record_window(run, run.clock.time)
    trigger_handlers(run, 0.0)
    return True


def trigger_jumps(run: Run) -> bool:
    """Trigger handlers of witnesses that crossed because a variable was written; whether some did."""
    if mark_jumped(run):
        compute_rates(run, RATE_SPACING)
        trigger_handlers(run, 0.0)
        return True
    renew_rates(run)
    return False


def renew_rates(run: Run) -> None:
    """Renew the rates of witnesses on guard whose handlers still wait: writes may have changed them."""
    waits = False
    for handler in run.handlers:
        waits = waits or waits_on_guard(run, handler)
    if not waits:
        return
    compute_rates(run, RATE_SPACING)
    for handler in run.handlers:
        if waits_on_guard(run, handler):
            run.witnesses[handler.flag].rate = run.rates_now[handler.flag]


def waits_on_guard(run: Run, handler: Handler) -> bool:
    """Whether a handler waits that is called by a witness on guard where it was turned round."""
    if handler.cause != TRIGGERED or handler.flag < 0 or run.next_index[handler.number] == 0:
        return False
    return is_turned_round(run.witnesses[handler.flag].guard)


def list_pending(run: Run) -> None:
    """List handlers that a witness has triggered, into `waiting`; their witnesses, into `has_fired`."""
    run.answers.pushed = 0
    for i in range(len(run.witnesses)):
        run.has_fired[i] = 0
        run.values_before[i] = value(run, i)
    for handler in run.handlers:
        updating = handler.cause == TRIGGERED and handler.kind != PUBLISH
        run.waiting[handler.number] = 0
        if updating and run.next_index[handler.number] != 0:
            run.waiting[handler.number] = 1
            run.has_fired[handler.flag] = 1
    for i in range(len(run.witnesses)):
        if run.has_fired[i] == 0:
            run.was_set[i] = 0


def list_handled(run: Run) -> None:
    """List in `was_handled` the witnesses of which an update has run: one that failed still waits."""
    for i in range(len(run.witnesses)):
        run.was_handled[i] = 0
    for handler in run.handlers:
        waited = run.waiting[handler.number] != 0
        if waited and run.next_index[handler.number] == 0:
            run.was_handled[handler.flag] = 1


def have_run_alone(run: Run) -> bool:
    """Whether handlers of witnesses alone have run: nothing else that was due has changed how states move."""
    count = 0
    for handler in run.handlers:
        if run.waiting[handler.number] != 0 and run.next_index[handler.number] == 0:
            count += 1
    return run.answers.calls == count


def follow_handlers(run: Run, moves_on: bool) -> None:
    """Handlers of the witnesses in `was_handled` have run: decide what leaving zero means for each of them.

    One that was turned round is on guard where it is, one that was stopped rests there
    (`set_level_after_handlers`); one whose events do not end is held, or reported (`end_repetition`).
    `starting` has the state before. With `moves_on` the derivatives are the same as before.
    """
    if len(run.witnesses) == 0:
        return
    compute_rates(run, RATE_SPACING)
    moved = has_moved_states(run)
    alone = have_run_alone(run)
    clear_outdated_predictions(run)
    clear_measures(run)
    for i in range(len(run.witnesses)):
        if run.was_handled[i] == 0:
            continue
        witness = run.witnesses[i]
        now = value(run, i)
        if witness.repeats == LEAVING:  # it was held: where it is now counts as zero
            start_leaving(run, i, hold_of(run, i).side)
            continue
        turn = turn_of(run, i, moved, moves_on)
        noise = NOT_NEAR
        if turn.stops:
            noise = measured_rounding(run, i)
        elif witness.lies_at_zero() or now != witness.value:
            noise = rounding_near_zero(run, i, now, witness.value)
            if now == witness.value:
                noise = max(noise, witness.band)
        set_level_after_handlers(run, i, turn, noise, moved, alone)
        if can_hold(run):
            store_push(run, i, turn.side)
        if is_endless(run, i):
            end_repetition(run, i, turn.side, moves_on)


def has_moved_states(run: Run) -> bool:
    """Whether updates have changed a continuous state."""
    moved = False
    for m in range(run.y.shape[0]):
        moved = moved or run.starting.y[m] != run.y[m]
    return moved


def clear_outdated_predictions(run: Run) -> None:
    """Updates have run: a prediction stays where an event was the cause and has not touched the witness."""
    some = False
    for i in range(len(run.witnesses)):
        some = some or run.was_handled[i] != 0
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        same = value(run, i) == witness.value
        same = same and run.rates_now[i] == witness.rate
        if not (some and same):
            witness.expected = NOT_EXPECTED


def turn_of(run: Run, i: int, moved: bool, moves_on: bool) -> Turn:
    """The change of a witness's direction by handlers.

    A witness that was turned round before, and has not come out since, may have a rate of any sign: rates so
    small are rounding. It counts as turned once more, from the same side, where it is on its way out, where
    an update has set it, or where handlers have changed states and it does not go on through zero even so.
    """
    witness = run.witnesses[i]
    rate = witness.rate
    rate_now = run.rates_now[i]
    stops = abs(rate_now) <= STOPPED * abs(rate)
    if is_turned_round(witness.guard):
        side = witness.guard
        is_on_its_way = rate_now * side > 0.0 or (moves_on and rate_now == 0.0)
        was_set = run.was_set[i] != NOT_SET
        if is_on_its_way or was_set or (moved and not goes_on_through(run, i, side)):
            return Turn(side, stops, True, is_on_its_way)
    # signs, and no product: that of small rates is 0
    has_turned = rate > 0.0 >= rate_now or rate < 0.0 <= rate_now
    will_be_called_again = run.was_set[i] == WITHOUT_EFFECT
    is_turned = has_turned or (stops and rate != 0.0) or will_be_called_again
    return Turn(DOWNWARD if rate < 0.0 else UPWARD, stops, is_turned, False)


def goes_on_through(run: Run, i: int, side: float) -> bool:
    """Whether a witness that comes from a side goes on to the other one, in spite of its handlers.

    A rate that its differences do not resolve says nothing: a ball that is pressed to its floor would fall
    through it.
    """
    witness = run.witnesses[i]
    rate = witness.rate * side
    keeps_rate = rate < 0.0 and run.rates_now[i] * side <= KEPT_RATE * rate
    if not keeps_rate or value(run, i) != witness.value:
        return False
    return abs(rate) * RATE_SPACING > measured_rounding(run, i)


def is_final(run: Run, i: int, turn: Turn, moved: bool) -> bool:
    """Whether a witness that was turned round leaves zero that way alone: it was set there, or pushed away.

    What is stopped by a switch, or by what was due at this instant anyhow, has not been turned.
    """
    if run.was_set[i] != NOT_SET:
        return True
    if turn.stops:
        return run.answers.pushed != 0
    return moved or direction_of(run, i) != BOTH or turn.is_on_its_way


def set_level_after_handlers(run: Run, i: int, turn: Turn, noise: float, moved: bool, alone: bool) -> None:
    """Set the level, the guard and the band of a witness whose handlers have run, by the table above.

    `noise` is its rounding, or NOT_NEAR; `moved` says whether updates have changed a state,
    `alone` whether nothing but handlers of witnesses has run.
    """
    witness = run.witnesses[i]
    now = value(run, i)
    is_zero = abs(now) <= noise
    is_close = is_zero or abs(now) <= STAYS_WITHIN * abs(witness.value)
    can_rest = is_close and not is_condition(run, i)
    is_turned = turn.is_turned and (now * turn.side <= 0.0 or is_zero)
    here = 0.0 if is_zero else now
    if is_zero and run.was_set[i] == SET_BY_ANOTHER:
        witness.rest_at(0.0, set_guard(run, i), noise)
    elif can_rest and is_turned and is_final(run, i, turn, moved):
        if turn.stops:
            witness.rest_at(here, turn.side, noise)
        else:
            witness.rest_at(now, turn.side, EXACT_BAND)
    elif can_rest and turn.stops and witness.rate != 0.0:
        witness.rest_at(here, UNGUARDED if is_zero else turn.side * PASSED, noise)
    elif is_zero:
        is_sent_back = alone and is_turned and can_rest
        witness.rest_at(0.0, set_guard(run, i) if is_sent_back else UNGUARDED, noise)
    else:
        witness.clear_level()


def end_repetition(run: Run, i: int, side: float, moves_on: bool) -> None:
    """Deal with a witness whose events do not end: stop the run, hold the witness, or only report it."""
    report_finding(run, ZENO if is_pushed(run, i, moves_on) else CHATTERING, i, 0.0)
    if run.plan.policy == STOP_RUN:
        run.failure.witness = i
        raise EndlessEvents()
    if not can_hold(run):
        run.witnesses[i].repeats = REPORTED
        return
    hold_witness(run, i, side, moves_on)


def was_handled_on_guard(run: Run, i: int) -> bool:
    """Whether handlers have run of a witness that is on guard where it was turned round."""
    handled = run.was_handled[i] != 0
    return handled and is_turned_round(run.witnesses[i].guard) and not is_condition(run, i)


def stay_on_guard(run: Run) -> None:
    """Keep witnesses on guard whose handlers have run and have changed nothing.

    One that was turned round, has not come out since and does not go back has not passed: rounding let it
    come to where it was turned, and a handler that asks which way it goes was right to do nothing.
    """
    list_handled(run)
    asks = False
    for i in range(len(run.witnesses)):
        asks = asks or was_handled_on_guard(run, i)
    if not asks:
        return
    compute_rates(run, RATE_SPACING)
    for i in range(len(run.witnesses)):
        witness = run.witnesses[i]
        guard = witness.guard
        if not was_handled_on_guard(run, i) or not run.rates_now[i] * guard >= 0.0:
            continue
        witness.level = value(run, i)
        witness.band = EXACT_BAND
        if can_hold(run) and is_endless(run, i) and is_pushed(run, i, True):
            report_finding(run, ZENO, i, 0.0)
            hold_witness(run, i, guard, True)
