"""Carrying tangents over a step of a run: its own method takes it once more, by its tangent."""

from __future__ import annotations

import math

from cosim.contracts.constraints import has_corrections
from cosim.contracts.method_layout import DONE
from cosim.derivatives.carrier import (
    FAILED,
    IS_MOTION,
    JUMPS,
    JUMPS_MEET,
    KINKS_ALIKE,
    KINKS_APART,
    NO_KINK,
    NOT_FRESH,
    WAS_CHANGED,
    call_followed,
    copy_cache_aside,
    is_same_shift,
    lose,
    method_of,
    moved_along,
    own_part,
    part_of,
    shift_time,
    store_head,
    walk_motion,
    walk_present,
    walk_present_motion,
)
from cosim.derivatives.tangent_cache import realize_motion, realize_tangents
from cosim.derivatives.tangent_holds import follow_holds
from cosim.derivatives.tangent_lanes import (
    cache_dot,
    end_of_group,
    enter_lanes,
    leave_lanes,
    refuse_lanes,
    renew_in_lanes,
    step_in_lanes,
    take_flow,
)
from cosim.derivatives.tangent_memory import remember_inside_along
from cosim.derivatives.tangent_rows import complete_tangent_step, save_swapped_along
from cosim.stage import Stage
from cosim.step.saved_variables import copy_reals
from cosim.step.tape import assembled_states, logged_step, step_numbers

ON_REPORT = int(Stage.REPORT)
SAME_FLOW = 1e-6
"""By so much of its size a derivative and the tangent of the flow may differ and count as equal."""
SUSPECT = 0.1
"""Times the step and its derivatives: a tangent of the flow that is off by more may have met a jump."""
ASTRAY = 1e-3
"""By this part of itself and its change in a step the tangent of the flow misses no smooth derivative."""
SETTLED = 2.0  # times closer at each step: else it comes no closer
SLOW = 1e-3  # of the fastest state: what is slower misses nothing that counts
HALVINGS = 25  # of a step, to see whether it has
ROUNDED = 1e-9
"""By so much of its size, or by the accuracy, a state may differ from what steps and handlers have left.

So may a variable that a handler has made of states: iterations of implicit methods end sooner in the run.
"""
NO_DISTANCE = 1e-290  # of a number that changes its sign at a kink: it is 0, or marks the side that 0 is on
BEHIND_KINK = 1e-9  # of a step: so far ahead the derivatives are those behind a kink at its start
BEFORE_KINK = 1e-14  # of the time: so far before it derivatives are those before a kink
KINK_REACHED = 1e-12  # of the time: a source that jumps so near to the end of a step jumps there


def follow_step(run, carrier, at):
    """Move values and tangents on to the end of a step of the run.

    The first direction is the flow: its tangent at the start is the derivative of the states by time, so at
    the end it is that derivative again, unless the derivative jumps inside the step (`refuse_jumps`).
    """
    notes = carrier.notes
    step = logged_step(run, at)
    load_start(run, carrier, step, step_numbers(run, at))
    if step.is_held != 0.0:
        leave_lanes(carrier)
    follow_holds(run, carrier, step, at)
    if notes.lost != 0.0:
        return
    save_swapped_along(run, carrier)
    realize_motion(run, carrier)
    leaves_kink = notes.passed_kinks != NO_KINK or is_at_kink(carrier, method_of(run, carrier))
    settle_kinks(run, carrier)
    store_kinks(run, carrier)
    if notes.missed == 0.0:
        renew_flow(run, carrier)
    take_flow(carrier)
    n = carrier.y.shape[0]
    second_derivatives = part_of(carrier.c_dots, 0, carrier.c)
    for m in range(n):
        carrier.pace_before[m] = abs(second_derivatives[m])
    if n > 0:
        repeat_step(run, carrier, step)
        take_flow(carrier)
        if carrier.plan.stays_in_lanes == 0:
            leave_lanes(carrier)
        notes.freshness = IS_MOTION
    else:
        notes.freshness = NOT_FRESH
    notes.time = step.time
    notes.is_shifted = 0.0
    refuse_jumps(run, carrier, step)
    is_smooth = step.is_held == 0.0 and not leaves_kink and end_before_kink(run, carrier, step) == step.time
    if is_smooth and notes.lost == 0.0:
        measure_error(carrier, step)
    if run.plan.remembers != 0 and n > 0:
        complete_tangent_step(run, carrier)
        remember_inside_along(run, carrier, step.start, step.time)
    pass_kinks(run, carrier, step)


def refuse_jumps(run, carrier, step):
    """Give the tangents up where the derivative of a state has jumped inside a step without an event.

    The tangent of the flow has then missed the derivative at the end by the jump. It misses it a little in
    any case, by the error of the method: what is small beside the change of the derivative is not suspect.
    """
    flow = part_of(carrier.y_dots, 0, carrier.y)
    second_derivatives = part_of(carrier.c_dots, 0, carrier.c)
    length = step.time - step.start
    for m in range(carrier.y.shape[0]):
        missed = abs(flow[m] - carrier.c[m])
        expected = SUSPECT * length * (carrier.pace_before[m] + abs(second_derivatives[m]))
        is_suspect = missed > expected + SAME_FLOW * max(1.0, abs(carrier.c[m]))
        if is_suspect and jumps_inside(run, carrier, step, m, SUSPECT * missed):
            lose(carrier, step.start, JUMPS, m)


def measure_error(carrier, step):
    """Note by how much the tangents of this step may be off, if the tangent of the flow has gone astray.

    That tangent has to be the derivative at the end of the step. Near a singular position of constraints it
    misses the derivative by far: rounding is divided there by the cube of the distance. Behind the position
    the constraints take out most of that. So the flow is not renewed until it comes no closer to the
    derivative: what it misses then is what stays in the other tangents, too.
    """
    notes = carrier.notes
    missed = part_missed(carrier, step)
    if missed > ASTRAY:
        if notes.error_time == 0.0 and notes.error == 0.0:
            notes.error_time = step.start
        notes.missed = missed
    elif notes.missed > SETTLED * missed:
        notes.missed = missed
    elif notes.missed > 0.0:
        notes.error += missed
        notes.missed = 0.0


def renew_missed_flow(run, carrier):
    """Make the first direction the flow again before an event: how fast a witness is follows from it."""
    notes = carrier.notes
    if notes.missed > 0.0:
        realize_tangents(run, carrier, IS_MOTION)
        renew_flow(run, carrier)
        notes.freshness = IS_MOTION
        notes.error += notes.missed
        notes.missed = 0.0


def part_missed(carrier, step):
    """The largest part of itself and of its change by which the flow misses the derivative of a state."""
    flow = part_of(carrier.y_dots, 0, carrier.y)
    second_derivatives = part_of(carrier.c_dots, 0, carrier.c)
    n = carrier.y.shape[0]
    fastest = 0.0
    for m in range(n):
        fastest = max(fastest, abs(carrier.c[m]))
    length = step.time - step.start
    largest = 0.0
    for m in range(n):
        change = length * (carrier.pace_before[m] + abs(second_derivatives[m]))
        size = max(abs(carrier.c[m]) + change, SLOW * fastest)
        if size > 0.0:
            largest = max(largest, abs(flow[m] - carrier.c[m]) / size)
    return largest


def jumps_inside(run, carrier, step, m, least):
    """Whether the derivative of a state jumps by at least so much on the line between both ends of a step.

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
    t = (1.0 - share) * step.start + share * step.time
    walk_motion(
        run, carrier, 0, t, 0.0,
        carrier.spare_y, carrier.spare_y_dot, carrier.spare_c, carrier.spare_c_dot,
    )  # fmt: skip
    return carrier.spare_c[m]


def renew_flow(run, carrier):
    """Make the first direction the flow of the present states again."""
    flow = part_of(carrier.y_dots, 0, carrier.y)
    differs = False
    for m in range(flow.shape[0]):
        differs = differs or flow[m] != carrier.c[m]
        flow[m] = carrier.c[m]
    if not differs:
        return
    last = end_of_group(carrier, 0)
    if last > 1:
        if renew_in_lanes(run, carrier, 0, last):
            return
        refuse_lanes(carrier, 0, last)
        for i in range(1, last):
            walk_present_motion(run, carrier, i)
    walk_present_motion(run, carrier, 0)


def load_start(run, carrier, step, start):
    """Make the states and variables those with which a step has begun."""
    notes = carrier.notes
    n = carrier.y.shape[0]
    rounded = max(ROUNDED, run.options.accuracy)
    for m in range(n):
        begin = start.y[m]
        if begin != carrier.y[m]:
            if not abs(begin - carrier.y[m]) <= rounded * max(1.0, abs(begin)):
                lose(carrier, step.start, WAS_CHANGED, m)
            carrier.y[m] = begin
            notes.freshness = NOT_FRESH
    copy_reals(start.memory, carrier.start_memory)
    for m in range(carrier.d.shape[0]):
        begin = start.d[m]
        if begin != carrier.d[m] and (begin == begin or carrier.d[m] == carrier.d[m]):
            is_near = abs(begin - carrier.d[m]) <= rounded * max(1.0, abs(begin))
            if run.stages_of_d[m] < ON_REPORT and not is_near:  # else nothing that moves depends on it
                lose(carrier, step.start, WAS_CHANGED, n + m)
            carrier.d[m] = begin
            notes.freshness = NOT_FRESH
    for i in range(carrier.directions):
        k = own_part(carrier, carrier.k, i)
        for m in carrier.integers:
            if int(start.k[m]) != k[m]:
                k[m] = int(start.k[m])
                notes.freshness = NOT_FRESH
    if notes.time != step.start:
        notes.time = step.start
        notes.freshness = NOT_FRESH


def follow_assembly(run, carrier, at):
    """Take the states from the tape as they were when they met their constraints; make the tangents do so."""
    notes = carrier.notes
    y = carrier.y
    assembled = assembled_states(run, at)
    copy_reals(assembled, y)
    notes.freshness = NOT_FRESH
    if not has_corrections(method_of(run, carrier).corrections):
        return
    realize_tangents(run, carrier, IS_MOTION)
    for i in range(1, carrier.directions):
        y_dot = part_of(carrier.y_dots, i, y)
        c_dot = part_of(carrier.c_dots, i, carrier.c)
        code = call_followed(run, carrier, i, carrier.plan.settle, notes.time, y, y_dot, carrier.c, c_dot)
        if code != DONE:
            lose(carrier, notes.time, FAILED, 0)
        copy_reals(assembled, y)
    notes.freshness = NOT_FRESH


def repeat_step(run, carrier, step):
    """Take a step once more along each direction."""
    method = method_of(run, carrier)
    carrier.notes.is_complete = 0.0
    store_start(carrier, method)
    at_kink = is_at_kink(carrier, method)
    end = end_before_kink(run, carrier, step)
    if at_kink:
        leave_lanes(carrier)
    else:
        enter_lanes(carrier)
    first = 0
    while first < carrier.directions:
        last = end_of_group(carrier, first)
        load_direction(run, carrier, first, method, step, end)
        if last == first + 1:
            repeat_along(run, carrier, first, method, step, end, at_kink)
            first = last
        elif step_in_lanes(run, carrier, first, last, end):
            first = last
        else:
            refuse_lanes(carrier, first, last)
            realize_start(run, carrier, method, first, last)


def realize_start(run, carrier, method, first, last):
    """Evaluate the cache at the start of a step again along directions whose lanes have disagreed in it."""
    copy_reals(method.start, carrier.y)
    for i in range(first, last):
        if i > 0:
            walk_present(run, carrier, i, run.plan.first_row, run.plan.derivatives.first)
        walk_present_motion(run, carrier, i)


def repeat_along(run, carrier, i, method, step, end, at_kink):
    """Take a step once more along one direction."""
    y_dot = part_of(carrier.y_dots, i, carrier.y)
    c_dot = part_of(carrier.c_dots, i, carrier.c)
    if at_kink:
        leave_kink(run, carrier, i, method, step)
    code = call_followed(run, carrier, i, carrier.plan.step, end, carrier.y, y_dot, carrier.c, c_dot)
    if code != DONE:
        lose(carrier, step.start, FAILED, 0)
    store_head(carrier, i)


def store_start(carrier, method):
    """Make the present states and derivatives those with which a step is taken once more."""
    method.work.dense_ready = 0.0
    start = method.start
    slope = method.slope
    for m in range(method.n):
        start[m] = carrier.y[m]
        slope[m] = carrier.c[m]


def load_direction(run, carrier, i, method, step, end):
    """Restore what a step begins with, and its tangents along a direction."""
    method.work.start = step.start
    method.work.end = end
    copy_reals(carrier.start_memory, carrier.memory)
    moved = moved_along(run, carrier, i)
    moved.work.start = carrier.time_dots[i]
    moved.work.end = carrier.time_dots[i]
    y_dot = part_of(carrier.y_dots, i, carrier.y)
    c_dot = part_of(carrier.c_dots, i, carrier.c)
    start_dot = moved.start
    slope_dot = moved.slope
    for m in range(method.n):
        start_dot[m] = y_dot[m]
        slope_dot[m] = c_dot[m]


def end_before_kink(run, carrier, step):
    """The end of a step; just before a kink of a source there: at it tangents are the mean of both sides."""
    end = step.time
    for j in range(len(run.kinks)):
        kink = carrier.kept[j]
        if carrier.break_orders[j] < 0 and reaches_kink(step, kink):
            end = min(end, kink - BEFORE_KINK * max(1.0, abs(kink)))
    return end


def reaches_kink(step, kink):
    """Whether a step ends at a kink."""
    return step.start < kink and abs(kink - step.time) <= KINK_REACHED * max(1.0, abs(step.time))


def is_at_kink(carrier, method):
    """Whether the start of a step is at a kink."""
    found = False
    for slot in method.kink_slots:
        found = found or abs(carrier.c[slot]) <= NO_DISTANCE
    return found


def leave_kink(run, carrier, i, method, step):
    """Make the tangents of the derivatives at a kink those just behind it, and not the mean of both sides."""
    t = move_behind_kink(carrier, i, method, step)
    walk_motion(
        run, carrier, i, t, carrier.time_dots[i],
        carrier.spare_y, part_of(carrier.y_dots, i, carrier.y), carrier.spare_c, carrier.spare_c_dot,
    )  # fmt: skip
    load_slope_behind_kink(run, carrier, i)


def move_behind_kink(carrier, i, method, step):
    """Make the spare states those just behind a kink at the start of a step; the time there."""
    ahead = BEHIND_KINK * (step.time - step.start)
    start = method.start
    slope = method.slope
    for m in range(method.n):
        carrier.spare_y[m] = start[m] + ahead * slope[m]
    copy_cache_aside(carrier, i)
    return step.start + ahead


def load_slope_behind_kink(run, carrier, i):
    """Begin a step with the tangents of the derivatives that were evaluated there."""
    slope_dot = moved_along(run, carrier, i).slope
    for m in range(slope_dot.shape[0]):
        slope_dot[m] = carrier.spare_c_dot[m]


def store_kinks(run, carrier):
    """Store the times until which components are smooth, and how they move."""
    count = len(run.kinks)
    for j in range(count):
        carrier.kept[j] = carrier.c[run.kinks[j]]
        for i in range(carrier.directions):
            carrier.kept[(i + 1) * count + j] = cache_dot(carrier, i, run.kinks[j])


def pass_kinks(run, carrier, step):
    """At the end of a step that reaches a kink of a component, make the time move as that kink does.

    The kink is at a time of the component's own, which may depend on what the derivatives are taken by.
    """
    notes = carrier.notes
    count = len(run.kinks)
    notes.passed_kinks = NO_KINK
    for j in range(count):
        at = carrier.kept[j]
        if not reaches_kink(step, at):
            continue
        if is_smooth_break(carrier, j):
            continue
        if notes.passed_kinks == NO_KINK:
            notes.passed_kinks = KINKS_ALIKE
            for m in range(carrier.y.shape[0]):
                carrier.slopes_before[m] = carrier.c[m]
            for i in range(1, carrier.directions):
                carrier.event_dots[i] = carrier.kept[(i + 1) * count + j]
            continue
        for i in range(1, carrier.directions):
            if not is_same_shift(carrier.kept[(i + 1) * count + j], carrier.event_dots[i]):
                notes.passed_kinks = KINKS_APART
    if notes.passed_kinks != NO_KINK:
        leave_lanes(carrier)
        shift_time(run, carrier, carrier.event_dots)
        notes.freshness = NOT_FRESH  # its side before the kink


def is_smooth_break(carrier, j):
    """Whether a kink at the present time is a delayed break at which derivatives do not jump."""
    order = carrier.break_orders[j]
    return order >= 0 and 0.0 < carrier.c[order] < math.inf


def settle_kinks(run, carrier):
    """Find out whether derivatives jump at the kinks that were passed; then the time has its shift.

    No event of that instant may shift it once more.
    """
    notes = carrier.notes
    if notes.passed_kinks == NO_KINK:
        return
    copy_reals(carrier.y, carrier.spare_y)
    copy_reals(carrier.c, carrier.spare_c)
    t = notes.time + BEHIND_KINK * max(1.0, abs(notes.time))
    walk_motion(
        run, carrier, 0, t, 0.0,
        carrier.spare_y, carrier.spare_y_dot, carrier.spare_c, carrier.spare_c_dot,
    )  # fmt: skip
    for m in range(carrier.y.shape[0]):
        jump = abs(carrier.spare_c[m] - carrier.slopes_before[m])
        if jump > SAME_FLOW * max(1.0, abs(carrier.spare_c[m])):
            if notes.passed_kinks == KINKS_APART:
                lose(carrier, notes.time, JUMPS_MEET, m)
            notes.is_shifted = 1.0
    notes.passed_kinks = NO_KINK
