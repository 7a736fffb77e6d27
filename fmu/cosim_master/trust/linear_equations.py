"""The error of a coupling of linear participants that show their states.

A participant that shows its states obeys w' = A w + B u + c in each exchange, with an input u that is known:
it was held, or ran along a line. From the run follow A, B and c, without error if it is linear
(`linear_fit`). Coupled without delay, the equations have another solution; how far the run is from it is the
answer to B times what the inputs were given beyond the outputs *inside* each exchange, which the equations
show (`linear_error`).

All functions are kernel functions: libraries without Python call them as well.
"""

from __future__ import annotations

from cosim_master.trust.least_squares import clear
from cosim_master.trust.linear_error import MATRICES_OF_ERROR, VECTORS_OF_ERROR, follow_errors
from cosim_master.trust.linear_fit import Equations, Part, fit_output, fit_rates

WEIGHTS = (1e-3, 1.0, 1e3)
"""Of inputs beside states: where one follows from the other, the run does not show which of them acts."""
MATRICES = 4 + MATRICES_OF_ERROR
"""Of the equations (`Equations`), then those of the fit or of the error, which share their room."""
VECTORS = 2 + VECTORS_OF_ERROR
"""The same of vectors."""


def room_needed(intervals, outputs, inputs):
    """Numbers for the equations, of a course of so many intervals."""
    size = outputs + inputs + 1
    return MATRICES * size * size + VECTORS * size + 2 * intervals * size


def linear_answer(course, wiring, room, direct, weight, errors, misfit):
    """The largest errors by equations with one weight of inputs beside states; False where there are none.

    Parameters
    ----------
    course : Intervals
    wiring : Wired
    room : view
        Of `room_needed` numbers.
    direct : view, outputs * inputs
        1 where an output is taken to follow an input at once.
    weight : float
    errors, misfit : view
        Of the outputs: what the coupling did, and what the equations do not explain would do.
    """
    n = len(wiring.owners)
    m = len(wiring.targets)
    size = n + m + 1
    square = size * size
    vectors = room[MATRICES * square : MATRICES * square + VECTORS * size]
    rows = room[MATRICES * square + VECTORS * size : len(room)]
    equations = Equations(
        room[0:square],
        room[square : 2 * square],
        vectors[0:n],
        room[2 * square : 3 * square],
        room[3 * square : 4 * square],
        vectors[n : 2 * n],
    )
    matrices = room[4 * square : MATRICES * square]
    more_vectors = vectors[2 * n : len(vectors)]
    for part_of_equations in equations:
        clear(part_of_equations)
    states = number_states(wiring, direct)
    for y in range(n):
        if wiring.states[y] >= 0:
            equations.shown[states * y + wiring.states[y]] = 1.0
    for owner in range(n + m):
        part = list_part(wiring, owner)
        if len(part.inputs) == 0:
            continue
        if len(part.states) > 0 and not fit_rates(
            course, wiring, part, states, weight, equations, matrices, more_vectors, rows
        ):
            return False
        for y in range(n):
            if wiring.owners[y] == owner and wiring.states[y] < 0:
                fit_output(course, wiring, part, y, states, weight, equations, matrices, more_vectors)
    return follow_errors(course, wiring, states, equations, matrices, more_vectors, errors, misfit)


def number_states(wiring, direct):
    """Number the states, and count them: outputs of driven participants that no input moves at once."""
    states = 0
    for y in range(len(wiring.owners)):
        wiring.states[y] = -1
        if wiring.driven[y] != 0 and not follows_any(direct, y, len(wiring.targets)):
            wiring.states[y] = states
            states += 1
    return states


def follows_any(direct, y, m):
    """Whether an output follows any input at once."""
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
