"""Going back over an instant: handlers, and states that meet constraints."""

from __future__ import annotations

from cosim.contracts.constraints import has_corrections
from cosim.contracts.method_layout import DONE
from cosim.derivatives.adjoint_holds import reverse_former
from cosim.derivatives.adjoint_parts import (
    add_to,
    fail,
    record_motion,
    record_present,
    record_redo,
    reverse_motion,
    reverse_present,
    reverse_redo,
    reverse_time_shift,
)
from cosim.derivatives.carrier import ALONG, IS_REPORT, NOT_FRESH, method_of, part_of
from cosim.derivatives.tangent_cache import realize_tangents
from cosim.derivatives.tangent_events import (
    copy_to_working,
    has_own_time,
    load_results,
    store_results,
    tick_index,
)
from cosim.derivatives.trail import events_at
from cosim.derivatives.trail_reader import load_record
from cosim.run_data.records.handlers import IN_D, IN_K, IN_P, TIMED, TRIGGERED
from cosim.step import event_log as log
from cosim.step.block_calls import copy_reals, different, number_of_variable
from cosim_compiler.derivatives.rates import clear
from cosim_compiler.derivatives.tape_ends import cut_tape, end_of_tape, has_overflowed
from cosim_compiler.record import rows_of


def reverse_phase(run, carrier, back, at, head):
    """Go back over the handlers of one kind and cause."""
    load_record(run, carrier, back, at)
    first = events_at(back, at)
    last = first + int(head.events)
    notes = back.notes
    shifts = -1
    if head.is_shifted == 0.0:
        shifts = event_that_shifts(run, back, first, last)
    speed = 1.0
    if shifts >= 0 and run.handlers[shifts].cause == TRIGGERED:
        carrier.notes.freshness = NOT_FRESH
        carrier.notes.time = head.time
        realize_tangents(run, carrier, IS_REPORT)
        speed = part_of(carrier.c_dots, 0, carrier.c)[run.probes[run.handlers[shifts].flag].value]
    rows = run.plan.derivatives
    if not record_motion(run, carrier, back, head.time, head.time_dot) or not record_present(
        run, carrier, back, rows.last, run.plan.report_end, head.time, head.time_dot
    ):
        fail(back, head.time)
        return
    top = end_of_tape(back.tape)
    copy_to_working(run, carrier)
    if not record_handlers(run, carrier, back, first, last, head):
        fail(back, head.time)
        return
    working = run.split(back.working, run.k)
    copy_reals(back.y, working.y)
    copy_reals(back.p, working.p)
    copy_reals(back.d, working.d)
    clear(back.y)
    clear(back.p)
    clear(back.d)
    reverse_handlers(run, back, first, last)
    add_to(back.y, working.y)
    add_to(back.p, working.p)
    add_to(back.d, working.d)
    reverse_former(back)
    notes.time_bar += reverse_present(back)
    notes.time_bar += reverse_motion(run, carrier, back)
    clear(back.c)
    if shifts >= 0:
        reverse_shift(run, carrier, back, run.handlers[shifts], speed, top, head.time)


def event_that_shifts(run, back, first, last):
    """The first handler whose event has a time of its own, by which the time moves; -1: there is none."""
    at = first
    while at < last:
        event = rows_of(log.LoggedEvent, back.trail, at, 1)[0]
        if event.handler >= 0.0:
            number = int(event.handler)
            handler = run.handlers[number]
            if has_own_time(handler):
                return number
        at += int(event.length)
    return -1


def reverse_shift(run, carrier, back, handler, speed, top, time):
    """Go back over the shift of the time to that of an event."""
    notes = back.notes
    wanted = reverse_time_shift(carrier, back, part_of(carrier.memory_dots, 0, carrier.memory))
    if handler.cause == TRIGGERED:
        notes.time_bar += wanted
        back.c[run.probes[handler.flag].value] -= wanted / speed
        cut_tape(back.tape, top)
        notes.time_bar += reverse_present(back)
        notes.time_bar += reverse_motion(run, carrier, back)
        clear(back.c)
    elif handler.schedule == TIMED:
        back.d[handler.flag] += wanted
    elif handler.follows != 0:
        add_to_setting(back, run.setting(handler.offset), wanted)
        add_to_setting(back, run.setting(handler.period), wanted * tick_index(run, carrier, handler, time))


def add_to_setting(back, setting, wanted):
    """Add to the adjoint of a period or an offset, if it is a variable."""
    if setting.array == IN_P:
        back.p[setting.at] += wanted
    elif setting.array == IN_D:
        back.d[setting.at] += wanted


def record_handlers(run, carrier, back, first, last, head):
    """Call handlers once more, on the tape; whether that was possible."""
    at = first
    while at < last:
        event = rows_of(log.LoggedEvent, back.trail, at, 1)[0]
        if is_call(event):
            handler = run.handlers[int(event.handler)]
            load_results(run, carrier, handler, ALONG)
            block = handler.block
            if not record_present(run, carrier, back, block, block + 1, head.time, head.time_dot):
                return False
            mark_changed(run, carrier, back, handler)
            store_results(run, carrier, handler, ALONG)
        at += int(event.length)
    return True


def mark_changed(run, carrier, back, handler):
    """Mark the parameters and discrete variables that a handler has changed."""
    for result in run.results_of(handler):
        place = number_of_variable(run, result.array, result.offset)
        at = result.offset if result.array == IN_P else carrier.p.shape[0] + result.offset
        if result.array == IN_P or result.array == IN_D:
            for m in range(result.size):
                if different(carrier.working[place + m], carrier.c[result.at + m]):
                    back.changed[at + m] = 1.0


def reverse_handlers(run, back, first, last):
    """Go back over handlers, the last one first; their adjoints are in ``working``."""
    at = last_call(back, first, last)
    while at >= 0:
        handler = run.handlers[int(rows_of(log.LoggedEvent, back.trail, at, 1)[0].handler)]
        for result in run.results_of(handler):
            place = number_of_variable(run, result.array, result.offset)
            if result.array != IN_K:
                for m in range(result.size):
                    back.c[result.at + m] += back.working[place + m]
                    back.working[place + m] = 0.0
        back.notes.time_bar += reverse_present(back)
        for result in run.results_of(handler):
            place = number_of_variable(run, result.array, result.offset)
            for m in range(result.size):
                if result.array != IN_K:
                    back.working[place + m] += back.c[result.at + m]
                back.c[result.at + m] = 0.0
        at = last_call(back, first, at)


def is_call(event):
    """Whether an event is a handler that was called, and not a finding."""
    return event.handler >= 0.0 and event.answer > 0.0


def last_call(back, first, end):
    """The place of the last call of a handler between two places on the trail; -1: there is none."""
    place = -1
    at = first
    while at < end:
        event = rows_of(log.LoggedEvent, back.trail, at, 1)[0]
        if is_call(event):
            place = at
        at += int(event.length)
    return place


def reverse_assembly(run, carrier, back, at, head):
    """Go back over states that were made to meet their constraints."""
    method = method_of(run, carrier)
    if not has_corrections(method.corrections):
        return
    load_record(run, carrier, back, at)
    notes = back.notes
    t = head.time
    is_recorded = record_present(
        run, carrier, back, run.plan.first_row, run.plan.derivatives.last, t, head.time_dot
    )
    if not is_recorded:
        fail(back, t)
        return
    code = record_redo(
        run, carrier, back, back.plan.settle, t,
        carrier.y, part_of(carrier.y_dots, ALONG, carrier.y),
        carrier.c, part_of(carrier.c_dots, ALONG, carrier.c),
    )  # fmt: skip
    if code != DONE or has_overflowed(back.tape):
        fail(back, t)
        return
    notes.time_bar += reverse_redo(back, back.plan.settle_back, back.y, back.c)
    clear(back.work)
    notes.time_bar += reverse_present(back)
    clear(back.c)
