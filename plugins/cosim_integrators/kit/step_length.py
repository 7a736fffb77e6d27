"""The length of a step: limits, targets, and the controller; for every method with an error estimate."""

from __future__ import annotations

import math

from cosim.kit import BY_KINK, BY_LIMIT, BY_MAXIMUM, BY_METHOD, BY_TARGET

SAFETY = 0.9  # of the step that would just meet the tolerance
CAUTION = 0.7  # the same, if the error is that of a step that was cut short
LARGEST_GROWTH = 5.0
LEAST_GROWTH = 1.1  # less growth is not worth a change
LARGEST_SHRINK = 0.1
STRETCH = 1.001  # a step that nearly reaches its target is stretched to it, instead of leaving a sliver
STRETCH_FIXED = 1.01  # the same for fixed steps
NEARLY_IDEAL = (
    0.95  # the error of a step shorter than that, of the ideal one, says nothing about the next step
)
SMALLEST_RELATIVE_STEP = 1e-14  # of the time: about 45 times the spacing of numbers
NEARLY_SMALLEST = 1.1  # a step as short as time can resolve may be rounded to that many times its length
MOST_OF_JUMP = 1e3  # absolute tolerances of a state of size 1: these are the relative tolerance
JUMPED = 2.0  # stored as the error of a step across a jump; errors of other steps are at most 1


def smallest_step(t, t_stop, smallest):
    """The shortest step that error control may choose: the given one, or the shortest that time can resolve.

    Near the time 0, which resolves arbitrarily short steps, it is relative to the way to `t_stop`, at most 1
    s.
    """
    return max(smallest, SMALLEST_RELATIVE_STEP * max(abs(t), min(1.0, t_stop - t)))


def is_jump_in_time(method, error, step, smallest):
    """Whether an attempt as short as time can resolve crosses a jump, and is accepted in spite of its error.

    No step resolves a jump better; the error is that of a jump which comes by that much later. A singularity
    is told from a jump by its error above the relative tolerance of states of size 1, or by a step before
    that was accepted as a jump, too.
    """
    is_shortest = step <= NEARLY_SMALLEST * smallest and method.settings.smallest_step < smallest
    is_small = 1.0 < error < math.inf and method.work.usual_error <= MOST_OF_JUMP
    return is_shortest and is_small and method.memory.last_error <= 1.0


def smooth_end(method, c, t, t_stop):
    """`t_stop`, or the first time before it at which a component announces a kink or a jump."""
    nearly = t_stop - SMALLEST_RELATIVE_STEP * max(
        1.0, abs(t)
    )  # later ones are not worth a step of their own
    for slot in method.smooth_slots:
        if t < c[slot] < nearly:
            nearly = t_stop = c[slot]
    return t_stop


def ideal_step(method, smallest):
    """The length that the last step proposes, within its limits, or the given fixed one."""
    settings = method.settings
    if not method.is_controlled:
        return settings.fixed_step
    return min(max(method.memory.next_step, smallest), settings.largest_step)


def step_end(t, longest, t_stop, controlled):
    """The end of a step of about the length `longest`: exactly `t_stop` if that is near."""
    if t + (STRETCH if controlled else STRETCH_FIXED) * longest >= t_stop:
        return t_stop
    if controlled and t + 2.0 * longest > t_stop:
        # Two equal steps instead of one and a sliver.
        return t + 0.5 * (t_stop - t)
    return t + longest


def end_reason(t_end, target, smooth, longest, limit, largest):
    """The reason why an accepted step ends where it does."""
    if t_end == target:
        return BY_TARGET
    if t_end == smooth:
        return BY_KINK
    if longest == limit:
        return BY_LIMIT
    if longest == largest:
        return BY_MAXIMUM
    return BY_METHOD


def shrink_factor(error, order):
    """The factor by which the step is shortened after an attempt with this error (NaN: not finite)."""
    if error != error:
        return LARGEST_SHRINK
    return min(SAFETY, max(LARGEST_SHRINK, SAFETY * math.pow(error, -1.0 / order)))


def next_step(ideal, step, error, previous_error, order, rejected):
    """Length of the next step after one that was accepted.

    A proportional-integral controller: it accounts for the trend of the error, and so rejects fewer steps
    than one that uses the last error alone.
    """
    if step < NEARLY_IDEAL * ideal:
        # Something other than its error made this step short. The error says nothing about the next step,
        # unless it is so small that a step longer than the ideal one would meet the tolerance.
        if rejected or error == 0.0 or LARGEST_GROWTH * step <= LEAST_GROWTH * ideal:
            return ideal  # without a power: mostly an event has made the step short
        longer = min(LARGEST_GROWTH, CAUTION * math.pow(error, -1.0 / order)) * step
        return longer if longer > LEAST_GROWTH * ideal else ideal
    if error == 0.0:
        return ideal if rejected else LARGEST_GROWTH * step
    if previous_error == 0.0:
        factor = SAFETY * math.pow(error, -1.0 / order)
    else:
        factor = SAFETY * math.pow(error, -0.7 / order) * math.pow(previous_error, 0.4 / order)
    factor = min(LARGEST_GROWTH, max(0.5, factor))
    if rejected:
        factor = min(1.0, factor)
    elif 1.0 < factor < LEAST_GROWTH:
        factor = 1.0
    return factor * step
