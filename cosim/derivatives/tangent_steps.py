"""Carrying tangents over a step of a run: the tangent of the run's method takes the step once more."""

from __future__ import annotations

from cosim.contracts.constraints import has_corrections
from cosim.contracts.method_layout import DONE
from cosim.derivatives.carrier import (
    CHANGES_ORDER,
    FAILED,
    IS_HELD,
    IS_MOTION,
    NO_KINK,
    NOT_FRESH,
    WAS_CHANGED,
    call_followed,
    flow_goes_along,
    lose,
    method_of,
    moved_along,
    own_part,
    part_of,
    past_of,
    store_head,
    walk_motion,
    walk_present,
    walk_present_motion,
)
from cosim.derivatives.flow import BETWEEN_EVENTS, renew_flow, take_flow
from cosim.derivatives.flow_error import (
    measure_error,
    refuse_jumps,
    shows_jump,
    store_flow_at_start,
)
from cosim.derivatives.lane_groups import end_of_group
from cosim.derivatives.lane_walks import step_in_lanes
from cosim.derivatives.source_kinks import (
    end_before_kink,
    is_at_kink,
    leave_kink,
    pass_kinks,
    settle_kinks,
    store_kinks,
)
from cosim.derivatives.tangent_cache import realize_motion, realize_tangents
from cosim.derivatives.tangent_error import add_error_of_step
from cosim.derivatives.tangent_holds import follow_holds
from cosim.derivatives.tangent_lanes import enter_lanes, leave_lanes, refuse_lanes
from cosim.derivatives.tangent_memory import remember_inside_along
from cosim.derivatives.tangent_rows import complete_tangent_step, save_swapped_along
from cosim.stage import Stage
from cosim.step.block_calls import copy_reals
from cosim.step.tape import assembled_states, logged_step, step_numbers
from cosim_compiler.calls import never_inlined

ON_REPORT = int(Stage.REPORT)
ROUNDED = 1e-9
"""By this part of its size, or by the accuracy, a state may differ from that of the run.

So may a variable that a handler has computed from states. The reason is that iterations of implicit methods
end sooner in the run.
"""


def follow_step(run, carrier, at):
    """Move values and tangents on to the end of a step of the run.

    The first direction is the flow: its tangent at the start is the derivative of the states by time, so at
    the end it is that derivative again, unless the derivative jumps inside the step (`refuse_jumps`). Where
    it does not go along, it follows only steps that may have such a jump.
    """
    notes = carrier.notes
    step = logged_step(run, at)
    load_start(run, carrier, step, step_numbers(run, at))
    if step.is_held != 0.0:
        leave_lanes(carrier)
        if notes.went_apart != 0.0:  # between both events the motion was another one than the held motion
            lose(carrier, notes.time, CHANGES_ORDER, int(notes.went_apart) - 1)
    notes.went_apart = 0.0
    follow_holds(run, carrier, step, at)
    if notes.lost != 0.0:
        return
    save_swapped_along(run, carrier)
    realize_motion(run, carrier)
    leaves_kink = notes.passed_kinks != NO_KINK or is_at_kink(carrier, method_of(run, carrier))
    settle_kinks(run, carrier)
    store_kinks(run, carrier)
    has_flow = flow_goes_along(carrier)
    if has_flow:
        begin_flow(run, carrier)
    n = carrier.y.shape[0]
    if n > 0:
        repeat_step(run, carrier, step)
        take_flow(carrier)
        if carrier.plan.stays_in_lanes == 0:
            leave_lanes(carrier)
        notes.freshness = IS_MOTION
        notes.has_flow = 0.0
    else:
        notes.freshness = NOT_FRESH
    if not has_flow and shows_jump(carrier):
        repeat_along_flow(run, carrier, step)
        has_flow = True
    notes.time = step.time
    notes.is_shifted = 0.0
    if has_flow:
        refuse_jumps(run, carrier, step)
    is_smooth = step.is_held == 0.0 and not leaves_kink and end_before_kink(run, carrier, step) == step.time
    if is_smooth and notes.lost == 0.0:
        if flow_goes_along(carrier):
            measure_error(carrier, step)
        add_error_of_step(run, carrier, step)
    if run.plan.remembers != 0 and n > 0:
        complete_tangent_step(run, carrier)
        remember_inside_along(run, carrier, step.start, step.time)
    pass_kinks(run, carrier, step)


def begin_flow(run, carrier):
    """Make the first direction the flow at the start of a step, and store how fast it changes there."""
    if carrier.notes.missed == 0.0:
        renew_flow(run, carrier, BETWEEN_EVENTS)
    take_flow(carrier)
    store_flow_at_start(carrier)


@never_inlined
def repeat_along_flow(run, carrier, step):
    """Take the last step once more along the flow alone, which has not gone along."""
    method = method_of(run, carrier)
    flow = part_of(carrier.y_dots, 0, carrier.y)
    copy_reals(method.start, carrier.y)
    copy_reals(method.slope, flow)
    walk_motion(
        run, carrier, 0, step.start, carrier.time_dots[0],
        carrier.y, flow, carrier.c, part_of(carrier.c_dots, 0, carrier.c),
    )  # fmt: skip
    store_flow_at_start(carrier)
    at_kink = is_at_kink(carrier, method)
    end = end_before_kink(run, carrier, step)
    load_direction(run, carrier, 0, method, step, end)
    repeat_along(run, carrier, 0, method, step, end, at_kink)


def load_start(run, carrier, step, start):
    """Make the states and variables those with which a step has begun."""
    notes = carrier.notes
    n = carrier.y.shape[0]
    rounded = max(ROUNDED, run.options.accuracy)
    for m in range(n):
        begin = start.y[m]
        if begin != carrier.y[m]:
            if not abs(begin - carrier.y[m]) <= rounded * max(1.0, abs(begin)):
                is_stopped = step.is_held != 0.0  # `realize.stop_held` is not followed
                lose(carrier, step.start, IS_HELD if is_stopped else WAS_CHANGED, m)
            carrier.y[m] = begin
            notes.freshness = NOT_FRESH
    copy_reals(start.memory, carrier.start_memory)
    for m in range(carrier.d.shape[0]):
        begin = start.d[m]
        if begin != carrier.d[m] and (begin == begin or carrier.d[m] == carrier.d[m]):
            is_near = abs(begin - carrier.d[m]) <= rounded * max(1.0, abs(begin))
            # nothing that moves depends on variables of reports
            if run.stages_of_d[m] < ON_REPORT and not is_near:
                lose(carrier, step.start, WAS_CHANGED, n + m)
            carrier.d[m] = begin
            notes.freshness = NOT_FRESH
    for i in range(past_of(carrier, 0), carrier.directions):
        k = own_part(carrier, carrier.k, i)
        for m in carrier.integers:
            if int(start.k[m]) != k[m]:
                k[m] = int(start.k[m])
                notes.freshness = NOT_FRESH
    if notes.time != step.start:
        notes.time = step.start
        notes.freshness = NOT_FRESH


def follow_assembly(run, carrier, at):
    """Take the assembled states from the tape, and make the tangents fulfil the constraints as well."""
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


@never_inlined
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
    first = 0 if flow_goes_along(carrier) else 1
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
    """Evaluate the cache at the start of a step again along directions whose lanes disagreed in the step."""
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
    """Give the method the present states and derivatives as the start of the step."""
    method.work.dense_ready = 0.0
    start = method.start
    slope = method.slope
    for m in range(method.n):
        start[m] = carrier.y[m]
        slope[m] = carrier.c[m]


def load_direction(run, carrier, i, method, step, end):
    """Give the method the start of a step again, with the tangents along a direction."""
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
