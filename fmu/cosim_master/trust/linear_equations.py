"""The error of a coupling of linear participants whose outputs include their states.

Such a participant obeys w' = A w + B u + c in each exchange, with a known input u: it was held, or ran along
a line. The run determines A, B and c, exactly if the participant is linear (`linear_fit`). The solution of
the equations that are coupled without delay differs from the run by the response to B times the differences
between inputs and outputs inside each exchange, which the equations determine as well (`linear_error`).

All functions are kernel functions: libraries without Python call them as well.
"""

from __future__ import annotations

from cosim_master.trust.least_squares import Slots, clear
from cosim_master.trust.linear_error import MATRICES_OF_ERROR, VECTORS_OF_ERROR, follow_errors
from cosim_master.trust.linear_fit import Equations, Part, Scratch, fit_output, fit_rates

WEIGHTS = (1e-3, 1.0, 1e3)
"""Weights of inputs relative to states: if one is a function of the other, both are possible causes."""
MATRICES_OF_EQUATIONS, VECTORS_OF_EQUATIONS = 4, 2
MATRICES = MATRICES_OF_EQUATIONS + MATRICES_OF_ERROR
VECTORS = VECTORS_OF_EQUATIONS + VECTORS_OF_ERROR
"""Slots for `Equations`, then slots that the fit and the error share (`Scratch`)."""


def room_needed(intervals, outputs, inputs):
    """The count of numbers that `linear_answer` needs for a course of so many intervals."""
    size = outputs + inputs + 1
    return MATRICES * size * size + VECTORS * size + 2 * intervals * size


def linear_answer(course, wiring, room, direct, weight, errors, misfit):
    """The largest errors by equations with one weight of inputs relative to states; False if none fit.

    Parameters
    ----------
    course : Intervals
    wiring : Wired
    room : view
        `room_needed` numbers.
    direct : view, outputs * inputs
        1 where an output is assumed to follow an input at the same instant.
    weight : float
    errors, misfit : view, outputs
        Receive the error by the coupling, and the effect of what the equations do not explain.
    """
    n = len(wiring.owners)
    size = n + len(wiring.targets) + 1
    square = size * size
    vectors = room[MATRICES * square : len(room)]
    of_equations = Slots(room, square)
    vectors_of_equations = Slots(vectors, size)
    equations = Equations(
        number_states(wiring, direct),
        of_equations.view(0, square),  # a
        of_equations.view(1, square),  # b
        vectors_of_equations.view(0, n),  # c
        of_equations.view(2, square),  # shown
        of_equations.view(3, square),  # passed
        vectors_of_equations.view(1, n),  # constant
    )
    scratch = Scratch(
        Slots(room[MATRICES_OF_EQUATIONS * square : MATRICES * square], square),
        Slots(vectors[VECTORS_OF_EQUATIONS * size : VECTORS * size], size),
        vectors[VECTORS * size : len(vectors)],
    )
    clear(room[0 : MATRICES_OF_EQUATIONS * square])
    clear(vectors[0 : VECTORS_OF_EQUATIONS * size])
    for y in range(n):
        if wiring.states[y] >= 0:
            equations.shown[equations.states * y + wiring.states[y]] = 1.0
    for owner in range(size - 1):
        part = list_part(wiring, owner)
        if len(part.inputs) == 0:
            continue
        if len(part.states) > 0 and not fit_rates(course, wiring, part, weight, equations, scratch):
            return False
        for y in range(n):
            if wiring.owners[y] == owner and wiring.states[y] < 0:
                fit_output(course, wiring, part, y, weight, equations, scratch)
    return follow_errors(course, wiring, equations, scratch, errors, misfit)


def number_states(wiring, direct):
    """Number and count the states: outputs of driven participants that no input moves at once."""
    states = 0
    for y in range(len(wiring.owners)):
        wiring.states[y] = -1
        if wiring.driven[y] != 0 and not follows_any(direct, y, len(wiring.targets)):
            wiring.states[y] = states
            states += 1
    return states


def follows_any(direct, y, m):
    """Whether an output follows any input at the same instant."""
    for u in range(m):  # noqa: SIM110
        if direct[m * y + u] != 0:
            return True
    return False


def list_part(wiring, owner):
    """List the states of a participant by their places among all outputs, and its inputs among all inputs."""
    states = 0
    for y in range(len(wiring.owners)):
        if wiring.owners[y] == owner and wiring.states[y] >= 0:
            wiring.part_states[states] = y
            states += 1
    inputs = 0
    for u in range(len(wiring.targets)):
        if wiring.targets[u] == owner:
            wiring.part_inputs[inputs] = u
            inputs += 1
    return Part(wiring.part_states[0:states], wiring.part_inputs[0:inputs])
