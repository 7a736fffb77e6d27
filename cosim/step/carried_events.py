"""Carrying tangents over what happens at an instant: handlers, and updates of what is remembered."""

from __future__ import annotations

import math

from cosim.step import event_log as log
from cosim.step.carrier import (
    CHANGES_ORDER,
    GRAZES,
    HAS_PERIOD,
    IS_CONDITION,
    IS_MOTION,
    IS_PYTHON,
    IS_REPORT,
    NOT_FRESH,
    lose,
    part_of,
    realize_tangents,
    shift_time,
    walk_present,
)
from cosim.step.records import IN_D, IN_K, IN_P, IN_Y, SCHEDULED, SIGNALED, TIMED, TRIGGERED

GRAZING = 1e-9
"""A witness that is slower than this part of what moves it touches zero, and does not cross it."""
SAME_SHIFT = 1e-9
"""Two events whose times move alike up to this part stay in their order."""
NEARLY_ZERO = 1e-14  # s: shifts that are that small are none


def follow_phase(run, carrier, cause, first, last):
    """Differentiate the handlers of one kind and cause, whose events lie in a part of the tape."""
    if cause == SIGNALED:
        for i in range(len(run.signals)):
            carrier.k[run.signals[i]] = 0
        carrier.notes.freshness = NOT_FRESH
    realize_tangents(run, carrier, IS_REPORT)
    at = first
    while at < last:
        event = log.logged_event(run, at)
        if event.handler >= 0.0:
            move_time(run, carrier, run.handlers[int(event.handler)])
            realize_tangents(run, carrier, IS_REPORT)
        at += int(event.length)
    copy_to_working(carrier)
    at = first
    while at < last:
        event = log.logged_event(run, at)
        if event.handler >= 0.0 and event.answer > 0.0:
            follow_handler(run, carrier, run.handlers[int(event.handler)])
        at += int(event.length)
    copy_from_working(carrier)
    carrier.notes.freshness = NOT_FRESH


def move_time(run, carrier, handler):
    """Make the time move with the event that a handler belongs to."""
    if not wants_shift(run, carrier, handler) or carrier.notes.lost != 0.0:
        return
    if carrier.notes.is_shifted == 0.0:
        carrier.notes.is_shifted = 1.0
        shift_time(run, carrier, carrier.wanted)
        return
    for i in range(1, carrier.directions):
        present = carrier.time_dots[i]
        wanted = carrier.wanted[i]
        if not abs(wanted - present) <= SAME_SHIFT * abs(wanted) + NEARLY_ZERO:
            lose(carrier, carrier.notes.time, CHANGES_ORDER, handler.number)


def wants_shift(run, carrier, handler):
    """Whether an event says how the time moves, which is then in ``wanted``."""
    time = carrier.notes.time
    if handler.cause == SCHEDULED:
        if handler.schedule != TIMED and handler.follows != 0:
            lose(carrier, time, HAS_PERIOD, handler.number)
        for i in range(1, carrier.directions):
            is_timer = handler.schedule == TIMED
            carrier.wanted[i] = part_of(carrier.d_dots, i, carrier.d)[handler.flag] if is_timer else 0.0
        return True
    if handler.cause != TRIGGERED:
        return False
    place = run.probes[handler.flag].value
    speed = part_of(carrier.c_dots, 0, carrier.c)[place]
    largest = 0.0
    for i in range(1, carrier.directions):
        change = part_of(carrier.c_dots, i, carrier.c)[place]
        largest = max(largest, abs(change))
        carrier.wanted[i] = carrier.time_dots[i] - change / speed if speed != 0.0 else math.nan
    if run.witness_kinds[handler.flag].is_condition != 0:
        lose(carrier, time, IS_CONDITION, handler.number)
        return False
    if not abs(speed) > GRAZING * largest or abs(speed) == math.inf:
        if largest != 0.0:
            lose(carrier, time, GRAZES, handler.number)
        return False
    return True


def place_of(carrier, array, offset):
    """Where a variable lies in a working copy."""
    if array == IN_Y:
        return offset
    if array == IN_P:
        return carrier.y.shape[0] + offset
    at_d = carrier.y.shape[0] + carrier.p.shape[0]
    return at_d + offset if array == IN_D else at_d + carrier.d.shape[0] + offset


def copy_to_working(carrier):
    """Copy the variables, and their tangents, to what handlers write to."""
    n = carrier.y.shape[0]
    at_d = n + carrier.p.shape[0]
    at_k = at_d + carrier.d.shape[0]
    copy_into(carrier.working, 0, carrier.y)
    copy_into(carrier.working, n, carrier.p)
    copy_into(carrier.working, at_d, carrier.d)
    for m in range(carrier.k.shape[0]):
        carrier.working[at_k + m] = float(carrier.k[m])
    for i in range(1, carrier.directions):
        dots = part_of(carrier.working_dots, i, carrier.working)
        copy_into(dots, 0, part_of(carrier.y_dots, i, carrier.y))
        copy_into(dots, n, part_of(carrier.p_dots, i, carrier.p))
        copy_into(dots, at_d, part_of(carrier.d_dots, i, carrier.d))


def copy_from_working(carrier):
    """Make the variables, and their tangents, those that handlers have left."""
    n = carrier.y.shape[0]
    at_d = n + carrier.p.shape[0]
    at_k = at_d + carrier.d.shape[0]
    copy_from(carrier.working, 0, carrier.y)
    copy_from(carrier.working, n, carrier.p)
    copy_from(carrier.working, at_d, carrier.d)
    for m in range(carrier.k.shape[0]):
        carrier.k[m] = int(carrier.working[at_k + m])
    for i in range(1, carrier.directions):
        dots = part_of(carrier.working_dots, i, carrier.working)
        copy_from(dots, 0, part_of(carrier.y_dots, i, carrier.y))
        copy_from(dots, n, part_of(carrier.p_dots, i, carrier.p))
        copy_from(dots, at_d, part_of(carrier.d_dots, i, carrier.d))


def copy_into(target, at, source):
    """Copy numbers to a place."""
    for m in range(source.shape[0]):
        target[at + m] = source[m]


def copy_from(source, at, target):
    """Copy numbers from a place."""
    for m in range(target.shape[0]):
        target[m] = source[at + m]


def follow_handler(run, carrier, handler):
    """Differentiate one handler; what it has left goes into the working copy."""
    if handler.block < 0:
        lose(carrier, carrier.notes.time, IS_PYTHON, handler.number)
        return
    at_k = carrier.y.shape[0] + carrier.p.shape[0] + carrier.d.shape[0]
    for i in range(1, carrier.directions):
        c_dot = part_of(carrier.c_dots, i, carrier.c)
        dots = part_of(carrier.working_dots, i, carrier.working)
        for result in run.results_of(handler):
            place = place_of(carrier, result.array, result.offset)
            for m in range(result.size):
                carrier.c[result.at + m] = carrier.working[place + m]
                c_dot[result.at + m] = dots[place + m] if place < at_k else 0.0
        walk_present(run, carrier, i, handler.block, handler.block + 1)
    for result in run.results_of(handler):
        place = place_of(carrier, result.array, result.offset)
        for m in range(result.size):
            carrier.working[place + m] = carrier.c[result.at + m]
            for i in range(1, carrier.directions):
                dots = part_of(carrier.working_dots, i, carrier.working)
                dots[place + m] = part_of(carrier.c_dots, i, carrier.c)[result.at + m]


def follow_memory(run, carrier, side):
    """Give auto-update variables their new values, and these their tangents."""
    realize_tangents(run, carrier, IS_MOTION)
    rows = run.plan.end_updates
    for i in range(1, carrier.directions):
        c_dot = part_of(carrier.c_dots, i, carrier.c)
        d_dot = part_of(carrier.d_dots, i, carrier.d)
        carrier.c[run.plan.side] = side
        for swap in run.swaps:
            is_whole = swap.array == IN_K
            carrier.c[swap.update] = float(carrier.k[swap.offset]) if is_whole else carrier.d[swap.offset]
            c_dot[swap.update] = 0.0 if is_whole else d_dot[swap.offset]
        walk_present(run, carrier, i, rows.first, rows.last)
    for swap in run.swaps:
        if swap.array == IN_K:
            carrier.k[swap.offset] = int(carrier.c[swap.update])
            continue
        carrier.d[swap.offset] = carrier.c[swap.update]
        for i in range(1, carrier.directions):
            d_dot = part_of(carrier.d_dots, i, carrier.d)
            d_dot[swap.offset] = part_of(carrier.c_dots, i, carrier.c)[swap.update]
    carrier.notes.freshness = NOT_FRESH
