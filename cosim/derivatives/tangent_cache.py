"""The present cache and its tangents."""

from __future__ import annotations

from cosim.derivatives.carrier import (
    IS_MOTION,
    IS_REPORT,
    NOT_FRESH,
    flow_goes_along,
    walk_present,
    walk_present_motion,
)
from cosim.derivatives.flow import BETWEEN_EVENTS, load_flow, renew_flow
from cosim.derivatives.lane_groups import end_of_group
from cosim.derivatives.lane_walks import realize_in_lanes
from cosim.derivatives.tangent_lanes import enter_lanes, leave_lanes, refuse_lanes


def realize_tangents(run, carrier, stage):
    """Evaluate the present cache and its tangents up to a stage: IS_MOTION or IS_REPORT.

    The flow becomes exactly that of the present states, unless it is seen how far it goes astray.
    """
    evaluate_motion(run, carrier, 0.0)
    leave_lanes(carrier)
    if not flow_goes_along(carrier):
        realize_flow(run, carrier)
    elif carrier.notes.missed == 0.0:
        renew_flow(run, carrier, 0.0)
    if stage == IS_REPORT and carrier.notes.freshness < stage:
        for i in range(carrier.directions):
            walk_present(run, carrier, i, run.plan.derivatives.last, run.plan.report_end)
        carrier.notes.freshness = stage


def realize_motion(run, carrier):
    """The same up to the motion, as exactly as is needed between events; its tangents may lie in lanes."""
    evaluate_motion(run, carrier, BETWEEN_EVENTS)


def evaluate_motion(run, carrier, allowed):
    """Evaluate the motion unless it is fresh; the flow may then miss this part of a derivative."""
    if carrier.notes.freshness != NOT_FRESH:
        return
    enter_lanes(carrier)
    first = 0
    while first < carrier.directions:
        first = realize_next(run, carrier, first)
    if flow_goes_along(carrier):
        if end_of_group(carrier, 0) == 1:
            if allowed == 0.0:
                load_flow(carrier)
            walk_present_motion(run, carrier, 0)
        renew_flow(run, carrier, allowed)
    carrier.notes.freshness = IS_MOTION
    carrier.notes.has_flow = 0.0


def realize_flow(run, carrier):
    """Evaluate the motion along the flow of the present states, which has not gone along."""
    if carrier.notes.has_flow == 0.0:
        load_flow(carrier)
        walk_present_motion(run, carrier, 0)
        carrier.notes.has_flow = 1.0


def realize_next(run, carrier, first):
    """Evaluate the present cache and its tangents along a direction, or a group; the direction behind."""
    last = end_of_group(carrier, first)
    if last > first + 1:
        if realize_in_lanes(run, carrier, first, last):
            return last
        refuse_lanes(carrier, first, last)
    if first > 0:  # the flow follows from the others
        walk_present(run, carrier, first, run.plan.first_row, run.plan.derivatives.first)
        walk_present_motion(run, carrier, first)
    return first + 1
