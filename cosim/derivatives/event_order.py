"""Events that come so close to each other that the next run may have them in the other order.

Two events whose times move apart have a derivative on either side only, if they meet: if nothing but rounding
is between them. Then there are no tangents any more. If the error of the run is between them, either may be
the first: that is noted, and tangents go on in the order that the run has.
"""

from __future__ import annotations

from cosim.derivatives.carrier import (
    CHANGES_ORDER,
    NEARLY_ZERO,
    lose,
    part_of,
    walk_with,
)
from cosim.step.block_calls import copy_reals
from cosim.step.witness_values import MOVED_BY, relative_move
from cosim.step.witnesses import WINDOW_OF_TAPE, may_slide

SAME_SHIFT = 1e-9
"""Two events whose times move alike up to this part stay in their order."""
ROUNDED = 1e-12  # of the time and of states: closer events are at one instant
TANGENT_NOISE = 1e-10  # of the largest tangent over the fastest state: shifts that are that small are none
LOCATED = 4e-14  # s, of events; see `witnesses.isolation_window`
TURNS = 2  # sets of moves, of which the larger one counts


def check_order(run, carrier, handler, spread):
    """Compare an event, whose time moves by `event_dots`, with the one before it.

    If they meet, there are no tangents any more; if they come close, that is noted. `spread` is how far the
    event moves if all states and the time move by as much as they are, s.
    """
    notes = carrier.notes
    gap = notes.time - notes.shifted_at
    spreads = spread + notes.shift_spread
    closest = closest_events(run, notes.time, spreads)
    is_near = gap <= max(closest, run.options.accuracy * spreads)
    if not is_near or notes.shifted_by == 1.0 + handler or not moves_apart(carrier, carrier.event_dots, gap):
        return
    if gap <= closest:
        lose(carrier, notes.time, CHANGES_ORDER, handler)
    elif notes.is_close == 0.0:
        notes.is_close = 1.0
        notes.close_time = notes.time
        notes.close_handler = float(handler)


def closest_events(run, time, spreads):
    """How near to each other events are at one instant, by how exactly they are located, s."""
    located = WINDOW_OF_TAPE if may_slide(run) else LOCATED
    return ROUNDED * (abs(time) + spreads) + located


def store_shift(carrier, subject, spread):
    """Store what moves the time now: 1 + the number of a handler, or 0; `spread` is as of `check_order`."""
    notes = carrier.notes
    notes.shifted_at = notes.time
    notes.shifted_by = float(subject)
    notes.shift_spread = spread


def comes_close(run, carrier, time):
    """Whether an exact time is at the instant of the last event, up to rounding."""
    notes = carrier.notes
    return time - notes.shifted_at <= closest_events(run, time, notes.shift_spread)


def moves_apart(carrier, shifts, gap):
    """Whether times move otherwise than the present time along some direction; `gap` is between them, s."""
    return moves_apart_from(carrier, shifts, carrier.time_dots, gap)


def moves_apart_from(carrier, shifts, others, gap):
    """Whether times move otherwise than others along some direction; `gap` is between them, s."""
    for i in range(1, carrier.directions):
        if not is_same_shift(shifts[i], others[i], shift_noise(carrier, i, gap)):
            return True
    return False


def is_same_shift(one, other, noise):
    """Whether two times move alike."""
    return abs(one - other) <= SAME_SHIFT * abs(one) + noise


def shift_noise(carrier, i, gap):
    """How small a shift along a direction may be rounding, by its tangents and by a time that passes, s."""
    y_dot = part_of(carrier.y_dots, i, carrier.y)
    c_dot = part_of(carrier.c_dots, i, carrier.c)
    fastest = 0.0
    largest = 0.0
    change = 0.0
    for m in range(y_dot.shape[0]):
        fastest = max(fastest, abs(carrier.c[m]))
        largest = max(largest, abs(y_dot[m]))
        change = max(change, abs(c_dot[m]))
    if fastest == 0.0:
        return NEARLY_ZERO
    return min(NEARLY_ZERO, TANGENT_NOISE * largest / fastest) + 2.0 * gap * change / fastest


def spread_of(run, carrier, place, speed):
    """How far the time of a crossing moves if all states and the time move by as much as they are, s.

    Of the tangents along such moves the larger one counts: they may cancel in one of them.
    """
    largest = 0.0
    for turn in range(TURNS):
        copy_reals(carrier.y, carrier.spare_y)
        copy_reals(carrier.c, carrier.spare_c)
        n = carrier.y.shape[0]
        for m in range(n):
            carrier.spare_y_dot[m] = relative_move(m, turn) / MOVED_BY * carrier.y[m]
        for m in range(carrier.c.shape[0]):
            carrier.spare_c_dot[m] = 0.0
        time = carrier.notes.time
        walk_with(
            run, carrier, 0, run.plan.first_row, run.plan.report_end, time,
            relative_move(n, turn) / MOVED_BY * time,
            carrier.spare_y, carrier.spare_y_dot, carrier.spare_c, carrier.spare_c_dot,
        )  # fmt: skip
        largest = max(largest, abs(carrier.spare_c_dot[place]))
    return largest / abs(speed)
