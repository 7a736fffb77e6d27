"""Tangents that go along the steps of a run: the tape is read, and each record moves them on.

Each step is taken once more, from where the run took it, by the tangent of the method's own step; so the
tangents are the derivatives of what the method has computed. Handlers are differentiated one by one, in the
groups in which the run has called them.

What happens at a time that moves is described at that time: beside the tangents Y of the states stands the
tangent of the time itself, as if the time were another parameter. An event adds to both, Y += f shift and
time_dot += shift, so that the witness stays zero; nothing has to be known of the derivative behind it. At a
fixed time a tangent is Y - f time_dot.

The first direction is that of the flow, Y = f and time_dot = 1. Where the derivative of a state jumps inside
a step, and no event is there, it is the flow no longer: so it is noticed. It also says how fast a witness is.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cosim.contracts.method_layout import DONE, WORK_HEADER, Corrections, MethodArrays
from cosim.step import event_log as log
from cosim.step.constraints import has_corrections
from cosim.step.integration import numbers_where
from cosim.step.records import IN_C, IN_D, IN_K, IN_P, IN_Y, PUBLISH, SCHEDULED, SIGNALED, TIMED, TRIGGERED
from cosim.step.run import Integers, Reals, arrays_at
from cosim.step.tape import ASSEMBLY_WIDTH, STEP_WIDTH, LoggedMemory, LoggedPhase, LoggedRow, LoggedStep
from cosim.walker import call_dense_tangent, call_redo_tangent, walk_tangents
from cosim_compiler.record import Record, rows_of, width_of

GRAZING = 1e-9
"""A witness that is slower than this part of what moves it touches zero, and does not cross it."""
SAME_SHIFT = 1e-9
"""Two events whose times move alike up to this part stay in their order."""
NEARLY_ZERO = 1e-14  # s: shifts that are that small are none
HARDLY = 1e-6
"""By so much of its size the flow and its tangent may differ at the end of a step; see `follow_step`."""
SUSPECT = 0.1
"""In parts of how much derivatives change in a step: more than that may be a jump."""
HALVINGS = 25  # of a step, to see whether it is
ROUNDED = 1e-9
"""By so much of its size, or the accuracy, a state may differ from what steps and handlers have made of it."""
NO_DISTANCE = 1e-290  # of a number that changes its sign at a kink: it is 0, or marks the side that 0 is on
BEHIND_KINK = 1e-9  # of a step: so far ahead the derivatives are those behind a kink at its start
KINK_REACHED = 1e-12  # of the time: a source that jumps so near to the end of a step jumps there

GRAZES, CHANGES_ORDER, IS_PYTHON, IS_CONDITION, HAS_PERIOD, IS_ENDLESS = range(1, 7)  # of a handler
JUMPS, WAS_CHANGED, FAILED, IS_HELD, BLOCK_FAILED = range(7, 12)  # of a state, the last of a row


class CarryPlan(Record):
    """What carries tangents, and how many."""

    step: int  # addresses of the tangents of the method's functions; 0: it has none
    dense: int
    complete: int
    settle: int  # of `constraints.settle`
    directions: int  # with that of the flow, which is the first


class CarryNotes(Record):
    """How far the tangents have come."""

    time: float  # s
    freshness: float  # of the cache and its tangents: NOT_FRESH, IS_MOTION, IS_REPORT
    is_shifted: float  # whether an event of this instant has shifted the time
    is_complete: float  # whether the dense output of the last step is
    lost: float  # 0, or why there are no tangents any more
    lost_time: float  # s
    lost_subject: float
    rows_used: float
    log_used: float


NOT_FRESH, IS_MOTION, IS_REPORT = 0.0, 1.0, 2.0
CARRY_PLAN, CARRY_NOTES = width_of(CarryPlan), width_of(CarryNotes)


class Carrier(NamedTuple):
    """The arrays of tangents that are carried: values, and one direction after the other."""

    table: Integers  # of the tangents of blocks
    numbers: Integers  # a `CarryPlan`
    notes_numbers: Reals  # `CarryNotes`
    y: Reals
    p: Reals
    d: Reals
    k: Integers
    c: Reals
    memory: Reals
    start_memory: Reals  # at the start of the step
    work: Reals
    time_dots: Reals
    y_dots: Reals
    p_dots: Reals
    d_dots: Reals
    h_dots: Reals
    c_dots: Reals
    memory_dots: Reals
    work_dots: Reals
    heads: Reals  # what `work` begins with, for each direction
    pace_before: Reals  # how fast derivatives change at the start of a step
    spare_y: Reals
    spare_y_dot: Reals
    spare_c: Reals
    spare_c_dot: Reals
    wanted: Reals  # tangents of the time of an event
    kept: Reals  # times of kinks, then their tangents
    working: Reals  # what handlers write to: y, p, d and k
    working_dots: Reals
    rows: Reals  # tangents of the recorded values

    @property
    def plan(carrier):
        """What carries the tangents."""
        return rows_of(CarryPlan, carrier.numbers, 0, 1)[0]

    @property
    def notes(carrier):
        """How far they have come."""
        return rows_of(CarryNotes, carrier.notes_numbers, 0, 1)[0]

    @property
    def directions(carrier):
        """How many there are, with that of the flow."""
        return carrier.plan.directions


def part_of(dots, i, like):
    """The tangents along a direction of an array."""
    size = like.shape[0]
    return dots[i * size : (i + 1) * size]


def lose(carrier, time, reason, subject):
    """There are no tangents from a time on; the first reason stays."""
    notes = carrier.notes
    if notes.lost == 0.0:
        notes.lost = float(reason)
        notes.lost_time = time
        notes.lost_subject = float(subject)


def walk_along(run, carrier, i, first, last, t, t_dot, y_dot, c_dot):
    """Walk blocks and their tangents along a direction, at the present values."""
    status = walk_tangents(
        carrier.table, run.ints, first, last, t,
        carrier.y, carrier.p, carrier.d, carrier.k, run.h, carrier.c,
        t_dot, y_dot, part_of(carrier.p_dots, i, carrier.p), part_of(carrier.d_dots, i, carrier.d), c_dot,
    )  # fmt: skip
    if status != 0:
        lose(carrier, t, BLOCK_FAILED, status - 1)


def walk_spare(run, carrier, i, first, last, t, t_dot, y_dot):
    """As `walk_along`, of the spare states and cache."""
    status = walk_tangents(
        carrier.table, run.ints, first, last, t,
        carrier.spare_y, carrier.p, carrier.d, carrier.k, run.h, carrier.spare_c,
        t_dot, y_dot, part_of(carrier.p_dots, i, carrier.p), part_of(carrier.d_dots, i, carrier.d),
        carrier.spare_c_dot,
    )  # fmt: skip
    if status != 0:
        lose(carrier, t, BLOCK_FAILED, status - 1)


def walk_present(run, carrier, i, first, last):
    """As `walk_along`, at the present time, into the cache."""
    walk_along(
        run, carrier, i, first, last, carrier.notes.time, carrier.time_dots[i],
        part_of(carrier.y_dots, i, carrier.y), part_of(carrier.c_dots, i, carrier.c),
    )  # fmt: skip


def realize_tangents(run, carrier, wanted):
    """Evaluate the present cache and its tangents; the flow becomes that of the present states."""
    notes = carrier.notes
    known = notes.freshness
    if known >= wanted:
        return
    derivatives = run.plan.derivatives
    last = derivatives.last if wanted == IS_MOTION else run.plan.report_end
    first = run.plan.first_row if known == NOT_FRESH else derivatives.last
    for i in range(1, carrier.directions):
        walk_present(run, carrier, i, first, last)
    if known == NOT_FRESH:
        flow = part_of(carrier.y_dots, 0, carrier.y)
        for m in range(flow.shape[0]):
            flow[m] = carrier.c[m]
        first = derivatives.first
    walk_present(run, carrier, 0, first, last)
    notes.freshness = wanted


def shift_time(run, carrier, wanted):
    """Describe the tangents at a time that moves so."""
    n = carrier.y.shape[0]
    for i in range(1, carrier.directions):
        shift = wanted[i] - carrier.time_dots[i]
        y_dot = part_of(carrier.y_dots, i, carrier.y)
        if shift != 0.0:
            for m in range(n):
                y_dot[m] += carrier.c[m] * shift
            memory_dot = part_of(carrier.memory_dots, i, carrier.memory)
            flow = part_of(carrier.memory_dots, 0, carrier.memory)
            for m in range(memory_dot.shape[0]):
                memory_dot[m] += flow[m] * shift
            carrier.time_dots[i] = wanted[i]
            carrier.notes.freshness = NOT_FRESH


# ---- a step


def follow_step(run, carrier, at):
    """Move values and tangents on to the end of a step of the run."""
    notes = carrier.notes
    step = rows_of(LoggedStep, run.log, at, 1)[0]
    if step.is_held != 0.0:
        lose(carrier, step.start, IS_HELD, 0)
        return
    take_start(run, carrier, step, at + STEP_WIDTH)
    realize_tangents(run, carrier, IS_MOTION)
    keep_kinks(run, carrier)
    begin_flow(run, carrier)
    n = carrier.y.shape[0]
    flow = part_of(carrier.y_dots, 0, carrier.y)
    pace = part_of(carrier.c_dots, 0, carrier.c)
    for m in range(n):
        carrier.pace_before[m] = abs(pace[m])
    if n > 0:
        take_step(run, carrier, step)
        notes.freshness = IS_MOTION
    else:
        notes.freshness = NOT_FRESH
    notes.time = step.time
    notes.is_shifted = 0.0
    length = step.time - step.start
    for m in range(n):
        missed = abs(flow[m] - carrier.c[m])
        expected = SUSPECT * length * (carrier.pace_before[m] + abs(pace[m]))
        if missed > expected + HARDLY * max(1.0, abs(carrier.c[m])):
            if jumps_inside(run, carrier, step, m, SUSPECT * missed):
                lose(carrier, step.start, JUMPS, m)
    pass_kinks(run, carrier, step)


def jumps_inside(run, carrier, step, m, least):
    """Whether the derivative of a state jumps by so much on the line between both ends of a step.

    The half in which it changes more is halved again and again: what is smooth changes less and less there.
    """
    start = method_of(run, carrier).start
    low = 0.0
    high = 1.0
    at_low = derivative_between(run, carrier, step, start, low, m)
    at_high = derivative_between(run, carrier, step, start, high, m)
    for _ in range(HALVINGS):
        middle = 0.5 * (low + high)
        at_middle = derivative_between(run, carrier, step, start, middle, m)
        if abs(at_middle - at_low) > abs(at_high - at_middle):
            high = middle
            at_high = at_middle
        else:
            low = middle
            at_low = at_middle
    return abs(at_high - at_low) > least


def derivative_between(run, carrier, step, start, share, m):
    """The derivative of a state on the line between both ends of a step."""
    for j in range(start.shape[0]):
        carrier.spare_y[j] = (1.0 - share) * start[j] + share * carrier.y[j]
    for j in range(carrier.c.shape[0]):
        carrier.spare_c[j] = carrier.c[j]
    rows = run.plan.derivatives
    t = (1.0 - share) * step.start + share * step.time
    walk_spare(run, carrier, 0, rows.first, rows.last, t, 0.0, carrier.spare_y_dot)
    return carrier.spare_c[m]


def begin_flow(run, carrier):
    """Make the first direction the flow of the present states again."""
    flow = part_of(carrier.y_dots, 0, carrier.y)
    differs = False
    for m in range(flow.shape[0]):
        differs = differs or flow[m] != carrier.c[m]
        flow[m] = carrier.c[m]
    if differs:
        walk_present(run, carrier, 0, run.plan.derivatives.first, run.plan.derivatives.last)


def take_start(run, carrier, step, at):
    """Take the states and variables with which a step has begun."""
    notes = carrier.notes
    n = carrier.y.shape[0]
    nd = carrier.d.shape[0]
    nm = run.memory.shape[0]
    rounded = max(ROUNDED, run.options.accuracy)
    for m in range(n):
        begin = run.log[at + m]
        if begin != carrier.y[m]:
            if not abs(begin - carrier.y[m]) <= rounded * max(1.0, abs(begin)):
                lose(carrier, step.start, WAS_CHANGED, m)
            carrier.y[m] = begin
            notes.freshness = NOT_FRESH
    for m in range(nm):
        carrier.start_memory[m] = run.log[at + n + m]
    for m in range(nd):
        begin = run.log[at + n + nm + m]
        if begin != carrier.d[m] and (begin == begin or carrier.d[m] == carrier.d[m]):
            lose(carrier, step.start, WAS_CHANGED, n + m)
            carrier.d[m] = begin
            notes.freshness = NOT_FRESH
    for m in range(carrier.k.shape[0]):
        begin = int(run.log[at + n + nm + nd + m])
        if begin != carrier.k[m]:
            carrier.k[m] = begin
            notes.freshness = NOT_FRESH
    if notes.time != step.start:
        notes.time = step.start
        notes.freshness = NOT_FRESH


def follow_assembly(run, carrier, at):
    """The states meet their constraints: their tangents do now, too."""
    notes = carrier.notes
    for m in range(carrier.y.shape[0]):
        carrier.y[m] = run.log[at + m]
    notes.freshness = NOT_FRESH
    coefficients, slots = numbers_where(run, False)
    if not has_corrections(rows_of(Corrections, slots, 0, 1)[0]):
        return
    realize_tangents(run, carrier, IS_MOTION)
    rows = run.plan.derivatives
    for i in range(1, carrier.directions):
        for m in range(carrier.y.shape[0]):
            carrier.y[m] = run.log[at + m]
        code = call_redo_tangent(
            carrier.plan.settle,
            (
                carrier.table, run.ints, rows.first, rows.last, notes.time,
                carrier.y, carrier.p, carrier.d, carrier.k, run.h, carrier.c,
                coefficients, run.settings, carrier.memory, carrier.work, slots,
                carrier.time_dots[i], part_of(carrier.y_dots, i, carrier.y),
                part_of(carrier.p_dots, i, carrier.p), part_of(carrier.d_dots, i, carrier.d),
                part_of(carrier.h_dots, i, run.h), part_of(carrier.c_dots, i, carrier.c),
                part_of(carrier.memory_dots, i, carrier.memory), part_of(carrier.work_dots, i, carrier.work),
            ),
        )  # fmt: skip
        if code != DONE:
            lose(carrier, notes.time, FAILED, 0)
    for m in range(carrier.y.shape[0]):
        carrier.y[m] = run.log[at + m]
    notes.freshness = NOT_FRESH


def method_of(run, carrier):
    """The arrays of the method, with those of its last step that belong to the tangents."""
    coefficients, slots = numbers_where(run, False)
    return MethodArrays(run.y.shape[0], coefficients, run.settings, carrier.memory, carrier.work, slots)


def take_step(run, carrier, step):
    """Take a step once more along each direction."""
    method = method_of(run, carrier)
    n = method.n
    work = method.work
    work.dense_ready = 0.0
    carrier.notes.is_complete = 0.0
    slope = method.slope
    start = method.start
    for m in range(n):
        start[m] = carrier.y[m]
        slope[m] = carrier.c[m]
    rows = run.plan.derivatives
    at_kink = is_at_kink(carrier, method)
    for i in range(carrier.directions):
        work.start = step.start
        work.end = step.time
        y_dot = part_of(carrier.y_dots, i, carrier.y)
        c_dot = part_of(carrier.c_dots, i, carrier.c)
        moved = MethodArrays(
            n, method.coefficients, method.settings_numbers,
            part_of(carrier.memory_dots, i, carrier.memory), part_of(carrier.work_dots, i, carrier.work),
            method.slot_numbers,
        )  # fmt: skip
        moved.work.start = carrier.time_dots[i]
        moved.work.end = carrier.time_dots[i]
        start_dot = moved.start
        slope_dot = moved.slope
        for m in range(carrier.memory.shape[0]):
            carrier.memory[m] = carrier.start_memory[m]
        for m in range(n):
            start_dot[m] = y_dot[m]
            slope_dot[m] = c_dot[m]
        if at_kink:
            leave_kink(run, carrier, i, step, start, slope, slope_dot)
        code = call_redo_tangent(
            carrier.plan.step,
            (
                carrier.table, run.ints, rows.first, rows.last, step.time,
                carrier.y, carrier.p, carrier.d, carrier.k, run.h, carrier.c,
                method.coefficients, method.settings_numbers, carrier.memory, carrier.work, method.slot_numbers,
                carrier.time_dots[i], y_dot, part_of(carrier.p_dots, i, carrier.p),
                part_of(carrier.d_dots, i, carrier.d), part_of(carrier.h_dots, i, run.h), c_dot,
                moved.memory_numbers, moved.work_numbers,
            ),
        )  # fmt: skip
        if code != DONE:
            lose(carrier, step.start, FAILED, 0)
        store_head(carrier, i)


def store_head(carrier, i):
    """Keep what `work` begins with: a direction has its own flags of what dense output has at hand."""
    head = carrier.heads[i * WORK_HEADER : (i + 1) * WORK_HEADER]
    for m in range(WORK_HEADER):
        head[m] = carrier.work[m]


def load_head(carrier, i):
    """Restore what `store_head` has kept."""
    head = carrier.heads[i * WORK_HEADER : (i + 1) * WORK_HEADER]
    for m in range(WORK_HEADER):
        carrier.work[m] = head[m]


def is_at_kink(carrier, method):
    """Whether the start of a step is at a kink."""
    found = False
    for slot in method.kink_slots:
        found = found or abs(carrier.c[slot]) <= NO_DISTANCE
    return found


def leave_kink(run, carrier, i, step, start, slope, slope_dot):
    """Make the tangents of the derivatives at a kink those just behind it, and not the mean of both sides."""
    ahead = BEHIND_KINK * (step.time - step.start)
    c_dot = part_of(carrier.c_dots, i, carrier.c)
    for m in range(carrier.y.shape[0]):
        carrier.spare_y[m] = start[m] + ahead * slope[m]
    for m in range(c_dot.shape[0]):
        carrier.spare_c[m] = carrier.c[m]
        carrier.spare_c_dot[m] = c_dot[m]
    rows = run.plan.derivatives
    walk_spare(run, carrier, i, rows.first, rows.last, step.start + ahead, carrier.time_dots[i], part_of(carrier.y_dots, i, carrier.y))
    for m in range(slope_dot.shape[0]):
        slope_dot[m] = carrier.spare_c_dot[m]


def keep_kinks(run, carrier):
    """Keep the times until which components are smooth, and how they move."""
    count = len(run.kinks)
    for j in range(count):
        carrier.kept[j] = carrier.c[run.kinks[j]]
        for i in range(carrier.directions):
            carrier.kept[(i + 1) * count + j] = part_of(carrier.c_dots, i, carrier.c)[run.kinks[j]]


def pass_kinks(run, carrier, step):
    """Where a component is smooth no more, at a time of its own, the time moves as that."""
    count = len(run.kinks)
    for j in range(count):
        at = carrier.kept[j]
        if step.start < at and abs(at - step.time) <= KINK_REACHED * max(1.0, abs(step.time)):
            for i in range(1, carrier.directions):
                carrier.wanted[i] = carrier.kept[(i + 1) * count + j]
            shift_time(run, carrier, carrier.wanted)


# ---- rows


def write_rows(run, carrier, row):
    """Write the tangents of the recorded values, at a fixed time."""
    if row.is_inside == 0.0:
        realize_tangents(run, carrier, IS_MOTION)
    has_computed = 0
    for value in run.chosen_values:
        has_computed += value.array == IN_C
    for i in range(1, carrier.directions):
        y_dot = carrier.spare_y_dot
        if carrier.notes.lost == 0.0:
            if row.is_inside != 0.0:
                look_inside(run, carrier, i, row.time, has_computed)
            else:
                look_here(run, carrier, i, row.time, has_computed)
        for value in run.chosen_values:
            number = math.nan
            if carrier.notes.lost == 0.0:
                number = 0.0
                if value.array == IN_Y:
                    number = y_dot[value.offset]
                elif value.array == IN_P:
                    number = part_of(carrier.p_dots, i, carrier.p)[value.offset]
                elif value.array == IN_D:
                    number = part_of(carrier.d_dots, i, carrier.d)[value.offset]
                elif value.array == IN_C:
                    number = carrier.spare_c_dot[value.offset]
            carrier.rows[int(carrier.notes.rows_used)] = number
            carrier.notes.rows_used += 1.0


def look_here(run, carrier, i, t, has_computed):
    """The tangents of the present, at a fixed time, into the spare arrays."""
    y_dot = part_of(carrier.y_dots, i, carrier.y)
    c_dot = part_of(carrier.c_dots, i, carrier.c)
    time_dot = carrier.time_dots[i]
    for m in range(y_dot.shape[0]):
        carrier.spare_y_dot[m] = y_dot[m] - carrier.c[m] * time_dot
    if has_computed == 0:
        return
    for m in range(c_dot.shape[0]):
        carrier.spare_c_dot[m] = c_dot[m]
    if time_dot != 0.0:
        rows = run.plan.derivatives
        walk_along(
            run, carrier, i, rows.first, rows.last, t, 0.0, carrier.spare_y_dot, carrier.spare_c_dot
        )
    for block in run.blocks_outside:
        walk_along(run, carrier, i, block, block + 1, t, 0.0, carrier.spare_y_dot, carrier.spare_c_dot)


def look_inside(run, carrier, i, t, has_computed):
    """The tangents at a time inside the last step, into the spare arrays."""
    method = method_of(run, carrier)
    if run.plan.method.complete != 0 and carrier.notes.is_complete == 0.0:
        complete_step(run, carrier, method)
    load_head(carrier, i)
    call_dense_tangent(
        carrier.plan.dense,
        (
            t, method.coefficients, carrier.work, carrier.spare_y, carrier.spare_y,
            0.0, part_of(carrier.work_dots, i, carrier.work), carrier.spare_y_dot, carrier.spare_y_dot,
        ),
    )  # fmt: skip
    store_head(carrier, i)
    if has_computed == 0:
        return
    c_dot = part_of(carrier.c_dots, i, carrier.c)
    for m in range(c_dot.shape[0]):
        carrier.spare_c[m] = carrier.c[m]
        carrier.spare_c_dot[m] = c_dot[m]
    for block in run.blocks_inside:
        walk_spare(run, carrier, i, block, block + 1, t, 0.0, carrier.spare_y_dot)


def complete_step(run, carrier, method):
    """Complete what dense output needs of the last step, with its tangents."""
    rows = run.plan.derivatives
    for i in range(1, carrier.directions):
        y_dot = part_of(carrier.y_dots, i, carrier.y)
        c_dot = part_of(carrier.c_dots, i, carrier.c)
        for m in range(y_dot.shape[0]):
            carrier.spare_y[m] = carrier.y[m]
            carrier.spare_y_dot[m] = y_dot[m]
        for m in range(c_dot.shape[0]):
            carrier.spare_c[m] = carrier.c[m]
            carrier.spare_c_dot[m] = c_dot[m]
        load_head(carrier, i)
        code = call_redo_tangent(
            carrier.plan.complete,
            (
                carrier.table, run.ints, rows.first, rows.last, carrier.notes.time,
                carrier.spare_y, carrier.p, carrier.d, carrier.k, run.h, carrier.spare_c,
                method.coefficients, method.settings_numbers, carrier.memory, carrier.work, method.slot_numbers,
                carrier.time_dots[i], carrier.spare_y_dot, part_of(carrier.p_dots, i, carrier.p),
                part_of(carrier.d_dots, i, carrier.d), part_of(carrier.h_dots, i, run.h), carrier.spare_c_dot,
                part_of(carrier.memory_dots, i, carrier.memory), part_of(carrier.work_dots, i, carrier.work),
            ),
        )  # fmt: skip
        if code != DONE:
            lose(carrier, carrier.notes.time, FAILED, 0)
        store_head(carrier, i)
    carrier.notes.is_complete = 1.0


# ---- events


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


# ---- the tape


def end_of_phase(run, at, used):
    """Where the events of a group of handlers end."""
    while at < used and log.logged_finding(run, at).kind > float(log.STEP_TAKEN):
        at += int(log.logged_finding(run, at).length)
    return at


def carry(run, carrier, used, is_last):
    """Read the tape, `used` numbers, as far as rows have room; the place of the first that was not read."""
    width = (carrier.directions - 1) * run.chosen.values
    at = int(carrier.notes.log_used)
    while at < used:
        record = log.logged_finding(run, at)
        kind = int(record.kind)
        following = at + int(record.length)
        if kind == log.PHASE_BEGUN:
            end = end_of_phase(run, following, used)
            if end == used and not is_last:
                break
            cause = int(rows_of(LoggedPhase, run.log, at, 1)[0].cause)
            if carrier.notes.lost == 0.0 and end > following:
                follow_phase(run, carrier, cause, following, end)
        elif kind == log.ROW_WRITTEN:
            if int(carrier.notes.rows_used) + width > carrier.rows.shape[0]:
                break
            write_rows(run, carrier, rows_of(LoggedRow, run.log, at, 1)[0])
        elif carrier.notes.lost != 0.0:
            pass
        elif kind == log.STEP_TAKEN:
            follow_step(run, carrier, at)
        elif kind == log.ASSEMBLED:
            follow_assembly(run, carrier, at + ASSEMBLY_WIDTH)
        elif kind == log.MEMORY_UPDATED:
            follow_memory(run, carrier, rows_of(LoggedMemory, run.log, at, 1)[0].side)
        elif kind in (log.CHATTERING, log.ZENO, log.HELD):
            lose(carrier, record.time, IS_ENDLESS, int(record.subject))
        at = following
    carrier.notes.log_used = float(at)
    return at


def keep_events(run, end):
    """Move the events and findings of a part of the tape to its beginning; how many numbers they are."""
    at = 0
    kept = 0
    while at < end:
        record = log.logged_finding(run, at)
        length = int(record.length)
        kind = int(record.kind)
        is_kept = kind > log.STEP_TAKEN
        if kind >= 0:
            is_kept = run.handlers[kind].is_private == 0
        if is_kept:
            for m in range(length):
                run.log[kept + m] = run.log[at + m]
            kept += length
        at += length
    return kept


CARRY_SIGNATURE = "iTIFFFFIFFFFFFFFFFFFFFFFFFFFFFFii>i"


def carry_by_address(
    head,
    table, numbers, notes_numbers, y, p, d, k, c, memory, start_memory, work, time_dots, y_dots, p_dots, d_dots,
    h_dots, c_dots, memory_dots, work_dots, heads, pace_before, spare_y, spare_y_dot, spare_c, spare_c_dot,
    wanted, kept, working, working_dots, rows,
    used, is_last,
):  # fmt: skip
    """`carry` of a run whose arrays stand at an address."""
    carrier = Carrier(
    table, numbers, notes_numbers, y, p, d, k, c, memory, start_memory, work, time_dots, y_dots, p_dots, d_dots,
        h_dots, c_dots, memory_dots, work_dots, heads, pace_before, spare_y, spare_y_dot, spare_c, spare_c_dot,
        wanted, kept, working, working_dots, rows,
    )  # fmt: skip
    return carry(arrays_at(head), carrier, used, is_last != 0)


KEEP_SIGNATURE = "ii>i"


def keep_by_address(head, end):
    """`keep_events` of a run whose arrays stand at an address."""
    return keep_events(arrays_at(head), end)
