"""Carrying tangents over the handlers of an instant."""

from __future__ import annotations

import math

from cosim.derivatives.carrier import (
    GRAZES,
    HAS_PERIOD,
    IS_AT_JUMP,
    IS_CONDITION,
    IS_HELD,
    IS_PYTHON,
    IS_REPORT,
    NOT_FRESH,
    PARTLY_RELEASED,
    lose,
    own_part,
    part_of,
    past_of,
    shift_time,
    walk_present,
)
from cosim.derivatives.event_order import check_order, spread_of, store_shift
from cosim.derivatives.flow_error import renew_missed_flow
from cosim.derivatives.source_kinks import settle_kinks
from cosim.derivatives.tangent_cache import realize_tangents
from cosim.derivatives.tangent_holds import store_former
from cosim.run_data.records.handlers import (
    IN_C,
    IN_D,
    IN_K,
    IN_P,
    PERIODIC,
    SCHEDULED,
    SIGNALED,
    TIMED,
    TRIGGERED,
)
from cosim.run_data.run import Variables
from cosim.step import event_log as log
from cosim.step.block_calls import copy_reals, different, number_of_variable
from cosim_compiler.calls import never_inlined

JUMPED = 1e-7  # s: a witness that is farther from zero has jumped; events are located to a thousandth of that
SAME_TICK = 1e-9  # of the time, or of the period: a time that is farther from a tick is not the tick's
GRAZING = 1e-9
"""A witness whose rate is below this part of its largest tangent touches zero, and does not cross it."""
LONGEST = 1e6  # of the time: a witness that would take longer to move by the size of its terms touches zero


@never_inlined
def follow_phase(run, carrier, first, last):
    """Differentiate together the handlers of one kind and cause, whose events lie in a part of the tape."""
    at = next_event(run, first, last)
    while at < last:
        event = log.logged_event(run, at)
        move_time(run, carrier, run.handlers[int(event.handler)])
        realize_tangents(run, carrier, IS_REPORT)
        at = next_event(run, at + int(event.length), last)
    follow_handlers(run, carrier, first, last)


def follow_handlers(run, carrier, first, last):
    """Differentiate handlers that all read the present variables."""
    copy_to_working(run, carrier)
    at = next_event(run, first, last)
    while at < last:
        event = log.logged_event(run, at)
        if event.answer > 0.0:
            follow_handler(run, carrier, run.handlers[int(event.handler)])
        at = next_event(run, at + int(event.length), last)
    copy_from_working(run, carrier)
    carrier.notes.freshness = NOT_FRESH


def next_event(run, at, last):
    """The place of the first event in a part of the tape, past other records; the end if there is none."""
    while at < last and log.logged_event(run, at).handler < 0.0:
        at += int(log.logged_event(run, at).length)
    return at


def begin_phase(run, carrier, cause):
    """Evaluate what handlers of a cause read; now it is known whether the time moves with a kink."""
    if cause == SIGNALED:
        for i in range(carrier.directions):
            k = own_part(carrier, carrier.k, i)
            for signal in run.signals:
                k[signal] = 0
        carrier.notes.freshness = NOT_FRESH
    renew_missed_flow(run, carrier)
    realize_tangents(run, carrier, IS_REPORT)
    settle_kinks(run, carrier)


def move_time(run, carrier, handler):
    """Make the time move with the event that a handler belongs to."""
    if not compute_event_dots(run, carrier, handler) or carrier.notes.lost != 0.0:
        return
    spread = spread_of_event(run, carrier, handler)
    check_order(run, carrier, handler.number, spread)
    if carrier.notes.is_shifted == 0.0:
        carrier.notes.is_shifted = 1.0
        store_shift(carrier, 1 + handler.number, spread)
        shift_time(run, carrier, carrier.event_dots)


def spread_of_event(run, carrier, handler):
    """How far an event would move if all states and the time moved by their own size, s."""
    if handler.cause == TRIGGERED:
        place = run.probes[handler.flag].value
        return spread_of(run, carrier, place, part_of(carrier.c_dots, 0, carrier.c)[place])
    return abs(carrier.notes.time) if handler.schedule == TIMED else 0.0


def compute_event_dots(run, carrier, handler):
    """Write the tangents of an event's time to ``event_dots``; False if they are none, or not known."""
    if not has_own_time(handler):
        return False
    if handler.cause == TRIGGERED:
        return compute_crossing_dots(run, carrier, handler)
    compute_scheduled_dots(run, carrier, handler)
    return True


def has_own_time(handler):
    """Whether the events of a handler have a time that may move: scheduled and triggered ones."""
    return handler.cause == SCHEDULED or handler.cause == TRIGGERED


def compute_scheduled_dots(run, carrier, handler):
    """Compute how a timer moves (with its variable), or a tick (with its period and its offset)."""
    if handler.schedule == PERIODIC and handler.follows != 0:
        compute_tick_dots(run, carrier, handler)
        return
    for i in range(1, carrier.directions):
        is_timer = handler.schedule == TIMED
        carrier.event_dots[i] = part_of(carrier.d_dots, i, carrier.d)[handler.flag] if is_timer else 0.0


def compute_tick_dots(run, carrier, handler):
    """Compute how the time ``offset + index * period`` moves; give up where the present values are others."""
    offset, period = run.setting(handler.offset), run.setting(handler.period)
    time = carrier.notes.time
    index = tick_index(run, carrier, handler, time)
    missed = abs(present_setting(run, carrier, offset) + index * present_setting(run, carrier, period) - time)
    if not missed <= SAME_TICK * max(abs(time), present_setting(run, carrier, period)):
        lose(carrier, time, HAS_PERIOD, handler.number)
    for i in range(1, carrier.directions):
        carrier.event_dots[i] = setting_dot(carrier, offset, i) + index * setting_dot(carrier, period, i)


def tick_index(run, carrier, handler, time):
    """The number of the tick at a time, s."""
    offset = present_setting(run, carrier, run.setting(handler.offset))
    period = present_setting(run, carrier, run.setting(handler.period))
    return math.floor((time - offset) / period + 0.5)


def present_setting(run, carrier, setting):
    """The present value of a period or an offset, s."""
    if setting.array == IN_P:
        return carrier.p[setting.at]
    if setting.array == IN_D:
        return carrier.d[setting.at]
    if setting.array == IN_C:
        return carrier.c[setting.at]
    return run.numbers[setting.start_value_at]


def setting_dot(carrier, setting, i):
    """The tangent of a period or an offset along a direction."""
    if setting.array == IN_P:
        return part_of(carrier.p_dots, i, carrier.p)[setting.at]
    if setting.array == IN_D:
        return part_of(carrier.d_dots, i, carrier.d)[setting.at]
    if setting.array == IN_C:
        return part_of(carrier.c_dots, i, carrier.c)[setting.at]
    return 0.0


def compute_crossing_dots(run, carrier, handler):
    """Compute how a crossing moves so that its witness stays zero; False where its witness does not tell."""
    time = carrier.notes.time
    if carrier.notes.is_held == PARTLY_RELEASED:
        lose(carrier, time, IS_HELD, 0)
        return False
    if run.witness_kinds[handler.flag].is_condition != 0:
        lose(carrier, time, IS_CONDITION, handler.number)
        return False
    place = run.probes[handler.flag].value
    speed = part_of(carrier.c_dots, 0, carrier.c)[place]
    if carrier.notes.is_shifted != 0.0 and has_jumped(carrier.c[place], speed):
        return False  # the crossing moves with the event that made its witness jump
    largest = 0.0
    for i in range(1, carrier.directions):
        change = part_of(carrier.c_dots, i, carrier.c)[place]
        largest = max(largest, abs(change))
        carrier.event_dots[i] = carrier.time_dots[i] - change / speed if speed != 0.0 else math.nan
    is_slow = not abs(speed) > GRAZING * largest or abs(speed) == math.inf
    if is_slow and not is_steep(run, carrier, place, speed):
        if largest != 0.0:
            lose(carrier, time, GRAZES, handler.number)
        return False
    return True


def is_steep(run, carrier, place, speed):
    """Whether a witness is fast in relation to its own terms: then its rate is small only in its unit."""
    if speed == 0.0 or abs(speed) == math.inf:
        return False
    return spread_of(run, carrier, place, speed) <= LONGEST * abs(carrier.notes.time)


def refuse_touch(run, carrier):
    """Give up if a witness that varies and calls a handler has touched zero in a step."""
    notes = carrier.notes
    witness = int(notes.touched) - 1
    notes.touched = 0.0
    if witness < 0 or notes.lost != 0.0 or notes.touched_since > notes.time:
        return
    realize_tangents(run, carrier, IS_REPORT)
    place = run.probes[witness].value
    speed = part_of(carrier.c_dots, 0, carrier.c)[place]
    varies = False
    for i in range(1, carrier.directions):
        change = part_of(carrier.c_dots, i, carrier.c)[place]
        varies = varies or change != speed * carrier.time_dots[i]
    for handler in run.handlers:
        if varies and handler.cause == TRIGGERED and handler.flag == witness:
            lose(carrier, min(notes.touched_time, notes.time), GRAZES, handler.number)


def has_jumped(value, speed):
    """Whether a witness is so far from zero that something at this instant must have made it jump."""
    return abs(value) > JUMPED * max(1.0, abs(speed))


def copy_to_working(run, carrier):
    """Copy the variables and their tangents to the working copy, which handlers write to."""
    k = own_part(carrier, carrier.k, past_of(carrier, 0))
    copy_variables(Variables(carrier.y, carrier.p, carrier.d, k), run.split(carrier.working, k))
    at_k = carrier.working.shape[0] - k.shape[0]
    for m in range(k.shape[0]):
        carrier.working[at_k + m] = float(k[m])
    for i in range(1, carrier.directions):
        dots = part_of(carrier.working_dots, i, carrier.working)
        copy_variables(variable_dots(carrier, i), run.split(dots, k))


def copy_from_working(run, carrier):
    """Copy the variables and their tangents back from the working copy."""
    at_k = carrier.working.shape[0] - run.k.shape[0]
    for i in range(carrier.directions):
        k = own_part(carrier, carrier.k, i)
        for m in carrier.integers:
            k[m] = int(carrier.working[at_k + m])
        if i > 0:
            dots = part_of(carrier.working_dots, i, carrier.working)
            copy_variables(run.split(dots, k), variable_dots(carrier, i))
        else:
            copy_variables(run.split(carrier.working, k), Variables(carrier.y, carrier.p, carrier.d, k))


def variable_dots(carrier, i):
    """The tangents of the variables along a direction; `k`, which has none, only completes the record."""
    return Variables(
        part_of(carrier.y_dots, i, carrier.y),
        part_of(carrier.p_dots, i, carrier.p),
        part_of(carrier.d_dots, i, carrier.d),
        carrier.k,
    )


def copy_variables(source, target):
    """Copy the real variables, or their tangents."""
    copy_reals(source.y, target.y)
    copy_reals(source.p, target.p)
    copy_reals(source.d, target.d)


def follow_handler(run, carrier, handler):
    """Differentiate one handler; its results go into the working copy."""
    if handler.block < 0:
        lose(carrier, carrier.notes.time, IS_PYTHON, handler.number)
        return
    for i in range(1, carrier.directions):
        load_results(run, carrier, handler, i)
        was_lost = carrier.notes.lost
        walk_present(run, carrier, i, handler.block, handler.block + 1)
        if (
            was_lost == 0.0 and carrier.notes.lost != 0.0
        ):  # only the tangent raises, since the run has called it
            carrier.notes.lost = float(IS_AT_JUMP)
            carrier.notes.lost_subject = float(handler.number)
    for result in run.results_of(handler):
        place = number_of_variable(run, result.array, result.offset)
        for m in range(result.size):
            if different(carrier.working[place + m], carrier.c[result.at + m]):
                store_former(run, carrier, result.array, result.offset + m)
    for i in range(1, carrier.directions):
        store_results(run, carrier, handler, i)


def load_results(run, carrier, handler, i):
    """Fill a handler's results with the values of the working copy, and with tangents along a direction."""
    c_dot = part_of(carrier.c_dots, i, carrier.c)
    dots = part_of(carrier.working_dots, i, carrier.working)
    for result in run.results_of(handler):
        place = number_of_variable(run, result.array, result.offset)
        for m in range(result.size):
            carrier.c[result.at + m] = carrier.working[place + m]
            c_dot[result.at + m] = dots[place + m] if result.array != IN_K else 0.0


def store_results(run, carrier, handler, i):
    """Write a handler's results, and their tangents along a direction, to the working copy."""
    c_dot = part_of(carrier.c_dots, i, carrier.c)
    dots = part_of(carrier.working_dots, i, carrier.working)
    for result in run.results_of(handler):
        place = number_of_variable(run, result.array, result.offset)
        for m in range(result.size):
            carrier.working[place + m] = carrier.c[result.at + m]
            dots[place + m] = c_dot[result.at + m]
