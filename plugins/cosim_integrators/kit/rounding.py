"""The rounding noise of each state in a step: a tolerance below it only makes steps shorter.

The noise is measured when a small state makes steps short (such as a mechanism that rounding pulls out of its
symmetry), and again when steps have become longer, or after many steps. A multiple of it is the least floor
of the state; see `state_sizes`.
"""

from __future__ import annotations

import math

from cosim.kit import rarely
from cosim_integrators.kit.state_sizes import follow_sizes, own_floor

SMALL = 0.1  # if states of size 1 would make the error smaller by this factor, a small state causes it
APART = 1e-5  # relative displacement of starts: roundings differ there, and the rest is still a parabola
LEAST = 3e-16  # least displacement, of the largest state or of 1; not a power of two, which rounds alike
LONGER = 2.0  # rounding is measured for steps that are longer by this factor
MARGIN = 16.0  # in one case of 20 a single measurement is below a 16th of the standard deviation
HELPS = 1.1  # a floor that rises by less than this factor makes steps hardly longer
LIMITS = (
    0.03  # tolerances: an error above that, if it does not shrink with the step, keeps steps from growing
)
PATIENCE = 10.0  # steps with such errors before rounding is measured
MOST_STEPS = 100.0  # such steps, after which rounding is measured again
MOST_PAUSES = 64.0  # rejected attempts that are not measured, after measurements that have not helped
NOISE_OF_HOLDS = 1e-6  # of the largest state, or of 1: rounding over the square of 0.1 ms, in a step


def is_measured_again(method, step):
    """Whether rounding is to be measured in the next step.

    That is if steps have become longer than those it was measured for, if many steps have passed since, or if
    it was not yet measured and may limit the steps.
    """
    all_states = method.sizes.all_states
    if all_states.measured != 0.0:
        return 2.0 * abs(all_states.measured) < LONGER * step or all_states.steps_since > MOST_STEPS
    return all_states.steps_since > PATIENCE * (1.0 + all_states.last_pause)


def count_step(method, error):
    """Count an accepted step that rounding may have made short."""
    all_states = method.sizes.all_states
    if all_states.are_small != 0.0 and error > LIMITS:
        all_states.steps_since += 1.0


def has_unmeasured_rounding(method):
    """Whether there is a small state, and rounding has never been measured."""
    all_states = method.sizes.all_states
    return all_states.are_small != 0.0 and all_states.measured == 0.0 and all_states.last_pause == 0.0


def measure_next_time(method):
    """Let the next step measure rounding."""
    method.sizes.all_states.steps_since = 2.0 * PATIENCE


def may_be_rounding(method, error):
    """Whether small states alone have caused the rejection of an attempt, so that rounding is to be measured.

    After a measurement that has raised no floor, more and more such attempts pass without one.
    """
    if not 1.0 < error < math.inf or method.work.usual_error > SMALL * error:
        return False
    all_states = method.sizes.all_states
    if all_states.pause > 0.0:
        all_states.pause -= 1.0
        return False
    return True


def move_start(method, true_start, side):
    """Displace the start of a step from `true_start`, to one side (1.0) or to the other (-1.0).

    At the displaced start all sums round differently. Small states move by at least a rounding of the largest
    one, to which they may be added; if all states have begun at 0, by a rounding of 1. Two of three states
    move against the others, so that differences of neighbours change as well.
    """
    start = method.start
    all_states = method.sizes.all_states
    least = LEAST * min(1.0, max(all_states.largest_of_all, all_states.least_of_all))
    for m in range(method.n):
        displacement = side * max(APART * abs(true_start[m]), least)
        start[m] = true_start[m] + (displacement if m % 3 == 0 else -displacement)


def noise_of_attempts(method, error_sum, error):
    """Replace `error_sum` by the floors that the rounding of an attempt needs.

    `error` is the error of the attempt, `error_sum` the sum of its errors from the starts on both sides. The
    three errors would lie on a straight line; the deviation is rounding.
    """
    for m in range(method.n):
        noise = abs(error_sum[m] - 2.0 * error[m])
        error_sum[m] = MARGIN * noise if noise < math.inf else 0.0


def raise_floors(method, step, noise):
    """Raise the floors to the `noise` of steps of the length `step`; returns whether one has risen.

    They are raised to the noise of steps that are `LONGER`, but not above those of states of size 1.
    """
    sizes = method.sizes
    all_states = sizes.all_states
    rounding = sizes.rounding
    floors = sizes.floors
    largest = sizes.largest
    has_risen = False
    all_states.measured = 0.0
    all_states.steps_since = 0.0
    for m in range(method.n):
        rounding[m] = 0.0
        raised = min(LONGER * noise[m], method.absolute_tolerances[m])
        if method.follows_size(m) and raised > own_floor(method, m, largest[m]):
            has_risen = has_risen or raised > HELPS * floors[m]
            rounding[m] = raised
            floors[m] = max(floors[m], raised)
            all_states.followed = 1.0
            all_states.measured = LONGER * step
    all_states.last_pause = 0.0 if has_risen else min(MOST_PAUSES, 2.0 * all_states.last_pause + 1.0)
    all_states.pause = all_states.last_pause
    return has_risen


@rarely
def assume_size_1(method, step):
    """Give all states the tolerances of size 1 in the next step.

    This is done if no step is short enough for their own sizes (there is a jump inside), and while a witness
    is held, since derivatives then have errors beyond rounding. The rounding counts as not measured: no error
    is treated as rounding, and steps may grow.
    """
    sizes = method.sizes
    all_states = sizes.all_states
    rounding = sizes.rounding
    floors = sizes.floors
    absolute = method.absolute_tolerances
    for m in range(method.n):
        rounding[m] = absolute[m]
        floors[m] = max(floors[m], absolute[m])
    all_states.followed = 1.0
    all_states.measured = -LONGER * step
    all_states.steps_since = 0.0


def noise_of_holds(method, y):
    """The noise in the states `y` of a fixed step while witnesses are held; 0 if none is.

    Rates of witnesses are differences: rounding of the largest state leaves an error in them, which further
    iterations do not reduce. Under error control it is 0, since steps become shorter instead.
    """
    if method.is_controlled or method.slots.holds == 0:
        return 0.0
    largest = 1.0
    for m in range(method.n):
        largest = max(largest, abs(y[m]))
    return NOISE_OF_HOLDS * largest


def update_sizes(system, method, t, step, order):
    """Update the sizes of the states and their floors at the start of a step.

    `step` is the planned length of the step, `order` the exponent of the step in the error.
    """
    returned = follow_sizes(system, method, t, step, order)
    if returned >= 0:
        method.work.returned_state = returned + 1.0
    if method.slots.holds != 0:
        assume_size_1(method, step)


def retries_with_size_1(method, status, error, step, ideal, smallest):
    """Whether an attempt of this length is repeated with the tolerances of states of size 1.

    It is if the error is too large only because of the own sizes of states, and the step `ideal` that these
    ask for is shorter than the smallest one. This happens once a step: errors that components report do not
    depend on sizes.
    """
    work = method.work
    is_by_sizes = status == 0 and work.usual_error <= 1.0 < error < math.inf
    if not (method.is_controlled and ideal < smallest and is_by_sizes and work.has_size_1 == 0.0):
        return False
    assume_size_1(method, step)
    work.has_size_1 = 1.0
    return True
