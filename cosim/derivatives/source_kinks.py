"""Kinks of sources along a run: a step ends at one, and the time of the kink moves with the tangents.

A kink is at a time of a component's own (`run.kinks`), at which derivatives may jump. Steps are followed up
to just before it, and begin just behind it: at the kink itself tangents are the mean of both sides.
"""

from __future__ import annotations

import math

from cosim.derivatives.carrier import (
    JUMPS_MEET,
    KINKS_ALIKE,
    KINKS_APART,
    NO_KINK,
    NOT_FRESH,
    copy_cache_aside,
    lose,
    moved_along,
    part_of,
    shift_time,
    walk_motion,
)
from cosim.derivatives.event_order import comes_close, is_same_shift, moves_apart, shift_noise, store_shift
from cosim.derivatives.flow_error import SAME_FLOW
from cosim.derivatives.lane_groups import cache_dot
from cosim.derivatives.tangent_lanes import leave_lanes
from cosim.step.block_calls import copy_reals

NO_DISTANCE = 1e-290  # a number that changes its sign at a kink is 0 there, or tiny to mark the side of the 0
BEHIND_KINK = 1e-9  # of a step: so far behind its start, derivatives are those behind a kink at the start
BEFORE_KINK = 1e-14  # of the time: so far before a kink, derivatives are those before it
KINK_REACHED = 1e-12  # of the time: a kink that is nearer to the end of a step is at the end


def store_kinks(run, carrier):
    """Store the times until which components are smooth, and how they move."""
    count = len(run.kinks)
    for j in range(count):
        carrier.kept[j] = carrier.c[run.kinks[j]]
        for i in range(carrier.directions):
            carrier.kept[(i + 1) * count + j] = cache_dot(carrier, i, run.kinks[j])


def reaches_kink(step, kink):
    """Whether a step ends at a kink."""
    return step.start < kink and abs(kink - step.time) <= KINK_REACHED * max(1.0, abs(step.time))


def end_before_kink(run, carrier, step):
    """The end of a step, or just before it where a source has a kink, at which tangents are a mean."""
    end = step.time
    for j in range(len(run.kinks)):
        kink = carrier.kept[j]
        if carrier.break_orders[j] < 0 and reaches_kink(step, kink):
            end = min(end, kink - BEFORE_KINK * max(1.0, abs(kink)))
    return end


def is_at_kink(carrier, method):
    """Whether the start of a step is at a kink."""
    at_kink = False
    for slot in method.kink_slots:
        at_kink = at_kink or abs(carrier.c[slot]) <= NO_DISTANCE
    return at_kink


def leave_kink(run, carrier, i, method, step):
    """Replace the tangents of the derivatives at a kink, a mean of both sides, by those just behind it."""
    t = move_behind_kink(carrier, i, method, step)
    walk_motion(
        run, carrier, i, t, carrier.time_dots[i],
        carrier.spare_y, part_of(carrier.y_dots, i, carrier.y), carrier.spare_c, carrier.spare_c_dot,
    )  # fmt: skip
    load_slope_behind_kink(run, carrier, i)


def move_behind_kink(carrier, i, method, step):
    """Set the spare states to those just behind a kink at the start of a step; returns the time there."""
    ahead = BEHIND_KINK * (step.time - step.start)
    start = method.start
    slope = method.slope
    for m in range(method.n):
        carrier.spare_y[m] = start[m] + ahead * slope[m]
    copy_cache_aside(carrier, i)
    return step.start + ahead


def load_slope_behind_kink(run, carrier, i):
    """Begin a step with the tangents of the derivatives that were evaluated behind the kink."""
    slope_dot = moved_along(run, carrier, i).slope
    for m in range(slope_dot.shape[0]):
        slope_dot[m] = carrier.spare_c_dot[m]


def pass_kinks(run, carrier, step):
    """Where a step ends at a kink of a component, let its end move as the kink does.

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
            shift = carrier.kept[(i + 1) * count + j]
            if not is_same_shift(shift, carrier.event_dots[i], shift_noise(carrier, i, 0.0)):
                notes.passed_kinks = KINKS_APART
    if notes.passed_kinks != NO_KINK:
        leave_lanes(carrier)
        if comes_close(run, carrier, step.time) and moves_apart(carrier, carrier.event_dots, 0.0):
            notes.passed_kinks = KINKS_APART
        shift_time(run, carrier, carrier.event_dots)
        notes.freshness = NOT_FRESH  # the cache belongs to the side before the kink


def is_smooth_break(carrier, j):
    """Whether a kink at the present time is a delayed break at which derivatives do not jump."""
    order = carrier.break_orders[j]
    return order >= 0 and 0.0 < carrier.c[order] < math.inf


def settle_kinks(run, carrier):
    """Find out whether derivatives jump at the kinks that were passed.

    If they do, the time is shifted as the kinks are, and no event of that instant may shift it again.
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
            if notes.is_shifted == 0.0:
                store_shift(carrier, 0, 0.0)
            notes.is_shifted = 1.0
    notes.passed_kinks = NO_KINK
