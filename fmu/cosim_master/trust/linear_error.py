"""The error of a run by the linear equations of its participants, coupled without delay.

All functions are kernel functions. In them n, m and s count outputs, inputs and states; i numbers intervals,
y outputs, u and v inputs, z states. The inputs of the coupled equations are u = F w + (what is known of the
inputs beside states), with F the feedback of states; so w' = (A + B F) w + B (known) + c.
"""

from __future__ import annotations

from typing import NamedTuple

from cosim.kit import Reals
from cosim_master.trust.least_squares import (
    apply,
    clear,
    exponential,
    invert,
    multiply,
    spectral_radius,
)
from cosim_master.trust.run_in_intervals import POWERS, piece_of

ORDER = 12
"""Of the series over an interval."""
MORE_TERMS = 6
"""Of the exponential over an interval, beyond that order."""
LONGEST = 3.0
"""Rate of the fastest state times the interval: beyond, a series says nothing."""
SMALL_CHANGE = 1e-12
"""Of the longest interval: intervals that differ by less share an exponential."""


class Feedback(NamedTuple):
    """How inputs follow states and outputs when all are coupled without delay; matrices row by row.

    Attributes
    ----------
    solved : Reals
        m * m: the inverse of 1 minus what inputs do at once to outputs that feed inputs.
    of_states : Reals
        m * s: F, inputs by states.
    coupled : Reals
        s * s: A + B F.
    of_free : Reals
        m * n: inputs by the outputs that depend on nothing.
    of_driven : Reals
        m * n: inputs by what the equations do not explain of the others.
    room, more_room : Reals
        Of the size of the largest matrix.
    transition : Reals
        s * s: the exponential of `coupled` over an interval.
    """

    solved: Reals
    of_states: Reals
    coupled: Reals
    of_free: Reals
    of_driven: Reals
    room: Reals
    more_room: Reals
    transition: Reals


MATRICES_OF_ERROR = len(Feedback._fields)


class ErrorVectors(NamedTuple):
    """What follows the run through its intervals; of states unless a size is given.

    Attributes
    ----------
    state, reached : Reals
        The derivative that the series of the states is at, and their end of the interval by the equations.
    error, pushed : Reals
        The derivative that the series of the error is at, and what this interval adds to the error.
    total, misfit : Reals
        The error so far, and what the equations have missed so far.
    by_state, by_input : Reals
        Room: a matrix times states, and B times inputs.
    residual : Reals
        n: what the equation of an output misses.
    constant, acting : Reals
        m: inputs by constants of outputs, and inputs that B is applied to.
    unexplained, unexplained_before : Reals
        m: inputs by the residuals of outputs, at the end of this interval and of the last one.
    input_error, input_misfit : Reals
        m: at the end of the interval.
    known : Reals
        POWERS * m: derivatives of the inputs beside states, at the start of the interval.
    """

    state: Reals
    reached: Reals
    error: Reals
    pushed: Reals
    total: Reals
    misfit: Reals
    by_state: Reals
    by_input: Reals
    residual: Reals
    constant: Reals
    acting: Reals
    unexplained: Reals
    unexplained_before: Reals
    input_error: Reals
    input_misfit: Reals
    known: Reals


VECTORS_OF_ERROR = len(ErrorVectors._fields) - 1 + POWERS
"""The last of them is so many times longer."""


def follow_errors(course, wiring, states, equations, matrices, room, errors, misfit):
    """The coupled equations along the run; False where a series over an interval does not converge.

    Parameters
    ----------
    course : Intervals
    wiring : Wired
    states : int
        How many there are.
    equations : Equations
    matrices, room : view
        Room for `Feedback` and `ErrorVectors`.
    errors, misfit : view
        Receive the largest error of each output, and the largest effect of what is not explained.
    """
    n = len(wiring.owners)
    m = len(wiring.targets)
    feedback = divide_matrices(matrices, n, m, states)
    vectors = divide_vectors(room, n, m, states)
    if not couple(wiring, states, equations, feedback):
        return False
    longest = longest_interval(course)
    if not fastest_rate(equations, feedback, states) * longest <= LONGEST:
        return False
    apply(feedback.of_driven, equations.constant, vectors.constant, m, n)
    for values in (vectors.total, vectors.misfit, vectors.unexplained_before, errors, misfit):
        clear(values)
    length_of_transition = 0.0
    for i in range(len(course.times) - 1):
        h = course.times[i + 1] - course.times[i]
        differentiate_known_inputs(course, wiring, i, feedback, vectors)
        integrate_interval(course, wiring, i, states, equations, feedback, vectors)
        find_unexplained(course, wiring, i, states, equations, feedback, vectors)
        if not abs(h - length_of_transition) <= SMALL_CHANGE * longest:
            renew_transition(feedback, h, states)
            length_of_transition = h
        advance_errors(course, wiring, i, states, feedback, vectors)
        find_input_errors(course, wiring, i, states, feedback, vectors)
        if not raise_output_errors(wiring, states, equations, vectors, errors, misfit):
            return False
    return True


def divide_matrices(matrices, n, m, states):
    """The matrices of a `Feedback` in the given room."""
    square = (n + m + 1) * (n + m + 1)
    solved = matrices[0 : m * m]
    of_states = matrices[square : square + m * states]
    coupled = matrices[2 * square : 2 * square + states * states]
    of_free = matrices[3 * square : 3 * square + m * n]
    of_driven = matrices[4 * square : 4 * square + m * n]
    room = matrices[5 * square : 6 * square]
    more_room = matrices[6 * square : 7 * square]
    transition = matrices[7 * square : 7 * square + states * states]
    return Feedback(
        solved,
        of_states,
        coupled,
        of_free,
        of_driven,
        room,
        more_room,
        transition,
    )


def divide_vectors(room, n, m, states):
    """The vectors of an `ErrorVectors` in the given room."""
    size = n + m + 1
    state = room[0:states]
    reached = room[size : size + states]
    error = room[2 * size : 2 * size + states]
    pushed = room[3 * size : 3 * size + states]
    total = room[4 * size : 4 * size + states]
    misfit = room[5 * size : 5 * size + states]
    by_state = room[6 * size : 6 * size + states]
    by_input = room[7 * size : 7 * size + states]
    residual = room[8 * size : 8 * size + n]
    constant = room[9 * size : 9 * size + m]
    acting = room[10 * size : 10 * size + m]
    unexplained = room[11 * size : 11 * size + m]
    unexplained_before = room[12 * size : 12 * size + m]
    input_error = room[13 * size : 13 * size + m]
    input_misfit = room[14 * size : 14 * size + m]
    known = room[15 * size : 15 * size + POWERS * m]
    return ErrorVectors(
        state,
        reached,
        error,
        pushed,
        total,
        misfit,
        by_state,
        by_input,
        residual,
        constant,
        acting,
        unexplained,
        unexplained_before,
        input_error,
        input_misfit,
        known,
    )


def couple(wiring, states, equations, feedback):
    """Solve for all inputs; False where inputs that act at once on each other have no solution."""
    n = len(wiring.owners)
    m = len(wiring.targets)
    loop = feedback.room
    for u in range(m):
        y = wiring.sources[u]
        is_driven = wiring.driven[y] != 0
        for v in range(m):
            passed = equations.passed[m * y + v] if is_driven else 0.0
            loop[m * u + v] = (1.0 if u == v else 0.0) - passed
    if not invert(loop[0 : m * m], feedback.solved, m):
        return False
    clear(feedback.of_free)
    clear(feedback.of_driven)
    for u in range(m):
        for v in range(m):
            y = wiring.sources[v]
            if wiring.driven[y] != 0:
                feedback.of_driven[n * u + y] += feedback.solved[m * u + v]
            else:
                feedback.of_free[n * u + y] += feedback.solved[m * u + v]
    multiply(feedback.of_driven, equations.shown, feedback.of_states, m, n, states)
    multiply(equations.b, feedback.of_states, feedback.coupled, states, m, states)
    for i in range(states * states):
        feedback.coupled[i] += equations.a[i]
    return True


def longest_interval(course):
    """Its length."""
    longest = 0.0
    for i in range(len(course.times) - 1):
        longest = max(longest, course.times[i + 1] - course.times[i])
    return longest


def fastest_rate(equations, feedback, states):
    """The largest rate of the participants alone, and of all coupled."""
    alone = spectral_radius(equations.a, feedback.room, feedback.more_room, states)
    coupled = spectral_radius(feedback.coupled, feedback.room, feedback.more_room, states)
    return max(alone, coupled)


def renew_transition(feedback, h, states):
    """The exponential of the coupled equations over an interval of this length."""
    terms = ORDER + MORE_TERMS
    term, product = feedback.room, feedback.more_room
    exponential(feedback.coupled, h, terms, feedback.transition, term, product, states)


def differentiate_known_inputs(course, wiring, i, feedback, vectors):
    """Derivatives at the start of an interval of what the inputs were given beside the states."""
    n = len(wiring.owners)
    m = len(wiring.targets)
    h = course.times[i + 1] - course.times[i]
    known = vectors.known
    clear(known)
    for u in range(m):
        start = course.means[m * i + u] - 0.5 * h * course.slopes[m * i + u]
        known[u] = start - vectors.constant[u]
        known[m + u] = course.slopes[m * i + u]
    for y in range(n):
        if wiring.driven[y] != 0:
            continue
        piece = piece_of(course, wiring, i, y)
        factorial = 1.0
        for power in range(POWERS):
            factorial = factorial * max(power, 1)
            for u in range(m):
                known[m * power + u] -= factorial * piece[power] * feedback.of_free[n * u + y]


def integrate_interval(course, wiring, i, states, equations, feedback, vectors):
    """The run's states by their equations, and what the defects push, by series over an interval.

    A defect is what an input was given beyond the feedback of the run's own states.
    """
    n = len(wiring.owners)
    m = len(wiring.targets)
    h = course.times[i + 1] - course.times[i]
    for y in range(n):
        if wiring.states[y] >= 0:
            vectors.state[wiring.states[y]] = course.outputs[n * i + y]
            vectors.reached[wiring.states[y]] = course.outputs[n * i + y]
    clear(vectors.error)
    clear(vectors.pushed)
    factor = 1.0
    for j in range(ORDER):
        apply(feedback.of_states, vectors.state, vectors.acting, m, states)
        for u in range(m):
            vectors.acting[u] = (vectors.known[m * j + u] if j < POWERS else 0.0) - vectors.acting[u]
        apply(feedback.coupled, vectors.error, vectors.by_state, states, states)
        apply(equations.b, vectors.acting, vectors.by_input, states, m)
        for z in range(states):
            vectors.error[z] = vectors.by_state[z] + vectors.by_input[z]
        apply(equations.a, vectors.state, vectors.by_state, states, states)
        clear(vectors.by_input)
        if j < 2:
            for u in range(m):
                slope = course.slopes[m * i + u]
                vectors.acting[u] = course.means[m * i + u] - 0.5 * h * slope if j == 0 else slope
            apply(equations.b, vectors.acting, vectors.by_input, states, m)
        factor = factor * h / (j + 1)
        for z in range(states):
            constant = equations.c[z] if j == 0 else 0.0
            vectors.state[z] = vectors.by_state[z] + vectors.by_input[z] + constant
            vectors.reached[z] += factor * vectors.state[z]
            vectors.pushed[z] += factor * vectors.error[z]


def find_unexplained(course, wiring, i, states, equations, feedback, vectors):
    """What the equations of outputs miss at the end of an interval, and what that does to the rates.

    Inputs by it at both ends of the interval come to act on the states together (`by_input`).
    """
    n = len(wiring.owners)
    m = len(wiring.targets)
    for y in range(n):
        vectors.residual[y] = 0.0
        if wiring.driven[y] != 0 and wiring.states[y] < 0:
            value = course.outputs[n * (i + 1) + y] - equations.constant[y]
            for other in range(n):
                z = wiring.states[other]
                if z >= 0:
                    value -= equations.shown[states * y + z] * course.outputs[n * (i + 1) + other]
            for u in range(m):
                value -= equations.passed[m * y + u] * course.ends[m * (i + 1) + u]
            vectors.residual[y] = value
    apply(feedback.of_driven, vectors.residual, vectors.unexplained, m, n)
    for u in range(m):
        vectors.acting[u] = vectors.unexplained[u] + vectors.unexplained_before[u]
        vectors.unexplained_before[u] = vectors.unexplained[u]
    apply(equations.b, vectors.acting, vectors.by_input, states, m)


def advance_errors(course, wiring, i, states, feedback, vectors):
    """The error and the misfit of the states at the end of an interval, from those at its start."""
    n = len(wiring.owners)
    h = course.times[i + 1] - course.times[i]
    apply(feedback.transition, vectors.total, vectors.state, states, states)
    apply(feedback.transition, vectors.misfit, vectors.by_state, states, states)
    for y in range(n):
        z = wiring.states[y]
        if z >= 0:
            vectors.total[z] = vectors.state[z] + vectors.pushed[z]
            missed = abs(course.outputs[n * (i + 1) + y] - vectors.reached[z])
            vectors.misfit[z] = vectors.by_state[z] + missed + 0.5 * h * abs(vectors.by_input[z])


def find_input_errors(course, wiring, i, states, feedback, vectors):
    """By how much inputs differ at the end of an interval from those of the coupling without delay."""
    n = len(wiring.owners)
    m = len(wiring.targets)
    for u in range(m):
        error = course.ends[m * (i + 1) + u] - vectors.constant[u]
        misfit = 0.0
        for y in range(n):
            output = course.outputs[n * (i + 1) + y]
            z = wiring.states[y]
            if z >= 0:
                error += feedback.of_states[states * u + z] * (vectors.total[z] - output)
                misfit += feedback.of_states[states * u + z] * vectors.misfit[z]
            error -= feedback.of_free[n * u + y] * output
        vectors.input_error[u] = error
        vectors.input_misfit[u] = misfit


def raise_output_errors(wiring, states, equations, vectors, errors, misfit):
    """Raise the largest error and misfit of each output; False where one is not finite."""
    m = len(wiring.targets)
    for y in range(len(wiring.owners)):
        error = 0.0
        missed = 0.0
        missed_at_once = 0.0
        for z in range(states):
            error += equations.shown[states * y + z] * vectors.total[z]
            missed += equations.shown[states * y + z] * vectors.misfit[z]
        for u in range(m):
            error += equations.passed[m * y + u] * vectors.input_error[u]
            missed += equations.passed[m * y + u] * vectors.input_misfit[u]
            missed_at_once += equations.passed[m * y + u] * vectors.unexplained[u]
        whole_misfit = abs(missed) + abs(vectors.residual[y]) + abs(missed_at_once)
        if wiring.driven[y] == 0:
            error = 0.0
        if error - error != 0.0 or whole_misfit - whole_misfit != 0.0:
            return False
        errors[y] = max(errors[y], abs(error))
        misfit[y] = max(misfit[y], whole_misfit)
    return True
