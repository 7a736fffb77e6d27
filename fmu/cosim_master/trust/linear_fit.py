"""Linear equations of one participant, fitted by least squares to its own states, inputs and outputs.

All functions are kernel functions. In them n and m count all outputs and all inputs, `states` all states;
i numbers intervals, y outputs, u inputs, x and j the states and inputs of the participant.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cosim.kit import Integers, Reals
from cosim_master.trust.least_squares import (
    add_row,
    apply_transposed,
    clear,
    multiply,
    solve_triangle,
)
from cosim_master.trust.run_in_intervals import size_of

MOST_ROUNDS = 30
"""In which the integrals of states and the equations are made consistent."""
BERNOULLI = (1.0 / 12.0, -1.0 / 720.0, 1.0 / 30240.0, -1.0 / 1209600.0, 1.0 / 47900160.0)
"""Of derivatives of odd order, in the integral over an interval."""
CUT = 1e-13
"""Directions of the data that are smaller than this part of the largest do not count."""
SETTLED = 1e-13
"""Change of the factors in a round, of the largest: the rounds end."""


class Equations(NamedTuple):
    """w' = A w + B u + c, and y = S w + P u + d of the outputs that are no states; matrices row by row."""

    a: Reals
    b: Reals
    c: Reals
    shown: Reals
    passed: Reals
    constant: Reals


class Part(NamedTuple):
    """One participant: places of its states among all outputs, and of its inputs among all inputs."""

    states: Integers
    inputs: Integers


class RateFit(NamedTuple):
    """Least squares of the rates of one participant with s states and v = s + inputs + 1 columns.

    Attributes
    ----------
    scales : Reals
        Sizes of states and inputs, by which the columns are divided.
    row, wanted : Reals
        The equation of one interval: v numbers, and the rates of the s states.
    rates, products : Reals
        Room for derivatives of states.
    triangle, turns : Reals
        v * v: the decomposition, and room to solve it.
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
    wanted: Reals
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


def divide_room(wiring, part, matrices, vectors, rows):
    """The arrays of a `RateFit` in the given room."""
    own = len(part.states)
    size = own + len(part.inputs) + 1
    full_size = len(wiring.owners) + len(wiring.targets) + 1
    square = full_size * full_size
    scales = vectors[0:size]
    row = vectors[size : 2 * size]
    wanted = vectors[2 * size : 3 * size]
    rates = vectors[3 * size : 3 * size + own]
    products = vectors[4 * size : 5 * size]
    triangle = matrices[0 : size * size]
    turns = matrices[4 * square : 4 * square + size * size]
    right = matrices[square : square + size * own]
    factors = matrices[2 * square : 2 * square + size * own]
    best = matrices[3 * square : 3 * square + size * own]
    before = matrices[5 * square : 5 * square + size * own]
    squared = matrices[6 * square : 6 * square + own * own]
    return RateFit(
        scales,
        row,
        wanted,
        rates,
        products,
        triangle,
        turns,
        right,
        factors,
        best,
        before,
        squared,
        rows,
    )


def fit_rates(course, wiring, part, states, weight, equations, matrices, vectors, rows):
    """A, B and c of a participant, into `equations`; False where nothing finite comes out.

    Integrals of states follow from their rates, and rates from the equations: they are made consistent in
    rounds, of which many may pass without progress before it comes.
    """
    fit = divide_room(wiring, part, matrices, vectors, rows)
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
        store_rates(wiring, part, states, fit, equations)
    return has_best


def measure_sizes(course, wiring, part, weight, fit):
    """The sizes of states and inputs over the run; inputs count by their weight."""
    n = len(wiring.owners)
    m = len(wiring.targets)
    own = len(part.states)
    count = len(course.times) - 1
    for x in range(own):
        fit.scales[x] = size_of(course.outputs, part.states[x], n, count + 1)
    for j in range(len(part.inputs)):
        fit.scales[own + j] = size_of(course.means, part.inputs[j], m, count) / weight


def solve_round(course, wiring, part, is_known, fit):
    """The factors by the rows of all intervals; with integrals of states by the factors before, if known."""
    own = len(part.states)
    size = own + len(part.inputs) + 1
    width = size + own
    clear(fit.triangle)
    clear(fit.right)
    multiply(fit.factors, fit.factors, fit.squared, own, own, own)
    for i in range(len(course.times) - 1):
        make_row(course, wiring, part, i, fit)
        if is_known:
            correct_integrals(course, wiring, part, i, fit)
        for j in range(size):
            fit.rows[width * i + j] = fit.row[j]
        for x in range(own):
            fit.rows[width * i + size + x] = fit.wanted[x]
        add_row(fit.triangle, fit.right, fit.row, fit.wanted, size, own)
    solve_triangle(fit.triangle, fit.right, fit.factors, fit.turns, size, own, CUT)


def make_row(course, wiring, part, i, fit):
    """One equation: integrals of states, means of inputs and 1; wanted are the rates of the states."""
    n = len(wiring.owners)
    m = len(wiring.targets)
    own = len(part.states)
    h = course.times[i + 1] - course.times[i]
    for x in range(own):
        first = course.outputs[n * i + part.states[x]] / fit.scales[x]
        last = course.outputs[n * (i + 1) + part.states[x]] / fit.scales[x]
        fit.row[x] = 0.5 * (last + first)
        fit.wanted[x] = (last - first) / h
    for j in range(len(part.inputs)):
        fit.row[own + j] = course.means[m * i + part.inputs[j]] / fit.scales[own + j]
    fit.row[own + len(part.inputs)] = 1.0


def correct_integrals(course, wiring, part, i, fit):
    """Correct integrals of states by Euler and Maclaurin, with derivatives from the factors as known."""
    m = len(wiring.targets)
    own = len(part.states)
    inputs = len(part.inputs)
    h = course.times[i + 1] - course.times[i]
    for x in range(own):
        fit.products[x] = fit.wanted[x] * h
    for j in range(inputs):
        fit.products[own + j] = course.slopes[m * i + part.inputs[j]] * h / fit.scales[own + j]
    apply_transposed(fit.factors, fit.products, fit.rates, own + inputs, own)
    power = h
    for coefficient in BERNOULLI:
        for x in range(own):
            fit.row[x] -= coefficient * power * fit.rates[x]
        apply_transposed(fit.squared, fit.rates, fit.products[0:own], own, own)
        for x in range(own):
            fit.rates[x] = fit.products[x]
        power = power * h * h


def largest_residual(fit, count, own):
    """By how much the factors miss the rates of any interval at most; infinite where they are not finite."""
    width = len(fit.row) + own
    largest = 0.0
    for i in range(count):
        row = fit.rows[width * i : width * i + len(fit.row)]
        apply_transposed(fit.factors, row, fit.products[0:own], len(fit.row), own)
        for x in range(own):
            value = fit.products[x] - fit.rows[width * i + len(fit.row) + x]
            largest = max(largest, abs(value)) if value - value == 0.0 else math.inf
    return largest


def has_settled(fit, own):
    """Whether the factors of states have not changed in this round."""
    change = 0.0
    largest = 0.0
    for i in range(own * own):
        change = max(change, abs(fit.factors[i] - fit.before[i]))
        largest = max(largest, abs(fit.factors[i]))
    return change <= SETTLED * largest


def store_rates(wiring, part, states, fit, equations):
    """The best factors as A, B and c, in the units of the run."""
    m = len(wiring.targets)
    own = len(part.states)
    inputs = len(part.inputs)
    for x in range(own):
        state = wiring.states[part.states[x]]
        for j in range(own):
            factor = fit.best[own * j + x] * fit.scales[x] / fit.scales[j]
            equations.a[states * state + wiring.states[part.states[j]]] = factor
        for j in range(inputs):
            factor = fit.best[own * (own + j) + x] * fit.scales[x] / fit.scales[own + j]
            equations.b[m * state + part.inputs[j]] = factor
        equations.c[state] = fit.best[own * (own + inputs) + x] * fit.scales[x]


def fit_output(course, wiring, part, y, states, weight, equations, matrices, vectors):
    """How an output that is not a state follows the participant's states and inputs at once."""
    n = len(wiring.owners)
    m = len(wiring.targets)
    own = len(part.states)
    inputs = len(part.inputs)
    count = len(course.times) - 1
    size = own + inputs + 1
    square = (n + m + 1) * (n + m + 1)
    triangle = matrices[0 : size * size]
    right = matrices[square : square + size]
    factors = matrices[2 * square : 2 * square + size]
    turns = matrices[3 * square : 3 * square + size * size]
    scales = vectors[0:size]
    row = vectors[size : 2 * size]
    wanted = vectors[2 * size : 2 * size + 1]
    for x in range(own):
        scales[x] = size_of(course.outputs, n + part.states[x], n, count)
    for j in range(inputs):
        scales[own + j] = size_of(course.ends, m + part.inputs[j], m, count) / weight
    scales[own + inputs] = 1.0
    clear(triangle)
    clear(right)
    for i in range(1, count + 1):
        for x in range(own):
            row[x] = course.outputs[n * i + part.states[x]] / scales[x]
        for j in range(inputs):
            row[own + j] = course.ends[m * i + part.inputs[j]] / scales[own + j]
        row[own + inputs] = 1.0
        wanted[0] = course.outputs[n * i + y]
        add_row(triangle, right, row, wanted, size, 1)
    solve_triangle(triangle, right, factors, turns, size, 1, CUT)
    for x in range(own):
        equations.shown[states * y + wiring.states[part.states[x]]] = factors[x] / scales[x]
    for j in range(inputs):
        equations.passed[m * y + part.inputs[j]] = factors[own + j] / scales[own + j]
    equations.constant[y] = factors[own + inputs]
