"""The flow, which is the first direction: its tangents are the derivatives of the states by time.

Carried over steps it misses these derivatives by the errors of the method. It is made the flow of the present
states again where it misses them by too much, and before an event, where it says how fast a witness is. Where
steps show by themselves that nothing has jumped, it is evaluated only then; see `carrier.flow_goes_along`.
"""

from __future__ import annotations

from cosim.derivatives.carrier import part_of, walk_present_motion
from cosim.derivatives.lane_groups import end_of_group, group_of, take_lane
from cosim.derivatives.lane_walks import renew_in_lanes
from cosim.derivatives.tangent_lanes import refuse_lanes
from cosim.step.block_calls import copy_reals

BETWEEN_EVENTS = 1e-5
"""By this part of a derivative the flow may miss it between events."""
SLOW = 1e-3  # of the fastest state: what is slower misses nothing that counts


def take_flow(carrier):
    """Copy the tangents of the derivatives along the flow from its lane."""
    last = end_of_group(carrier, 0)
    if last > 1:
        flow = part_of(carrier.c_dots, 0, carrier.c)
        group = group_of(carrier, 0, last)
        take_lane(group.lanes.c, 0, flow[: carrier.y.shape[0]], group.width)


def load_flow(carrier):
    """Make the tangents of the states along the flow their derivatives."""
    flow = part_of(carrier.y_dots, 0, carrier.y)
    copy_reals(carrier.c[: flow.shape[0]], flow)


def renew_flow(run, carrier, allowed):
    """Make the first direction the flow of the present states again, if it misses more than is allowed."""
    if not misses_more(carrier, allowed):
        return
    load_flow(carrier)
    last = end_of_group(carrier, 0)
    if last > 1:
        if renew_in_lanes(run, carrier, 0, last):
            return
        refuse_lanes(carrier, 0, last)
        for i in range(1, last):
            walk_present_motion(run, carrier, i)
    walk_present_motion(run, carrier, 0)


def misses_more(carrier, allowed):
    """Whether the flow misses a derivative by more than this part of it; 0: whether it misses one at all."""
    flow = part_of(carrier.y_dots, 0, carrier.y)
    fastest = fastest_rate(carrier)
    for m in range(flow.shape[0]):
        if not abs(flow[m] - carrier.c[m]) <= allowed * max(abs(carrier.c[m]), SLOW * fastest):
            return True
    return False


def fastest_rate(carrier):
    """The largest derivative of a state."""
    fastest = 0.0
    for m in range(carrier.y.shape[0]):
        fastest = max(fastest, abs(carrier.c[m]))
    return fastest
