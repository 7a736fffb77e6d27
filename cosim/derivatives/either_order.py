"""Events of one instant whose times move apart, but whose order may not matter, as with equal parts.

Their handlers are differentiated one by one, in the order of the tape and in the reverse order. Where both
orders lead to the same variables and the same tangents, these are the derivatives on either side.
"""

from __future__ import annotations

from cosim.derivatives.carrier import (
    CHANGES_ORDER,
    IS_MOTION,
    IS_REPORT,
    NOT_FRESH,
    lose,
    shift_time,
)
from cosim.derivatives.event_order import check_order, moves_apart_from, store_shift
from cosim.derivatives.instant_copies import (
    AT_END,
    AT_START,
    has_same_end,
    has_same_values,
    restore_start,
    save,
    still_crosses,
    store_witness,
)
from cosim.derivatives.tangent_cache import realize_tangents
from cosim.derivatives.tangent_events import (
    begin_phase,
    compute_event_dots,
    copy_from_working,
    copy_to_working,
    follow_handler,
    follow_handlers,
    follow_phase,
    next_event,
    spread_of_event,
)
from cosim.run_data.records.handlers import TRIGGERED
from cosim.step import event_log as log
from cosim.step.block_calls import copy_reals
from cosim_compiler.calls import never_inlined


def follow_instant(run, carrier, cause, first, last):
    """Differentiate the handlers of one kind and cause, whose events lie in a part of the tape."""
    begin_phase(run, carrier, cause)
    if carrier.order_copies.shape[0] > 0 and move_apart(run, carrier, first, last):
        follow_in_either_order(run, carrier, first, last)
    else:
        follow_phase(run, carrier, first, last)


def move_apart(run, carrier, first, last):
    """Whether there are several events with times of their own, and these times move apart."""
    at = next_event(run, first, last)
    if (
        carrier.notes.is_shifted != 0.0
        or next_event(run, at + int(log.logged_event(run, at).length), last) >= last
    ):
        return False
    shifts = carrier.order_copies[: carrier.directions]
    count = 0
    while at < last:
        event = log.logged_event(run, at)
        if compute_event_dots(run, carrier, run.handlers[int(event.handler)]):
            if count > 0 and moves_apart_from(carrier, shifts, carrier.event_dots, 0.0):
                return True
            copy_reals(carrier.event_dots, shifts)
            count += 1
        at = next_event(run, at + int(event.length), last)
    return False


@never_inlined
def follow_in_either_order(run, carrier, first, last):
    """Differentiate handlers one by one, in both orders; give up where the results differ."""
    compare_with_last(run, carrier, first, last)
    save(carrier, AT_START)
    count = follow_each(run, carrier, first, last, False)
    realize_tangents(run, carrier, IS_MOTION)
    save(carrier, AT_END)
    restore_start(carrier)
    realize_tangents(run, carrier, IS_REPORT)
    follow_handlers(run, carrier, first, last)
    # in the run all handlers read the same values, and one may overwrite what another has written
    is_same = has_same_values(carrier)
    restore_start(carrier)
    follow_each(run, carrier, first, last, True)
    realize_tangents(run, carrier, IS_MOTION)
    last_handler = int(log.logged_event(run, place_of_event(run, first, last, count - 1)).handler)
    if not is_same or not has_same_end(carrier):
        lose(carrier, carrier.notes.time, CHANGES_ORDER, last_handler)
    store_shift(carrier, 1 + last_handler, 0.0)
    carrier.notes.went_apart = 1.0 + last_handler


def compare_with_last(run, carrier, first, last):
    """Compare each event with the last one of another instant, and store its witness."""
    at = next_event(run, first, last)
    while at < last:
        event = log.logged_event(run, at)
        handler = run.handlers[int(event.handler)]
        if compute_event_dots(run, carrier, handler):
            check_order(run, carrier, handler.number, spread_of_event(run, carrier, handler))
        if handler.cause == TRIGGERED:
            store_witness(run, carrier, handler)
        at = next_event(run, at + int(event.length), last)


def follow_each(run, carrier, first, last, is_backward):
    """Differentiate the handlers of events one by one; returns the number of events."""
    count = 0
    at = next_event(run, first, last)
    while at < last:
        count += 1
        at = next_event(run, at + int(log.logged_event(run, at).length), last)
    for n in range(count):
        number = count - 1 - n if is_backward else n
        follow_one(run, carrier, log.logged_event(run, place_of_event(run, first, last, number)))
    return count


def place_of_event(run, first, last, number):
    """The place on the tape of an event by its number in its phase."""
    at = next_event(run, first, last)
    for _ in range(number):
        at = next_event(run, at + int(log.logged_event(run, at).length), last)
    return at


def follow_one(run, carrier, event):
    """Differentiate the handler of one event as if it were the only one of its instant."""
    realize_tangents(run, carrier, IS_REPORT)
    handler = run.handlers[int(event.handler)]
    if handler.cause == TRIGGERED and not still_crosses(run, carrier, handler):
        lose(carrier, carrier.notes.time, CHANGES_ORDER, handler.number)
    if compute_event_dots(run, carrier, handler):
        shift_time(run, carrier, carrier.event_dots)
        carrier.notes.is_shifted = 1.0
        realize_tangents(run, carrier, IS_REPORT)
    copy_to_working(run, carrier)
    if event.answer > 0.0:
        follow_handler(run, carrier, handler)
    copy_from_working(run, carrier)
    carrier.notes.freshness = NOT_FRESH
