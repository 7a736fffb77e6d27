"""Going back along a run: how a weighted sum of what it has recorded changes with what it began with.

The trail is read from its end. Each record is done once more, from what it began with, by functions that
put on a tape what their reverse needs; then the adjoints go back along it. A step is two such parts: the
evaluation at its start, and the method's own step; the tape has room for one step, not for a run.

Adjoints are those at a time that moves, as the tangents are (see `carrying`): beside those of the states
stands that of the time. A row at a fixed time adds its weights w to the states, and -f w to the time; where
an event shifts the time, y + f shift, the shift gets the adjoint f y.
"""

from __future__ import annotations

from cosim.contracts.method_layout import DONE, MethodArrays
from cosim.recorded_walk import record_walk, reverse_walk
from cosim.step import event_log as log
from cosim.step.block_calls import number_of_variable
from cosim.step.carried_events import copy_to_working
from cosim.step.carried_steps import BEHIND_KINK, end_before_kink, is_at_kink, reaches_kink
from cosim.step.carrier import (
    IS_REPORT,
    NOT_FRESH,
    carrier_at,
    copy_cache_aside,
    method_of,
    moved_along,
    own_part,
    part_of,
    realize_tangents,
)
from cosim.step.constraints import has_corrections
from cosim.step.records import IN_C, IN_D, IN_K, IN_P, IN_Y, SCHEDULED, TIMED, TRIGGERED
from cosim.step.run import arrays_at
from cosim.step.trail import ALONG, FULL_TAPE, INSIDE_WIDTH, NO_WAY, TrailRecord, load_record, returner_at
from cosim.walker import call_dense_record, call_dense_reverse, call_redo_record, call_redo_reverse
from cosim_compiler.derivatives.rates import clear
from cosim_compiler.record import rows_of

USED_FROM = 2.0
"""Where a tape begins on which nothing stands."""


def go_back(run, carrier, back, end):
    """Go back on the trail from a place; the place that was reached: not 0 where the tape was too short."""
    while end > 0 and back.notes.status == 0.0:
        at = end - int(back.trail[end - 1])
        head = rows_of(TrailRecord, back.trail, at, 1)[0]
        kind = int(head.kind)
        back.tape[0] = USED_FROM
        back.tape[1] = 0.0
        if kind == log.STEP_TAKEN:
            back_step(run, carrier, back, at, head)
        elif kind == log.ROW_WRITTEN:
            if head.flag == 0.0 and has_weights(run, back, int(head.row)):
                back_row(run, carrier, back, at, head)
        elif kind == log.PHASE_BEGUN:
            back_phase(run, carrier, back, at, head)
        elif kind == log.MEMORY_UPDATED:
            back_memory(run, carrier, back, at, head)
        elif kind == log.ASSEMBLED:
            back_assembly(run, carrier, back, at, head)
        if back.notes.status == 0.0:
            end = at
    return end


def fail(back, time):
    """Going back ends here: the tape was too short, or something could not be done once more."""
    back.notes.status = FULL_TAPE if back.tape[1] != 0.0 else NO_WAY
    back.notes.failed_time = time


def record_rows(run, carrier, back, first, last, t, t_dot):
    """Evaluate blocks at the present states, on the tape; whether that was possible."""
    status = record_walk(
        back.table, run.ints, first, last, t,
        carrier.y, carrier.p, carrier.d, own_part(carrier, carrier.k, ALONG), run.h, carrier.c,
        t_dot, part_of(carrier.y_dots, ALONG, carrier.y), part_of(carrier.p_dots, ALONG, carrier.p),
        part_of(carrier.d_dots, ALONG, carrier.d), back.h, part_of(carrier.c_dots, ALONG, carrier.c),
        0, 0, 0, 0, 0, back.tape,
    )  # fmt: skip
    return status == 0


def record_spare(run, carrier, back, first, last, t, t_dot):
    """As `record_rows`, at the spare states and into the spare cache."""
    status = record_walk(
        back.table, run.ints, first, last, t,
        carrier.spare_y, carrier.p, carrier.d, own_part(carrier, carrier.k, ALONG), run.h, carrier.spare_c,
        t_dot, carrier.spare_y_dot, part_of(carrier.p_dots, ALONG, carrier.p),
        part_of(carrier.d_dots, ALONG, carrier.d), back.h, carrier.spare_c_dot,
        0, 0, 0, 0, 0, back.tape,
    )  # fmt: skip
    return status == 0


def reverse_rows(back):
    """Go back along blocks: the adjoint of the time."""
    return reverse_walk(back.y, back.p, back.d, back.h, back.c, back.tape)


def reverse_spare(back):
    """As `reverse_rows`, of spare states and cache."""
    return reverse_walk(back.spare_y, back.p, back.d, back.h, back.spare_c, back.tape)


def record_redo(run, carrier, back, address, t, y, y_dot, c, c_dot):
    """Call the recording function of one of the method's; a method's code."""
    method = method_of(run, carrier)
    moved = moved_along(run, carrier, ALONG)
    rows = run.plan.derivatives
    return call_redo_record(
        address,
        (
            back.table, run.ints, rows.first, rows.last, t,
            y, carrier.p, carrier.d, own_part(carrier, carrier.k, ALONG), run.h, c,
            method.coefficients, run.settings, method.memory_numbers, carrier.work, method.slot_numbers,
            carrier.time_dots[ALONG], y_dot, part_of(carrier.p_dots, ALONG, carrier.p),
            part_of(carrier.d_dots, ALONG, carrier.d), back.h, c_dot,
            moved.memory_numbers, moved.work_numbers,
            0, 0, 0, 0, 0, 0, 0, back.tape,
        ),
    )  # fmt: skip


def reverse_redo(run, back, address, y, c):
    """Go back along it: the adjoint of the time."""
    memory = back.memory[: run.plan.sizes.memory]
    call_redo_reverse(address, (y, back.p, back.d, back.h, c, memory, back.work, back.tape, back.bars))
    return back.bars[0]


def flow_of(carrier, y):
    """The scalar product of the derivatives and an adjoint of the states."""
    total = 0.0
    for m in range(y.shape[0]):
        total += carrier.c[m] * y[m]
    return total


def add_to(target, source):
    """Add an adjoint, which becomes 0."""
    for m in range(source.shape[0]):
        target[m] += source[m]
        source[m] = 0.0


def has_weights(run, back, row):
    """Whether a row counts."""
    width = run.chosen.values
    found = False
    for i in range(width):
        found = found or back.weights[row * width + i] != 0.0
    return found


# ---- steps


def back_step(run, carrier, back, at, head):
    """Go back over a step, and over the rows inside it, which stand behind it on the trail."""
    load_record(carrier, back, at)
    notes = back.notes
    t = head.start
    if not record_rows(run, carrier, back, run.plan.first_row, run.plan.derivatives.last, t, head.time_dot):
        fail(back, t)
        return
    count = len(run.kinks)
    for j in range(count):
        carrier.kept[j] = carrier.c[run.kinks[j]]
    clear(back.kinks)
    method = method_of(run, carrier)
    n = method.n
    at_kink = False
    if n > 0:
        at_kink = begin_again(run, carrier, method, head)
        if at_kink and not record_spare(
            run,
            carrier,
            back,
            run.plan.first_row,
            run.plan.derivatives.last,
            carrier.notes.time,
            head.time_dot,
        ):
            fail(back, t)
            return
        if at_kink:
            slope_dot = moved_along(run, carrier, ALONG).slope
            for m in range(n):
                slope_dot[m] = carrier.spare_c_dot[m]
        code = record_redo(
            run, carrier, back, back.plan.step, end_before_kink(run, carrier, head),
            carrier.y, part_of(carrier.y_dots, ALONG, carrier.y),
            carrier.c, part_of(carrier.c_dots, ALONG, carrier.c),
        )  # fmt: skip
        if code != DONE or back.tape[1] != 0.0:
            fail(back, t)
            return
    if not back_inside(run, carrier, back, at, head):
        return
    reached = kink_that_shifts(run, carrier, head)
    if reached >= 0:
        shift = flow_of(carrier, back.y)
        back.kinks[reached] += notes.time_bar + shift
        notes.time_bar = -shift
    if n > 0:
        moved = MethodArrays(
            n,
            method.coefficients,
            run.settings,
            back.memory[: run.plan.sizes.memory],
            back.work,
            method.slot_numbers,
        )
        notes.time_bar += reverse_redo(run, back, back.plan.step_back, back.y, back.c)
        notes.time_bar += moved.work.start + moved.work.end
        add_to(back.y, moved.start)
        slope = moved.slope
        if at_kink:
            clear(back.spare_c)
            for m in range(n):
                back.spare_c[m] = slope[m]
            notes.time_bar += reverse_spare(back)
            add_to(back.y, back.spare_y)
        else:
            for m in range(n):
                back.c[m] += slope[m]
        clear(back.work)
        clear(back.memory)
    for j in range(count):
        back.c[run.kinks[j]] += back.kinks[j]
    notes.time_bar += reverse_rows(back)
    clear(back.c)


def kink_that_shifts(run, carrier, head):
    """The kink with which the time of the end of a step moves, as `carried_steps.pass_kinks` says; or -1."""
    for j in range(len(run.kinks)):
        if reaches_kink(head, carrier.kept[j]):
            return j
    return -1


def begin_again(run, carrier, method, head):
    """Set up a step that is taken once more; whether its start is at a kink.

    Then the spare states and the time of the notes are those just behind it.
    """
    work = method.work
    work.dense_ready = 0.0
    work.start = head.start
    work.end = end_before_kink(run, carrier, head)
    moved = moved_along(run, carrier, ALONG)
    moved.work.start = head.time_dot
    moved.work.end = head.time_dot
    start = method.start
    slope = method.slope
    start_dot = moved.start
    slope_dot = moved.slope
    y_dot = part_of(carrier.y_dots, ALONG, carrier.y)
    c_dot = part_of(carrier.c_dots, ALONG, carrier.c)
    for m in range(method.n):
        start[m] = carrier.y[m]
        slope[m] = carrier.c[m]
        start_dot[m] = y_dot[m]
        slope_dot[m] = c_dot[m]
    for m in range(carrier.memory.shape[0]):
        carrier.memory[m] = carrier.start_memory[m]
    if not is_at_kink(carrier, method):
        return False
    ahead = BEHIND_KINK * (head.time - head.start)
    for m in range(method.n):
        carrier.spare_y[m] = start[m] + ahead * slope[m]
        carrier.spare_y_dot[m] = y_dot[m]
    copy_cache_aside(carrier, ALONG)
    carrier.notes.time = head.start + ahead
    return True


def first_inside(back, at, head):
    """Where the first row inside a step may be on the trail: behind updates of variables at its end."""
    end = int(back.notes.used)
    place = at + int(head.length)
    while place < end:
        update = rows_of(TrailRecord, back.trail, place, 1)[0]
        if int(update.kind) != log.MEMORY_UPDATED:
            break
        place += int(update.length)
    return place


def rows_inside(back, place):
    """How many rows inside a step follow on the trail from a place."""
    end = int(back.notes.used)
    count = 0
    while place < end:
        row = rows_of(TrailRecord, back.trail, place, 1)[0]
        if int(row.kind) != log.ROW_WRITTEN or row.flag == 0.0:
            break
        count += 1
        place += int(row.length)
    return count


def back_inside(run, carrier, back, at, head):
    """Go back over the rows inside a step, whose end is present; whether that was possible.

    All are recorded first: the first dense output of a step stores what the others use.
    """
    first = first_inside(back, at, head)
    count = rows_inside(back, first)
    wanted = 0
    for i in range(count):
        row = rows_of(TrailRecord, back.trail, first + i * INSIDE_WIDTH, 1)[0]
        if has_weights(run, back, int(row.row)):
            if (
                wanted == 0
                and run.plan.method.complete != 0
                and not record_completion(run, carrier, back, head)
            ):
                return False
            wanted += 1
            if not record_dense_row(run, carrier, back, row):
                fail(back, head.time)
                return False
    for i in range(count - 1, -1, -1):
        row = rows_of(TrailRecord, back.trail, first + i * INSIDE_WIDTH, 1)[0]
        if has_weights(run, back, int(row.row)):
            reverse_dense_row(run, back, row)
    if wanted > 0 and run.plan.method.complete != 0:
        clear(back.spare_y)
        clear(back.spare_c)
        back.notes.time_bar += reverse_redo(run, back, back.plan.complete_back, back.spare_y, back.spare_c)
        add_to(back.y, back.spare_y)
        add_to(back.c, back.spare_c)
    return True


def record_completion(run, carrier, back, head):
    """Complete what dense output needs, on the tape; whether that was possible."""
    spare_of_present(carrier)
    code = record_redo(
        run, carrier, back, back.plan.complete, head.time,
        carrier.spare_y, carrier.spare_y_dot, carrier.spare_c, carrier.spare_c_dot,
    )  # fmt: skip
    if code != DONE or back.tape[1] != 0.0:
        fail(back, head.time)
        return False
    return True


def spare_of_present(carrier):
    """Copy states, cache and their tangents to the spare ones."""
    y_dot = part_of(carrier.y_dots, ALONG, carrier.y)
    for m in range(y_dot.shape[0]):
        carrier.spare_y[m] = carrier.y[m]
        carrier.spare_y_dot[m] = y_dot[m]
    copy_cache_aside(carrier, ALONG)


def record_dense_row(run, carrier, back, row):
    """A row on the dense output, on the tape; whether that was possible."""
    method = method_of(run, carrier)
    call_dense_record(
        back.plan.dense,
        (
            row.time, method.coefficients, carrier.work, carrier.spare_y, carrier.spare_y,
            0.0, part_of(carrier.work_dots, ALONG, carrier.work), carrier.spare_y_dot, carrier.spare_y_dot,
            0, 0, 0, back.tape,
        ),
    )  # fmt: skip
    if back.tape[1] != 0.0:
        return False
    copy_cache_aside(carrier, ALONG)
    for block in run.blocks_inside:
        if not record_spare(run, carrier, back, block, block + 1, row.time, 0.0):
            return False
    return True


def reverse_dense_row(run, back, row):
    """Go back over such a row."""
    clear(back.spare_y)
    clear(back.spare_c)
    add_weights(run, back, int(row.row), back.spare_y, back.spare_c)
    for _ in run.blocks_inside:
        reverse_spare(back)
    add_to(back.c, back.spare_c)
    call_dense_reverse(back.plan.dense_back, (back.work, back.spare_y, back.spare_y, back.tape, back.bars))


def add_weights(run, back, row, y, c):
    """Add the weights of a row to the adjoints; whether some are of computed values."""
    has_computed = False
    width = run.chosen.values
    at = row * width
    for value in run.chosen_values:
        weight = back.weights[at]
        at += 1
        if value.array == IN_Y:
            y[value.offset] += weight
        elif value.array == IN_P:
            back.p[value.offset] += weight
        elif value.array == IN_D:
            back.d[value.offset] += weight
        elif value.array == IN_C and weight != 0.0:
            c[value.offset] += weight
            has_computed = True
    return has_computed


# ---- what happens at an instant


def back_row(run, carrier, back, at, head):
    """Go back over a row that was recorded where the run was."""
    load_record(carrier, back, at)
    notes = back.notes
    clear(back.spare_y)
    has_computed = add_weights(run, back, int(head.row), back.spare_y, back.c)
    if not has_computed and head.time_dot == 0.0:
        add_to(back.y, back.spare_y)
        return
    is_recorded = record_rows(
        run, carrier, back, run.plan.first_row, run.plan.derivatives.last, head.time, 0.0
    )
    for block in run.blocks_outside:
        is_recorded = is_recorded and record_rows(run, carrier, back, block, block + 1, head.time, 0.0)
    if not is_recorded:
        fail(back, head.time)
        return
    if has_computed:
        for _ in run.blocks_outside:
            reverse_walk(back.spare_y, back.p, back.d, back.h, back.c, back.tape)
        reverse_walk(back.spare_y, back.p, back.d, back.h, back.c, back.tape)
    clear(back.c)
    if head.time_dot != 0.0:
        notes.time_bar -= flow_of(carrier, back.spare_y)
    add_to(back.y, back.spare_y)


def back_phase(run, carrier, back, at, head):
    """Go back over the handlers of one kind and cause."""
    first = load_record(carrier, back, at)
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
    if not record_rows(run, carrier, back, run.plan.first_row, run.plan.report_end, head.time, head.time_dot):
        fail(back, head.time)
        return
    top = back.tape[0]
    copy_to_working(run, carrier)
    if not record_handlers(run, carrier, back, first, last, head):
        fail(back, head.time)
        return
    n = carrier.y.shape[0]
    parameters = carrier.p.shape[0]
    for m in range(n):
        back.working[m] = back.y[m]
    for m in range(parameters):
        back.working[n + m] = back.p[m]
    for m in range(carrier.d.shape[0]):
        back.working[n + parameters + m] = back.d[m]
    clear(back.y)
    clear(back.p)
    clear(back.d)
    reverse_handlers(run, carrier, back, first, last)
    for m in range(n):
        back.y[m] += back.working[m]
    for m in range(parameters):
        back.p[m] += back.working[n + m]
    for m in range(carrier.d.shape[0]):
        back.d[m] += back.working[n + parameters + m]
    notes.time_bar += reverse_rows(back)
    clear(back.c)
    if shifts >= 0:
        back_shift(run, carrier, back, run.handlers[shifts], speed, top)


def event_that_shifts(run, back, first, last):
    """The handler whose event moves the time, as `carried_events.wants_shift` says; -1: there is none."""
    at = first
    while at < last:
        event = rows_of(log.LoggedEvent, back.trail, at, 1)[0]
        if event.handler >= 0.0:
            number = int(event.handler)
            handler = run.handlers[number]
            if handler.cause == SCHEDULED or handler.cause == TRIGGERED:
                return number
        at += int(event.length)
    return -1


def back_shift(run, carrier, back, handler, speed, top):
    """Go back over the shift of the time to that of an event."""
    notes = back.notes
    shift = flow_of(carrier, back.y)
    wanted = notes.time_bar + shift
    notes.time_bar = -shift
    if handler.cause == TRIGGERED:
        notes.time_bar += wanted
        back.c[run.probes[handler.flag].value] -= wanted / speed
        back.tape[0] = top
        notes.time_bar += reverse_rows(back)
        clear(back.c)
    elif handler.schedule == TIMED:
        back.d[handler.flag] += wanted


def record_handlers(run, carrier, back, first, last, head):
    """Call handlers once more, on the tape; whether that was possible."""
    at_k = carrier.y.shape[0] + carrier.p.shape[0] + carrier.d.shape[0]
    c_dot = part_of(carrier.c_dots, ALONG, carrier.c)
    dots = part_of(carrier.working_dots, ALONG, carrier.working)
    at = first
    while at < last:
        event = rows_of(log.LoggedEvent, back.trail, at, 1)[0]
        if event.handler >= 0.0 and event.answer > 0.0:
            handler = run.handlers[int(event.handler)]
            for result in run.results_of(handler):
                place = number_of_variable(run, result.array, result.offset)
                for m in range(result.size):
                    carrier.c[result.at + m] = carrier.working[place + m]
                    c_dot[result.at + m] = dots[place + m] if place < at_k else 0.0
            block = handler.block
            if not record_rows(run, carrier, back, block, block + 1, head.time, head.time_dot):
                return False
            for result in run.results_of(handler):
                place = number_of_variable(run, result.array, result.offset)
                for m in range(result.size):
                    carrier.working[place + m] = carrier.c[result.at + m]
                    dots[place + m] = c_dot[result.at + m]
        at += int(event.length)
    return True


def reverse_handlers(run, carrier, back, first, last):
    """Go back over handlers, the last one first; their adjoints are in ``working``."""
    at_k = carrier.y.shape[0] + carrier.p.shape[0] + carrier.d.shape[0]
    called = 0
    at = first
    while at < last:
        event = rows_of(log.LoggedEvent, back.trail, at, 1)[0]
        if event.handler >= 0.0 and event.answer > 0.0:
            called += 1
        at += int(event.length)
    for wanted in range(called - 1, -1, -1):
        handler = run.handlers[handler_of_call(back, first, wanted)]
        for result in run.results_of(handler):
            place = number_of_variable(run, result.array, result.offset)
            if place < at_k:
                for m in range(result.size):
                    back.c[result.at + m] += back.working[place + m]
                    back.working[place + m] = 0.0
        back.notes.time_bar += reverse_rows(back)
        for result in run.results_of(handler):
            place = number_of_variable(run, result.array, result.offset)
            for m in range(result.size):
                if place < at_k:
                    back.working[place + m] += back.c[result.at + m]
                back.c[result.at + m] = 0.0


def handler_of_call(back, first, wanted):
    """The handler of a call among those of a phase."""
    at = first
    count = -1
    number = 0
    while count < wanted:
        event = rows_of(log.LoggedEvent, back.trail, at, 1)[0]
        if event.handler >= 0.0 and event.answer > 0.0:
            count += 1
        number = int(event.handler)
        at += int(event.length)
    return number


def back_memory(run, carrier, back, at, head):
    """Go back over new values of auto-update variables."""
    load_record(carrier, back, at)
    notes = back.notes
    rows = run.plan.end_updates
    if not record_rows(
        run, carrier, back, run.plan.first_row, run.plan.derivatives.last, head.time, head.time_dot
    ):
        fail(back, head.time)
        return
    c_dot = part_of(carrier.c_dots, ALONG, carrier.c)
    d_dot = part_of(carrier.d_dots, ALONG, carrier.d)
    carrier.c[run.plan.side] = head.flag
    k = own_part(carrier, carrier.k, ALONG)
    for swap in run.swaps:
        is_whole = swap.array == IN_K
        carrier.c[swap.update] = float(k[swap.offset]) if is_whole else carrier.d[swap.offset]
        c_dot[swap.update] = 0.0 if is_whole else d_dot[swap.offset]
    if not record_rows(run, carrier, back, rows.first, rows.last, head.time, head.time_dot):
        fail(back, head.time)
        return
    for swap in run.swaps:
        if swap.array != IN_K:
            back.c[swap.update] += back.d[swap.offset]
            back.d[swap.offset] = 0.0
    notes.time_bar += reverse_rows(back)
    for swap in run.swaps:
        if swap.array != IN_K:
            back.d[swap.offset] += back.c[swap.update]
        back.c[swap.update] = 0.0
    notes.time_bar += reverse_rows(back)
    clear(back.c)


def back_assembly(run, carrier, back, at, head):
    """Go back over states that were made to meet their constraints."""
    method = method_of(run, carrier)
    if not has_corrections(method.corrections):
        return
    load_record(carrier, back, at)
    notes = back.notes
    t = head.time
    is_recorded = record_rows(
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
    if code != DONE or back.tape[1] != 0.0:
        fail(back, t)
        return
    notes.time_bar += reverse_redo(run, back, back.plan.settle_back, back.y, back.c)
    clear(back.work)
    clear(back.memory)
    notes.time_bar += reverse_rows(back)
    clear(back.c)


BACK_SIGNATURE = "iiii>i"


def go_back_by_address(head, carrier_head, back_head, end):
    """`go_back` of arrays that stand at addresses."""
    return go_back(arrays_at(head), carrier_at(carrier_head), returner_at(back_head), end)
