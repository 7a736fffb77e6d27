"""Going back over a step, and over the rows inside it."""

from __future__ import annotations

from cosim.contracts.method_layout import DONE, MethodArrays
from cosim.derivatives.adjoint_holds import reverse_holds
from cosim.derivatives.adjoint_memory import restore_past, save_past
from cosim.derivatives.adjoint_parts import (
    add_to,
    fail,
    record_motion,
    record_motion_at,
    record_redo,
    record_spare,
    reverse_motion,
    reverse_redo,
    reverse_spare,
    reverse_time_shift,
)
from cosim.derivatives.adjoint_points import record_inside, reverse_points
from cosim.derivatives.adjoint_rows import add_weights, has_weights
from cosim.derivatives.carrier import ALONG, HELD, Dual, copy_cache_aside, method_of, part_of
from cosim.derivatives.source_kinks import (
    end_before_kink,
    is_at_kink,
    is_smooth_break,
    load_slope_behind_kink,
    move_behind_kink,
    reaches_kink,
)
from cosim.derivatives.tangent_memory import copy_present
from cosim.derivatives.tangent_steps import load_direction, store_start
from cosim.derivatives.trail import INSIDE_WIDTH, PAST_CHANGED, TrailRecord
from cosim.derivatives.trail_reader import load_record
from cosim.step import event_log as log
from cosim.step.block_calls import copy_reals
from cosim.walker import call_dense_record, call_dense_reverse
from cosim_compiler.derivatives.rates import clear
from cosim_compiler.derivatives.tape_ends import has_overflowed
from cosim_compiler.record import rows_of


def reverse_step(run, carrier, back, at, head):
    """Go back over a step, and over the rows inside it, which stand behind it on the trail.

    What the step did is recorded from its start on; then derivatives go back over the record, from its end.
    """
    copy_reals(part_of(carrier.memory_dots, 0, carrier.memory), back.memory_flow)  # at its end
    load_record(run, carrier, back, at)
    save_past(carrier, back)
    if not record_motion(run, carrier, back, head.start, head.time_dot):
        fail(back, head.start)
        return
    for j in range(len(run.kinks)):
        carrier.kept[j] = carrier.c[run.kinks[j]]
    clear(back.kinks)
    method = method_of(run, carrier)
    at_kink = False
    if method.n > 0:
        at_kink = prepare_repeated_step(run, carrier, method, head)
        if not record_repeated_step(run, carrier, back, head, at_kink):
            return
    if not reverse_inside(run, carrier, back, at, head):
        return
    if method.n > 0 and run.plan.remembers != 0:
        reverse_points(run, back)
        if run.plan.method.complete != 0:
            reverse_completion(run, back)
    reached = kink_that_shifts(run, carrier, head)
    if reached >= 0:
        back.kinks[reached] += reverse_time_shift(carrier, back, back.memory_flow)
    if method.n > 0:
        reverse_repeated_step(run, carrier, back, method, at_kink)
    for j in range(len(run.kinks)):
        back.c[run.kinks[j]] += back.kinks[j]
    back.notes.time_bar += reverse_motion(run, carrier, back)
    clear(back.c)
    restore_past(carrier, back)


def record_repeated_step(run, carrier, back, head, at_kink):
    """Take a step once more, on the tape, with what later reads need of it; whether that was possible."""
    if at_kink and not record_slope_behind_kink(run, carrier, back, head):
        fail(back, head.start)
        return False
    code = record_redo(
        run, carrier, back, back.plan.step, end_before_kink(run, carrier, head),
        carrier.y, part_of(carrier.y_dots, ALONG, carrier.y),
        carrier.c, part_of(carrier.c_dots, ALONG, carrier.c),
    )  # fmt: skip
    if code != DONE or has_overflowed(back.tape):
        fail(back, head.start)
        return False
    if run.plan.remembers == 0:
        return True
    if run.plan.method.complete != 0 and not record_completion(run, carrier, back, head):
        return False
    if not record_inside(run, carrier, back, head.start, head.time):
        fail(back, head.start)
        return False
    return True


def record_slope_behind_kink(run, carrier, back, head):
    """The derivative that a step from a kink begins with, on the tape; whether that was possible."""
    if not record_motion_at(
        run, carrier, back, Dual(carrier.notes.time, head.time_dot),
        Dual(carrier.spare_y, carrier.spare_y_dot), Dual(carrier.spare_c, carrier.spare_c_dot),
    ):  # fmt: skip
        return False
    load_slope_behind_kink(run, carrier, ALONG)
    return True


def reverse_repeated_step(run, carrier, back, method, at_kink):
    """Go back over the step that was taken once more: to its start, and to the derivative there."""
    notes = back.notes
    moved = MethodArrays(
        method.n,
        method.coefficients,
        run.settings,
        back.memory[: run.plan.sizes.memory],
        back.work,
        method.slot_numbers,
    )
    notes.time_bar += reverse_redo(back, back.plan.step_back, back.y, back.c)
    notes.time_bar += moved.work.start + moved.work.end
    add_to(back.y, moved.start)
    slope = moved.slope
    if at_kink:
        clear(back.spare_c)
        for m in range(method.n):
            back.spare_c[m] = slope[m]
        notes.time_bar += reverse_spare(back)
        if carrier.notes.is_held == HELD:
            notes.time_bar += reverse_spare(back)
            reverse_holds(run, carrier, back, back.spare_c)
        add_to(back.y, back.spare_y)
    else:
        for m in range(method.n):
            back.c[m] += slope[m]
    clear(back.work)


def kink_that_shifts(run, carrier, head):
    """The kink with which the time of the end of a step moves, as `source_kinks.pass_kinks` says; or -1."""
    for j in range(len(run.kinks)):
        if reaches_kink(head, carrier.kept[j]) and not is_smooth_break(carrier, j):
            return j
    return -1


def prepare_repeated_step(run, carrier, method, head):
    """Set up a step that is taken once more; whether its start is at a kink.

    Then the spare states and the time of the notes are those just behind it.
    """
    store_start(carrier, method)
    load_direction(run, carrier, ALONG, method, head, end_before_kink(run, carrier, head))
    if not is_at_kink(carrier, method):
        return False
    carrier.notes.time = move_behind_kink(carrier, ALONG, method, head)
    copy_reals(part_of(carrier.y_dots, ALONG, carrier.y), carrier.spare_y_dot)
    return True


def first_inside(back, at, head):
    """Where the first row inside a step may be on the trail: behind updates of variables at its end."""
    end = int(back.notes.used)
    place = at + int(head.length)
    while place < end:
        update = rows_of(TrailRecord, back.trail, place, 1)[0]
        if int(update.kind) != log.MEMORY_UPDATED and int(update.kind) != PAST_CHANGED:
            break
        place += int(update.length)
    return place


def rows_inside(back, place):
    """How many rows inside a step follow on the trail from a place."""
    end = int(back.notes.used)
    count = 0
    while place < end:
        row = rows_of(TrailRecord, back.trail, place, 1)[0]
        if int(row.kind) != log.ROW_WRITTEN or row.detail == 0.0:
            break
        count += 1
        place += int(row.length)
    return count


def reverse_inside(run, carrier, back, at, head):
    """Go back over the rows inside a step, whose end is present; whether that was possible.

    All are recorded first: the first dense output of a step stores what the others use.
    """
    first = first_inside(back, at, head)
    count = rows_inside(back, first)
    wanted = 0
    completes = run.plan.method.complete != 0 and run.plan.remembers == 0
    for i in range(count):
        row = rows_of(TrailRecord, back.trail, first + i * INSIDE_WIDTH, 1)[0]
        if has_weights(run, back, int(row.row)):
            if wanted == 0 and completes and not record_completion(run, carrier, back, head):
                return False
            wanted += 1
            if not record_dense_row(run, carrier, back, row):
                fail(back, head.time)
                return False
    for i in range(count - 1, -1, -1):
        row = rows_of(TrailRecord, back.trail, first + i * INSIDE_WIDTH, 1)[0]
        if has_weights(run, back, int(row.row)):
            reverse_dense_row(run, back, row)
    if wanted > 0 and completes:
        reverse_completion(run, back)
    return True


def reverse_completion(run, back):
    """Go back over what dense output needs."""
    clear(back.spare_y)
    clear(back.spare_c)
    back.notes.time_bar += reverse_redo(back, back.plan.complete_back, back.spare_y, back.spare_c)
    add_to(back.y, back.spare_y)
    add_to(back.c, back.spare_c)


def record_completion(run, carrier, back, head):
    """Complete what dense output needs, on the tape; whether that was possible."""
    copy_present(carrier, ALONG)
    code = record_redo(
        run, carrier, back, back.plan.complete, head.time,
        carrier.spare_y, carrier.spare_y_dot, carrier.spare_c, carrier.spare_c_dot,
    )  # fmt: skip
    if code != DONE or has_overflowed(back.tape):
        fail(back, head.time)
        return False
    return True


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
    if has_overflowed(back.tape):
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
