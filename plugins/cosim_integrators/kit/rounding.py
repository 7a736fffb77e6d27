"""The rounding error of each state in a step: no tolerance below it helps.

It is measured where the size of a state makes steps short (a mechanism that rounding pulls out of its
symmetry), and again when steps have become longer, or after many of them. A multiple of it stands below the
floor of the state; `state_sizes` says what that is.
"""

from __future__ import annotations

import math

from cosim.kit import rarely
from cosim_integrators.kit.state_sizes import follow_sizes, own_floor

SMALL = 0.1  # an error that would be less so much with tolerances of size 1 is that of a small state
APART = 1e-5  # of each state: so far that roundings differ, so near that everything else is a parabola
LEAST = 3e-16  # of the largest state, or of 1; by a power of two all ways would be rounded alike
LONGER = 2.0  # than the step: what rounding is measured for
MARGIN = 16.0  # what is measured once is, in one case of 20, less than a 16th of its standard deviation
HELPS = 1.1
LIMITS = 0.03  # of the tolerance: steps do not grow with an error that is larger and does not shrink
PATIENCE = 10.0  # steps
MOST_STEPS = 100.0
MOST_PAUSES = 64.0
NOISE_OF_HOLDS = 1e-6  # of the largest state, or of 1: rounding over the square of 0.1 ms, in a step


def is_measured_again(method, step):
    """Whether rounding may give the states something else by now, or limit the steps."""
    all_states = method.sizes.all_states
    if all_states.measured != 0.0:
        return 2.0 * abs(all_states.measured) < LONGER * step or all_states.steps_since > MOST_STEPS
    return all_states.steps_since > PATIENCE * (1.0 + all_states.last_pause)


def count_step(method, error):
    """Count an accepted step that may have been short for the sake of rounding."""
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
    """Whether an attempt was rejected for the sake of small states alone, and rounding is to be measured.

    What does not help is done more and more rarely.
    """
    if not 1.0 < error < math.inf or method.work.usual_error > SMALL * error:
        return False
    all_states = method.sizes.all_states
    if all_states.pause > 0.0:
        all_states.pause -= 1.0
        return False
    return True


def move_start(method, place, side):
    """Move the start of a step away from its `place`, to one side (1.0) or to the other (-1.0).

    All that large states and small ones are added to is rounded otherwise there: small states move by at
    least a rounding of the largest one. Where all have begun at 0 that is one of 1.
    """
    start = method.start
    all_states = method.sizes.all_states
    least = LEAST * min(1.0, max(all_states.largest_of_all, all_states.least_of_all))
    for m in range(method.n):
        way = side * max(APART * abs(place[m]), least)
        start[m] = place[m] + (way if m % 3 == 0 else -way)


def noise_of_attempts(method, error_sum, error):
    """The floors that rounding in an attempt needs, into `error_sum`.

    `error` is that of the attempt, `error_sum` at first the sum of the errors of the same attempt from starts
    to both sides: what is not on a straight line is rounding.
    """
    for m in range(method.n):
        noise = abs(error_sum[m] - 2.0 * error[m])
        error_sum[m] = MARGIN * noise if noise < math.inf else 0.0


def raise_floors(method, step, noise):
    """Raise the floors to this noise of steps of this length; whether one has risen.

    They are raised for longer steps, too, but not above those of states of size 1.
    """
    sizes = method.sizes
    all_states = sizes.all_states
    rounding = sizes.rounding
    floors = sizes.floors
    largest = sizes.largest
    risen = False
    all_states.measured = 0.0
    all_states.steps_since = 0.0
    for m in range(method.n):
        rounding[m] = 0.0
        raised = min(LONGER * noise[m], method.absolute_tolerances[m])
        if method.follows_size(m) and raised > own_floor(method, m, largest[m]):
            risen = risen or raised > HELPS * floors[m]
            rounding[m] = raised
            floors[m] = max(floors[m], raised)
            all_states.followed = 1.0
            all_states.measured = LONGER * step
    all_states.last_pause = 0.0 if risen else min(MOST_PAUSES, 2.0 * all_states.last_pause + 1.0)
    all_states.pause = all_states.last_pause
    return risen


@rarely
def assume_size_1(method, step):
    """Hold all states to a size of 1 in the next step.

    Where no step is short enough for their own (it has a jump inside), and where derivatives miss more than
    rounding (while a witness is held). Nothing is measured: no error is explained, and steps may grow.
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
    """What may be noise in the states `y` of a fixed step in which witnesses are held; 0 if none is.

    Their rates are differences, of which rounding of the largest state leaves a part that does not shrink
    however often equations are solved. Under error control shorter steps have less of it.
    """
    if method.is_controlled or method.slots.holds == 0:
        return 0.0
    largest = 1.0
    for m in range(method.n):
        largest = max(largest, abs(y[m]))
    return NOISE_OF_HOLDS * largest


def update_sizes(system, method, t, step, order):
    """At the start of a step, find out how large the states are, and what that says about their tolerances.

    `step` is how long it is to be, `order` the exponent of the step in the error.
    """
    returned = follow_sizes(system, method, t, step, order)
    if returned >= 0:
        method.work.returned_state = returned + 1.0
    if method.slots.holds != 0:
        assume_size_1(method, step)


def retries_with_size_1(method, status, error, step, ideal, smallest):
    """Whether an attempt of this length is taken again, with all states held to a size of 1.

    That is where only their own sizes make the error too large, and the step `ideal`, which they ask for, is
    shorter than the smallest one. Once a step: what components report as errors does not follow sizes.
    """
    work = method.work
    is_by_sizes = status == 0 and work.usual_error <= 1.0 < error < math.inf
    if not (method.is_controlled and ideal < smallest and is_by_sizes and work.has_size_1 == 0.0):
        return False
    assume_size_1(method, step)
    work.has_size_1 = 1.0
    return True
