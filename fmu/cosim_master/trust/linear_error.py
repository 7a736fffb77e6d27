"""The error of a run by the linear equations of its participants, coupled without delay.

All functions are kernel functions. In them n, m and s count outputs, inputs and states; i numbers intervals,
y outputs, u and v inputs, z states. The inputs of the coupled equations are u = F w + k(t), with F
the feedback of states and k the known part; so w' = (A + B F) w + B k + c.
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
"""Order of the series over an interval."""
MORE_TERMS = 6
"""Terms of the exponential over an interval beyond that order."""
LONGEST = 3.0
"""The largest rate of a state times the interval for which the series is used."""
SMALL_CHANGE = 1e-12
"""Intervals that differ by a smaller part of the longest one share an exponential."""


class Feedback(NamedTuple):
    """The dependence of inputs on states and outputs in a coupling without delay; matrices row by row.

    Attributes
    ----------
    solved : Reals
        m * m: the inverse of 1 minus the direct feedthrough from inputs to the outputs that feed inputs.
    of_states : Reals
        m * s: F, derivatives of inputs by states.
    coupled : Reals
        s * s: A + B F.
    of_free : Reals
        m * n: derivatives of inputs by the outputs of participants without inputs.
    of_driven : Reals
        m * n: derivatives of inputs by the residuals of the other outputs.
    room, more_room : Reals
        Scratch memory of the size of the largest matrix.
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
    """Vectors that are updated interval by interval; their size is that of the states if none is given.

    Attributes
    ----------
    state, reached : Reals
        The present derivative in the series of the states, and the states at the end of the interval.
    error, pushed : Reals
        The present derivative in the series of the error, and the error that this interval adds.
    total, misfit : Reals
        The error so far, and the misfit of the equations so far.
    by_state, by_input : Reals
        Scratch memory: a matrix times states, and B times inputs.
    residual : Reals
        n: the residuals of the outputs.
    constant, acting : Reals
        m: the part of the inputs that comes from constants of outputs, and inputs that B is applied to.
    unexplained, unexplained_before : Reals
        m: the part of the inputs from residuals of outputs, at the ends of this and of the last interval.
    input_error, input_misfit : Reals
        m: errors and misfits of the inputs at the end of the interval.
    known : Reals
        POWERS * m: derivatives of the part of the inputs that is not feedback, at the start of the interval.
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
"""The last vector takes POWERS slots."""


def follow_errors(course, wiring, equations, scratch, errors, misfit):
    """Solve the coupled equations along the run; False if the series over an interval does not converge.

    Parameters
    ----------
    course : Intervals
    wiring : Wired
    equations : Equations
    scratch : Scratch
    errors, misfit : view, outputs
        Receive the largest error of each output, and the largest effect of the misfit.
    """
    n = len(wiring.owners)
    m = len(wiring.targets)
    states = equations.states
    feedback = divide_matrices(scratch.matrices, n, m, states)
    vectors = divide_vectors(scratch.vectors, n, m, states)
    if not couple(wiring, equations, feedback):
        return False
    longest = longest_interval(course)
    if not fastest_rate(equations, feedback) * longest <= LONGEST:
        return False
    apply(feedback.of_driven, equations.constant, vectors.constant, m, n)
    for values in (vectors.total, vectors.misfit, vectors.unexplained_before, errors, misfit):
        clear(values)
    length_of_transition = 0.0
    for i in range(len(course.times) - 1):
        h = course.times[i + 1] - course.times[i]
        differentiate_known_inputs(course, wiring, i, feedback, vectors)
        integrate_interval(course, wiring, i, equations, feedback, vectors)
        find_unexplained(course, wiring, i, equations, feedback, vectors)
        if not abs(h - length_of_transition) <= SMALL_CHANGE * longest:
            renew_transition(feedback, h, states)
            length_of_transition = h
        advance_errors(course, wiring, i, states, feedback, vectors)
        find_input_errors(course, wiring, i, states, feedback, vectors)
        if not raise_output_errors(wiring, equations, vectors, errors, misfit):
            return False
    return True


def divide_matrices(matrices, n, m, states):
    """The matrices of a `Feedback` in scratch memory."""
    return Feedback(
        matrices.view(0, m * m),  # solved
        matrices.view(1, m * states),  # of_states
        matrices.view(2, states * states),  # coupled
        matrices.view(3, m * n),  # of_free
        matrices.view(4, m * n),  # of_driven
        matrices.view(5, matrices.size),  # room
        matrices.view(6, matrices.size),  # more_room
        matrices.view(7, states * states),  # transition
    )


def divide_vectors(vectors, n, m, states):
    """The vectors of an `ErrorVectors` in scratch memory."""
    return ErrorVectors(
        vectors.view(0, states),  # state
        vectors.view(1, states),  # reached
        vectors.view(2, states),  # error
        vectors.view(3, states),  # pushed
        vectors.view(4, states),  # total
        vectors.view(5, states),  # misfit
        vectors.view(6, states),  # by_state
        vectors.view(7, states),  # by_input
        vectors.view(8, n),  # residual
        vectors.view(9, m),  # constant
        vectors.view(10, m),  # acting
        vectors.view(11, m),  # unexplained
        vectors.view(12, m),  # unexplained_before
        vectors.view(13, m),  # input_error
        vectors.view(14, m),  # input_misfit
        vectors.view(15, POWERS * m),  # known
    )


def couple(wiring, equations, feedback):
    """Solve for all inputs; False if inputs that act on each other at the same instant have no solution."""
    states = equations.states
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
    """The length of the longest interval, s."""
    longest = 0.0
    for i in range(len(course.times) - 1):
        longest = max(longest, course.times[i + 1] - course.times[i])
    return longest


def fastest_rate(equations, feedback):
    """The largest rate of a participant alone or of all coupled, per s."""
    states = equations.states
    alone = spectral_radius(equations.a, feedback.room, feedback.more_room, states)
    coupled = spectral_radius(feedback.coupled, feedback.room, feedback.more_room, states)
    return max(alone, coupled)


def renew_transition(feedback, h, states):
    """Compute the exponential of the coupled equations over an interval of length h (s)."""
    terms = ORDER + MORE_TERMS
    term, product = feedback.room, feedback.more_room
    exponential(feedback.coupled, h, terms, feedback.transition, term, product, states)


def differentiate_known_inputs(course, wiring, i, feedback, vectors):
    """The derivatives at the start of an interval of the part of the inputs that is not feedback."""
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


def integrate_interval(course, wiring, i, equations, feedback, vectors):
    """Integrate the run's states and the effect of the defects over an interval, by series.

    A defect is the input minus the feedback of the run's own states.
    """
    states = equations.states
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


def find_unexplained(course, wiring, i, equations, feedback, vectors):
    """The residuals of the outputs at the end of an interval, and their effect on the rates (`by_input`).

    The effect counts the inputs at both ends of the interval.
    """
    states = equations.states
    n = len(wiring.owners)
    m = len(wiring.targets)
    for y in range(n):
        vectors.residual[y] = 0.0
        if wiring.driven[y] != 0 and wiring.states[y] < 0:
            value = course.outputs[n * (i + 1) + y] - equations.constant[y]
            for x in range(n):
                z = wiring.states[x]
                if z >= 0:
                    value -= equations.shown[states * y + z] * course.outputs[n * (i + 1) + x]
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
    """The errors of the inputs at the end of an interval: their difference from a coupling without delay."""
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


def raise_output_errors(wiring, equations, vectors, errors, misfit):
    """Update the largest error and misfit of each output; False if one is not finite."""
    states = equations.states
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
