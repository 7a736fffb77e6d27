"""What the first direction, the flow, shows of the other tangents: jumps inside steps, and errors.

The tangent of the flow at the start of a step is the derivative of the states by time. Carried over the step
it has to be that derivative again. Where it is not, the derivative has jumped inside the step, or rounding
has grown in the tangents, and in the other directions as well.

Where the derivatives of the stages themselves show whether there may be a jump, the flow goes along those
steps alone.
"""

from __future__ import annotations

from cosim.derivatives.carrier import (
    IS_MOTION,
    JUMPS,
    lose,
    method_of,
    part_of,
    walk_motion,
)
from cosim.derivatives.flow import SLOW, fastest_rate, renew_flow
from cosim.derivatives.tangent_cache import realize_motion
from cosim.derivatives.tangent_error import first_of_estimate

SAME_FLOW = 1e-6
"""By so much of its size a derivative and the tangent of the flow may differ and count as equal."""
SUSPECT = 0.1
"""Times the step and its derivatives: a tangent of the flow that is off by more may have met a jump."""
ASTRAY = 1e-3
"""By this part of itself and its change in a step the tangent of the flow misses no smooth derivative."""
SHOWN = 0.05
"""Times the change of a derivative in a step, and what counts as equal: a smaller sum shows no jump."""
SETTLED = 2.0  # times closer at each step: else it comes no closer
HALVINGS = 25  # of a step, to see whether it has


def refuse_jumps(run, carrier, step):
    """Give the tangents up where the derivative of a state has jumped inside a step without an event.

    The tangent of the flow has then missed the derivative at the end by the jump. It misses it a little in
    any case, by the error of the method: what is small beside the change of the derivative is not suspect.
    What the flow missed at the start of the step does not count.
    """
    flow = part_of(carrier.y_dots, 0, carrier.y)
    second_derivatives = part_of(carrier.c_dots, 0, carrier.c)
    length = step.time - step.start
    for m in range(carrier.y.shape[0]):
        missed = abs(flow[m] - carrier.c[m] - carrier.flow_errors[m])
        expected = SUSPECT * length * (carrier.pace_before[m] + abs(second_derivatives[m]))
        is_suspect = missed > expected + SAME_FLOW * max(1.0, abs(carrier.c[m]))
        if is_suspect and jumps_inside(run, carrier, step, m, SUSPECT * missed):
            lose(carrier, step.start, JUMPS, m)


def shows_jump(carrier):
    """Whether the derivative of a state may have jumped between two stages of the last step.

    A weighted sum of the derivatives of the stages is at least as large as such a jump; where derivatives are
    smooth, it is far smaller than their change in the step.
    """
    weights = carrier.jump_weights
    n = carrier.y.shape[0]
    vectors = carrier.work[first_of_estimate(carrier) :]
    for m in range(n):
        first = vectors[m]
        total = 0.0
        change = 0.0
        for j in range(weights.shape[0]):
            slope = vectors[j * n + m]
            total += weights[j] * slope
            change = max(change, abs(slope - first))
        if not abs(total) <= SHOWN * (change + SAME_FLOW * max(1.0, abs(first))):
            return True
    return False


def store_flow_at_start(carrier):
    """Store how fast derivatives change at the start of a step, and by how much the flow misses them."""
    flow = part_of(carrier.y_dots, 0, carrier.y)
    second_derivatives = part_of(carrier.c_dots, 0, carrier.c)
    for m in range(carrier.y.shape[0]):
        carrier.pace_before[m] = abs(second_derivatives[m])
        carrier.flow_errors[m] = flow[m] - carrier.c[m]


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


def part_missed(carrier, step):
    """The largest part of itself and of its change by which the flow misses the derivative of a state."""
    flow = part_of(carrier.y_dots, 0, carrier.y)
    second_derivatives = part_of(carrier.c_dots, 0, carrier.c)
    fastest = fastest_rate(carrier)
    length = step.time - step.start
    largest = 0.0
    for m in range(carrier.y.shape[0]):
        change = length * (carrier.pace_before[m] + abs(second_derivatives[m]))
        size = max(abs(carrier.c[m]) + change, SLOW * fastest)
        if size > 0.0:
            largest = max(largest, abs(flow[m] - carrier.c[m]) / size)
    return largest


def renew_missed_flow(run, carrier):
    """Make the first direction the flow again before an event: how fast a witness is follows from it."""
    notes = carrier.notes
    if notes.missed > 0.0:
        realize_motion(run, carrier)
        renew_flow(run, carrier, 0.0)
        notes.freshness = IS_MOTION
        notes.error += notes.missed
        notes.missed = 0.0
