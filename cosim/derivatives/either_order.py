"""Events of one instant whose times move apart, but whose order may not matter, as of equal parts.

Their handlers are followed one by one, in the order of the tape and in the other one. Where both ways lead to
the same variables and the same tangents, these are the derivatives on either side.
"""

from __future__ import annotations

from cosim.derivatives.carrier import (
    CHANGES_ORDER,
    IS_MOTION,
    IS_REPORT,
    NOT_FRESH,
    lose,
    part_of,
    shift_time,
)
from cosim.derivatives.event_order import check_order, moves_apart_from, store_shift
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
from cosim.step.block_calls import copy_reals, different
from cosim_compiler.calls import never_inlined

SAME = 1e-9
"""By so much of its terms a tangent may differ between both orders."""
ROUNDING = 1e-13  # of the largest tangent along a direction


def follow_instant(run, carrier, cause, first, last):
    """Differentiate the handlers of one kind and cause, whose events lie in a part of the tape."""
    begin_phase(run, carrier, cause)
    if carrier.order_copies.shape[0] > 0 and move_apart(run, carrier, first, last):
        follow_in_either_order(run, carrier, first, last)
    else:
        follow_phase(run, carrier, first, last)


def move_apart(run, carrier, first, last):
    """Whether there are several events that have times of their own, which move apart."""
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
    """Follow handlers one by one, in both orders; without the same result there are no tangents any more."""
    compare_with_last(run, carrier, first, last)
    save_start(carrier)
    count = follow_each(run, carrier, first, last, False)
    realize_tangents(run, carrier, IS_MOTION)
    save_end(carrier)
    load_start(carrier)
    realize_tangents(run, carrier, IS_REPORT)
    follow_handlers(run, carrier, first, last)
    is_same = has_same_values(carrier)  # in the run they are called at once, and one may overwrite the other
    load_start(carrier)
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
    """Follow events one by one; how many there are."""
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


def store_witness(run, carrier, handler):
    """Store the witness of a handler, and how fast it is, before all events: behind all other copies."""
    at = place_of_witness(run, carrier, handler)
    place = run.probes[handler.flag].value
    carrier.order_copies[at] = carrier.c[place]
    carrier.order_copies[at + 1] = part_of(carrier.c_dots, 0, carrier.c)[place]


def place_of_witness(run, carrier, handler):
    """Where in the copies the witness of a handler stands."""
    return carrier.order_copies.shape[0] - 2 * (len(run.handlers) - handler.number)


def still_crosses(run, carrier, handler):
    """Whether other events have left a witness where it was, and on its way: else it crosses in one order."""
    at = place_of_witness(run, carrier, handler)
    place = run.probes[handler.flag].value
    speed = part_of(carrier.c_dots, 0, carrier.c)[place]
    is_there = not different(carrier.c[place], carrier.order_copies[at])
    return is_there and (speed > 0.0) == (carrier.order_copies[at + 1] > 0.0)


def follow_one(run, carrier, event):
    """Follow one event as if no other were at its instant."""
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


# copies of variables and tangents, behind the shifts of one event


def save_start(carrier):
    """Save the variables and their tangents."""
    at = put(carrier, carrier.directions, carrier.y)
    at = put(carrier, at, carrier.p)
    at = put(carrier, at, carrier.d)
    at = put(carrier, at, carrier.y_dots)
    at = put(carrier, at, carrier.p_dots)
    at = put(carrier, at, carrier.d_dots)
    at = put(carrier, at, carrier.memory_dots)
    at = put(carrier, at, carrier.time_dots)
    for m in range(carrier.k.shape[0]):
        carrier.order_copies[at + m] = float(carrier.k[m])


def load_start(carrier):
    """Restore what `save_start` has saved."""
    at = get(carrier, carrier.directions, carrier.y)
    at = get(carrier, at, carrier.p)
    at = get(carrier, at, carrier.d)
    at = get(carrier, at, carrier.y_dots)
    at = get(carrier, at, carrier.p_dots)
    at = get(carrier, at, carrier.d_dots)
    at = get(carrier, at, carrier.memory_dots)
    at = get(carrier, at, carrier.time_dots)
    for m in range(carrier.k.shape[0]):
        carrier.k[m] = int(carrier.order_copies[at + m])
    carrier.notes.is_shifted = 0.0
    carrier.notes.freshness = NOT_FRESH


def put(carrier, at, numbers):
    """Copy numbers to a place of the copies; the place behind them."""
    copy_reals(numbers, carrier.order_copies[at : at + numbers.shape[0]])
    return at + numbers.shape[0]


def get(carrier, at, numbers):
    """Copy numbers from a place of the copies; the place behind them."""
    copy_reals(carrier.order_copies[at : at + numbers.shape[0]], numbers)
    return at + numbers.shape[0]


def place_of_end(carrier):
    """Where in the copies the end of the first order begins: the same arrays lie before it."""
    values = carrier.y.shape[0] + carrier.p.shape[0] + carrier.d.shape[0]
    return (
        2 * carrier.directions
        + values * (1 + carrier.directions)
        + carrier.memory_dots.shape[0]
        + carrier.k.shape[0]
    )


def save_end(carrier):
    """Save the variables and their tangents at a fixed time."""
    at = put(carrier, place_of_end(carrier), carrier.y)
    at = put(carrier, at, carrier.p)
    at = put(carrier, at, carrier.d)
    for m in range(carrier.k.shape[0]):
        carrier.order_copies[at + m] = float(carrier.k[m])
    at = put(carrier, at + carrier.k.shape[0], carrier.p_dots)
    at = put(carrier, at, carrier.d_dots)
    n = carrier.y.shape[0]
    for i in range(1, carrier.directions):
        y_dot = part_of(carrier.y_dots, i, carrier.y)
        for m in range(n):
            carrier.order_copies[at + m] = y_dot[m] - carrier.c[m] * carrier.time_dots[i]
        at += n


def place_of_end_tangents(carrier):
    """Where in the copies the tangents of the end begin."""
    values = carrier.y.shape[0] + carrier.p.shape[0] + carrier.d.shape[0]
    return place_of_end(carrier) + values + carrier.k.shape[0]


def has_same_values(carrier):
    """Whether the variables are those that `save_end` has saved."""
    at = place_of_end(carrier)
    alike = are_alike(carrier, at, carrier.y)
    at += carrier.y.shape[0]
    alike = alike and are_alike(carrier, at, carrier.p)
    at += carrier.p.shape[0]
    alike = alike and are_alike(carrier, at, carrier.d)
    at += carrier.d.shape[0]
    for m in range(carrier.k.shape[0]):
        alike = alike and int(carrier.order_copies[at + m]) == carrier.k[m]
    return alike


def has_same_end(carrier):
    """Whether the variables and their tangents at a fixed time are those that `save_end` has saved."""
    at = place_of_end_tangents(carrier)
    alike = has_same_values(carrier) and are_alike(carrier, at, carrier.p_dots)
    at += carrier.p_dots.shape[0]
    alike = alike and are_alike(carrier, at, carrier.d_dots)
    at += carrier.d_dots.shape[0]
    n = carrier.y.shape[0]
    for i in range(1, carrier.directions):
        alike = alike and is_same_motion(carrier, i, carrier.order_copies[at : at + n])
        at += n
    return alike


def are_alike(carrier, at, numbers):
    """Whether numbers are those at a place of the copies, up to rounding."""
    alike = True
    for m in range(numbers.shape[0]):
        one = numbers[m]
        other = carrier.order_copies[at + m]
        alike = alike and (one == other or one != one or abs(one - other) <= SAME * (abs(one) + abs(other)))
    return alike


def is_same_motion(carrier, i, others):
    """Whether the tangents of the states along a direction, at a fixed time, are these."""
    y_dot = part_of(carrier.y_dots, i, carrier.y)
    largest = 0.0
    for m in range(others.shape[0]):
        largest = max(largest, abs(others[m]))
    same = True
    for m in range(others.shape[0]):
        shift = carrier.c[m] * carrier.time_dots[i]
        missed = abs(y_dot[m] - shift - others[m])
        same = same and missed <= SAME * (abs(y_dot[m]) + abs(shift) + abs(others[m])) + ROUNDING * largest
    return same
