"""Linear equations of one participant, fitted by least squares to its states, inputs and outputs.

All functions are kernel functions. In them n and m count all outputs and all inputs; i numbers intervals, y
outputs, u inputs, x and j the states and inputs of the participant, `states` is the number of its states.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cosim.kit import Integers, Reals
from cosim_master.trust.least_squares import (
    Slots,
    add_row,
    apply_transposed,
    clear,
    multiply,
    solve_triangle,
)
from cosim_master.trust.run_in_intervals import size_of

MOST_ROUNDS = 30
"""Rounds that make the integrals of states and the equations consistent."""
BERNOULLI = (1.0 / 12.0, -1.0 / 720.0, 1.0 / 30240.0, -1.0 / 1209600.0, 1.0 / 47900160.0)
"""Factors of the derivatives of odd order in the integral over an interval (Euler and Maclaurin)."""
CUT = 1e-13
"""Directions of the data that are smaller than this part of the largest are ignored."""
SETTLED = 1e-13
"""The rounds end when no factor changes by more than this part of the largest factor."""


class Equations(NamedTuple):
    """w' = A w + B u + c, and y = S w + P u + d for the outputs that are no states; matrices row by row."""

    states: int  # the number of states
    a: Reals
    b: Reals
    c: Reals
    shown: Reals
    passed: Reals
    constant: Reals


class Scratch(NamedTuple):
    """Memory that the fit and the error of the run use one after the other."""

    matrices: Slots
    vectors: Slots
    rows: Reals


class Part(NamedTuple):
    """The places of the states of one participant among all outputs, and of its inputs among all inputs."""

    states: Integers
    inputs: Integers


class RateFit(NamedTuple):
    """Least squares of the rates of one participant with s states and v = s + inputs + 1 columns.

    Attributes
    ----------
    scales : Reals
        Sizes of states and inputs, by which the columns are divided.
    row, target : Reals
        The equation of one interval: v numbers, and the rates of the s states.
    rates, products : Reals
        Scratch memory for derivatives of states.
    triangle, turns : Reals
        v * v: the decomposition, and scratch memory to solve it.
    right : Reals
        v * s: the rotated right-hand sides.
    factors, best, before : Reals
        v * s: factors of this round, of the best one, of the one before.
    squared : Reals
        s * s: the factors of states, applied twice.
    rows : Reals
        Row and rates of each interval.
    """

    scales: Reals
    row: Reals
    target: Reals
    rates: Reals
    products: Reals
    triangle: Reals
    turns: Reals
    right: Reals
    factors: Reals
    best: Reals
    before: Reals
    squared: Reals
    rows: Reals


def divide_scratch(part, scratch):
    """The arrays of a `RateFit` in scratch memory."""
    states = len(part.states)
    columns = states + len(part.inputs) + 1
    vectors = scratch.vectors
    matrices = scratch.matrices
    return RateFit(
        vectors.view(0, columns),  # scales
        vectors.view(1, columns),  # row
        vectors.view(2, columns),  # target
        vectors.view(3, states),  # rates
        vectors.view(4, columns),  # products
        matrices.view(0, columns * columns),  # triangle
        matrices.view(1, columns * columns),  # turns
        matrices.view(2, columns * states),  # right
        matrices.view(3, columns * states),  # factors
        matrices.view(4, columns * states),  # best
        matrices.view(5, columns * states),  # before
        matrices.view(6, states * states),  # squared
        scratch.rows,
    )


def fit_rates(course, wiring, part, weight, equations, scratch):
    """Fit A, B and c of a participant, into `equations`; False if the factors are not finite.

    Integrals of states depend on their rates, and rates on the equations. Several rounds make both
    consistent; the residual may stay the same for many rounds before it falls.
    """
    fit = divide_scratch(part, scratch)
    measure_sizes(course, wiring, part, weight, fit)
    least = math.inf
    is_known = False
    has_best = False
    for _ in range(MOST_ROUNDS):
        for i in range(len(fit.factors)):
            fit.before[i] = fit.factors[i]
        solve_round(course, wiring, part, is_known, fit)
        residual = largest_residual(fit, len(course.times) - 1, len(part.states))
        if residual - residual != 0.0:
            break
        is_settled = is_known and has_settled(fit, len(part.states))
        is_known = True
        if residual < least or is_settled:
            has_best = True
            least = min(residual, least)
            for i in range(len(fit.factors)):
                fit.best[i] = fit.factors[i]
        if is_settled:
            break
    if has_best:
        store_rates(wiring, part, fit, equations)
    return has_best


def measure_sizes(course, wiring, part, weight, fit):
    """The sizes of states and inputs over the run; those of inputs are divided by their weight."""
    n = len(wiring.owners)
    m = len(wiring.targets)
    states = len(part.states)
    count = len(course.times) - 1
    for x in range(states):
        fit.scales[x] = size_of(course.outputs, part.states[x], n, count + 1)
    for j in range(len(part.inputs)):
        fit.scales[states + j] = size_of(course.means, part.inputs[j], m, count) / weight


def solve_round(course, wiring, part, is_known, fit):
    """The factors by the rows of all intervals; with integrals of states by the factors before, if known."""
    states = len(part.states)
    size = states + len(part.inputs) + 1
    width = size + states
    clear(fit.triangle)
    clear(fit.right)
    multiply(fit.factors, fit.factors, fit.squared, states, states, states)
    for i in range(len(course.times) - 1):
        make_row(course, wiring, part, i, fit)
        if is_known:
            correct_integrals(course, wiring, part, i, fit)
        for j in range(size):
            fit.rows[width * i + j] = fit.row[j]
        for x in range(states):
            fit.rows[width * i + size + x] = fit.target[x]
        add_row(fit.triangle, fit.right, fit.row, fit.target, size, states)
    solve_triangle(fit.triangle, fit.right, fit.factors, fit.turns, size, states, CUT)


def make_row(course, wiring, part, i, fit):
    """The equation of an interval: integrals of states, means of inputs and 1; the target are the rates."""
    n = len(wiring.owners)
    m = len(wiring.targets)
    states = len(part.states)
    h = course.times[i + 1] - course.times[i]
    for x in range(states):
        first = course.outputs[n * i + part.states[x]] / fit.scales[x]
        last = course.outputs[n * (i + 1) + part.states[x]] / fit.scales[x]
        fit.row[x] = 0.5 * (last + first)
        fit.target[x] = (last - first) / h
    for j in range(len(part.inputs)):
        fit.row[states + j] = course.means[m * i + part.inputs[j]] / fit.scales[states + j]
    fit.row[states + len(part.inputs)] = 1.0


def correct_integrals(course, wiring, part, i, fit):
    """Correct integrals of states by Euler and Maclaurin, with derivatives from the factors as known."""
    m = len(wiring.targets)
    states = len(part.states)
    inputs = len(part.inputs)
    h = course.times[i + 1] - course.times[i]
    for x in range(states):
        fit.products[x] = fit.target[x] * h
    for j in range(inputs):
        fit.products[states + j] = course.slopes[m * i + part.inputs[j]] * h / fit.scales[states + j]
    apply_transposed(fit.factors, fit.products, fit.rates, states + inputs, states)
    power = h
    for coefficient in BERNOULLI:
        for x in range(states):
            fit.row[x] -= coefficient * power * fit.rates[x]
        apply_transposed(fit.squared, fit.rates, fit.products[0:states], states, states)
        for x in range(states):
            fit.rates[x] = fit.products[x]
        power = power * h * h


def largest_residual(fit, count, states):
    """The largest residual of the rates in any interval; infinite if it is not finite."""
    width = len(fit.row) + states
    largest = 0.0
    for i in range(count):
        row = fit.rows[width * i : width * i + len(fit.row)]
        apply_transposed(fit.factors, row, fit.products[0:states], len(fit.row), states)
        for x in range(states):
            value = fit.products[x] - fit.rows[width * i + len(fit.row) + x]
            largest = max(largest, abs(value)) if value - value == 0.0 else math.inf
    return largest


def has_settled(fit, states):
    """Whether the factors of states have not changed in this round."""
    change = 0.0
    largest = 0.0
    for i in range(states * states):
        change = max(change, abs(fit.factors[i] - fit.before[i]))
        largest = max(largest, abs(fit.factors[i]))
    return change <= SETTLED * largest


def store_rates(wiring, part, fit, equations):
    """The best factors as A, B and c, in the units of the run."""
    m = len(wiring.targets)
    states = len(part.states)
    inputs = len(part.inputs)
    for x in range(states):
        state = wiring.states[part.states[x]]
        for j in range(states):
            factor = fit.best[states * j + x] * fit.scales[x] / fit.scales[j]
            equations.a[equations.states * state + wiring.states[part.states[j]]] = factor
        for j in range(inputs):
            factor = fit.best[states * (states + j) + x] * fit.scales[x] / fit.scales[states + j]
            equations.b[m * state + part.inputs[j]] = factor
        equations.c[state] = fit.best[states * (states + inputs) + x] * fit.scales[x]


def fit_output(course, wiring, part, y, weight, equations, scratch):
    """Fit how an output that is not a state depends on the states and inputs at the same instant."""
    n = len(wiring.owners)
    m = len(wiring.targets)
    states = len(part.states)
    inputs = len(part.inputs)
    count = len(course.times) - 1
    size = states + inputs + 1
    triangle = scratch.matrices.view(0, size * size)
    right = scratch.matrices.view(1, size)
    factors = scratch.matrices.view(2, size)
    turns = scratch.matrices.view(3, size * size)
    scales = scratch.vectors.view(0, size)
    row = scratch.vectors.view(1, size)
    target = scratch.vectors.view(2, 1)
    for x in range(states):
        scales[x] = size_of(course.outputs, n + part.states[x], n, count)
    for j in range(inputs):
        scales[states + j] = size_of(course.ends, m + part.inputs[j], m, count) / weight
    scales[states + inputs] = 1.0
    clear(triangle)
    clear(right)
    for i in range(1, count + 1):
        for x in range(states):
            row[x] = course.outputs[n * i + part.states[x]] / scales[x]
        for j in range(inputs):
            row[states + j] = course.ends[m * i + part.inputs[j]] / scales[states + j]
        row[states + inputs] = 1.0
        target[0] = course.outputs[n * i + y]
        add_row(triangle, right, row, target, size, 1)
    solve_triangle(triangle, right, factors, turns, size, 1, CUT)
    for x in range(states):
        equations.shown[equations.states * y + wiring.states[part.states[x]]] = factors[x] / scales[x]
    for j in range(inputs):
        equations.passed[m * y + part.inputs[j]] = factors[states + j] / scales[states + j]
    equations.constant[y] = factors[states + inputs]
