"""The error of a coupling of linear participants that show their states.

A participant that shows its states obeys w' = A w + B u + c in each exchange, with an input u that is known:
it was held, or ran along a line. From the run follow A, B and c, without error if it is linear. Coupled
without delay, the equations have another solution; how far the run is from it is the answer to B times what
the inputs were given beyond the outputs *inside* each exchange, which the equations show.

All functions are kernel functions: libraries without Python call them as well.
"""

from __future__ import annotations

import math
from typing import NamedTuple

from cosim.kit import Reals
from cosim_master.trust.least_squares import (
    add_row,
    apply,
    apply_transposed,
    clear,
    exponential,
    invert,
    multiply,
    solve_triangle,
    spectral_radius,
)
from cosim_master.trust.run_in_intervals import POWERS, piece_of, size_of

ORDER = 12
"""Of the series over an interval."""
MOST_ROUNDS = 30
"""In which the integrals of states and the equations are made consistent."""
BERNOULLI = (1.0 / 12.0, -1.0 / 720.0, 1.0 / 30240.0, -1.0 / 1209600.0, 1.0 / 47900160.0)
"""Of derivatives of odd order, in the integral over an interval."""
WEIGHTS = (1e-3, 1.0, 1e3)
"""Of inputs beside states: where one follows from the other, the run does not show which of them acts."""
CUT = 1e-13
"""Directions of the data that are smaller than this part of the largest do not count."""
LONGEST = 3.0
"""Rate of the fastest state times the interval: beyond, a series says nothing."""
SETTLED, SMALL_CHANGE = 1e-13, 1e-12


class Equations(NamedTuple):
    """w' = A w + B u + c, and y = S w + P u + d of the outputs that are no states; matrices row by row."""

    a: Reals
    b: Reals
    c: Reals
    shown: Reals
    passed: Reals
    constant: Reals


class Fit(NamedTuple):
    """Least squares of one participant: the sizes of states and inputs, and the equation that is added."""

    scales: Reals
    row: Reals
    wanted: Reals
    rates: Reals
    once: Reals


def room_needed(intervals, outputs, inputs):
    """Numbers for the equations, of a course of so many intervals."""
    wide = outputs + inputs + 1
    return 12 * wide * wide + 40 * wide + 2 * intervals * wide


def linear_answer(course, k, room, direct, weight, errors, misfit):
    """The largest errors by equations with one weight of inputs beside states; False where there are none.

    Parameters
    ----------
    course : Intervals
    k : Wired
    room : view
    direct : view, outputs * inputs
        1 where an output is taken to follow an input at once.
    weight : float
    errors, misfit : view
        Of the outputs: what the coupling did, and what the equations do not explain would do.
    """
    n = len(k.owners)
    m = len(k.targets)
    square = (n + m + 1) * (n + m + 1)
    vectors = room[12 * square : 12 * square + 40 * (n + m + 1)]
    data = room[12 * square + 40 * (n + m + 1) : len(room)]
    e = Equations(
        room[0:square],
        room[square : 2 * square],
        vectors[0:n],
        room[2 * square : 3 * square],
        room[3 * square : 4 * square],
        vectors[n : 2 * n],
    )
    rest = room[4 * square : 12 * square]
    for part in (e.a, e.b, e.c, e.shown, e.passed, e.constant):
        clear(part)
    states = 0
    for y in range(n):
        k.states[y] = -1
        if k.driven[y] != 0 and not follows_any(direct, y, m):
            k.states[y] = states
            states += 1
    for y in range(n):
        if k.states[y] >= 0:
            e.shown[states * y + k.states[y]] = 1.0
    more = vectors[2 * n : len(vectors)]
    for owner in range(n + m):
        if not has_inputs(k, owner):
            continue
        own = list_states(k, owner)
        given = list_inputs(k, owner)
        if own > 0 and not fit_rates(course, k, own, given, states, weight, e, rest, more, data):
            return False
        for y in range(n):
            if k.owners[y] == owner and k.states[y] < 0:
                fit_value(course, k, y, own, given, states, weight, e, rest, more)
    return follow_equations(course, k, states, e, rest, more, errors, misfit)


def has_inputs(k, owner):
    """Whether a participant has inputs that others feed."""
    for u in range(len(k.targets)):  # noqa: SIM110
        if k.targets[u] == owner:
            return True
    return False


def follows_any(direct, y, m):
    """Whether an output follows any input at once."""
    for u in range(m):  # noqa: SIM110
        if direct[m * y + u] != 0:
            return True
    return False


def list_states(k, owner):
    """List the places of a participant's states among all outputs; how many there are."""
    own = 0
    for y in range(len(k.owners)):
        if k.owners[y] == owner and k.states[y] >= 0:
            k.own[own] = y
            own += 1
    return own


def list_inputs(k, owner):
    """List the places of a participant's inputs; how many there are."""
    given = 0
    for u in range(len(k.targets)):
        if k.targets[u] == owner:
            k.given[given] = u
            given += 1
    return given


def fit_rates(course, k, own, given, states, weight, e, rest, more, data):
    """A, B and c of the participant that is listed; False where nothing finite comes out.

    Integrals of states follow from their rates, and rates from the equations: they are made consistent in
    rounds, of which many may pass without progress before it comes.
    """
    n = len(k.owners)
    m = len(k.targets)
    count = len(course.times) - 1
    size = own + given + 1
    square = (n + m + 1) * (n + m + 1)
    triangle = rest[0 : size * size]
    right = rest[square : square + size * own]
    found = rest[2 * square : 2 * square + size * own]
    best = rest[3 * square : 3 * square + size * own]
    turns = rest[4 * square : 4 * square + size * size]
    before = rest[5 * square : 5 * square + size * own]
    twice = rest[6 * square : 6 * square + own * own]
    width = size + own
    fit = Fit(
        more[0:size],
        more[size : 2 * size],
        more[2 * size : 3 * size],
        more[3 * size : 3 * size + own],
        more[4 * size : 5 * size],
    )
    scales = fit.scales
    for i in range(own):
        scales[i] = size_of(course.outputs, k.own[i], n, count + 1)
    for j in range(given):
        scales[own + j] = size_of(course.means, k.given[j], m, count) / weight
    least = math.inf
    is_known = False
    has_best = False
    for _ in range(MOST_ROUNDS):
        clear(triangle)
        clear(right)
        multiply(found, found, twice, own, own, own)
        for i in range(count):
            put_rates(course, k, i, own, given, fit)
            if is_known:
                correct_integrals(course, k, i, own, given, fit, found, twice)
            for j in range(size):
                data[width * i + j] = fit.row[j]
            for x in range(own):
                data[width * i + size + x] = fit.wanted[x]
            add_row(triangle, right, fit.row, fit.wanted, size, own)
        for i in range(size * own):
            before[i] = found[i]
        solve_triangle(triangle, right, found, turns, size, own, CUT)
        missed = 0.0
        for i in range(count):
            apply_transposed(found, data[width * i : width * i + size], fit.once[0:own], size, own)
            for x in range(own):
                value = fit.once[x] - data[width * i + size + x]
                missed = max(missed, abs(value)) if value - value == 0.0 else math.inf
        if missed - missed != 0.0:
            break
        change = 0.0
        largest = 0.0
        for i in range(own * own):
            change = max(change, abs(found[i] - before[i]))
            largest = max(largest, abs(found[i]))
        is_settled = is_known and change <= SETTLED * largest
        is_known = True
        if missed < least or is_settled:
            has_best = True
            least = min(missed, least)
            for i in range(size * own):
                best[i] = found[i]
        if is_settled:
            break
    if not has_best:
        return False
    for i in range(own):
        state = k.states[k.own[i]]
        for j in range(own):
            e.a[states * state + k.states[k.own[j]]] = best[own * j + i] * scales[i] / scales[j]
        for j in range(given):
            e.b[m * state + k.given[j]] = best[own * (own + j) + i] * scales[i] / scales[own + j]
        e.c[state] = best[own * (own + given) + i] * scales[i]
    return True


def put_rates(course, k, i, own, given, fit):
    """One equation: integrals of states, means of inputs and 1; wanted are the rates of the states."""
    n = len(k.owners)
    m = len(k.targets)
    h = course.times[i + 1] - course.times[i]
    for x in range(own):
        first = course.outputs[n * i + k.own[x]] / fit.scales[x]
        last = course.outputs[n * (i + 1) + k.own[x]] / fit.scales[x]
        fit.row[x] = 0.5 * (last + first)
        fit.wanted[x] = (last - first) / h
    for j in range(given):
        fit.row[own + j] = course.means[m * i + k.given[j]] / fit.scales[own + j]
    fit.row[own + given] = 1.0


def correct_integrals(course, k, i, own, given, fit, found, twice):
    """Correct integrals of states by Euler and Maclaurin, with derivatives from the equations as known."""
    m = len(k.targets)
    h = course.times[i + 1] - course.times[i]
    once = fit.once
    rates = fit.rates
    for j in range(own):
        once[j] = fit.wanted[j] * h
    for j in range(given):
        once[own + j] = course.slopes[m * i + k.given[j]] * h / fit.scales[own + j]
    apply_transposed(found, once, rates, own + given, own)
    power = h
    for coefficient in BERNOULLI:
        for x in range(own):
            fit.row[x] -= coefficient * power * rates[x]
        apply_transposed(twice, rates, once[0:own], own, own)
        for x in range(own):
            rates[x] = once[x]
        power = power * h * h


def fit_value(course, k, y, own, given, states, weight, e, rest, more):
    """How an output follows states and inputs at once."""
    n = len(k.owners)
    m = len(k.targets)
    count = len(course.times) - 1
    size = own + given + 1
    square = (n + m + 1) * (n + m + 1)
    triangle = rest[0 : size * size]
    right = rest[square : square + size]
    found = rest[2 * square : 2 * square + size]
    turns = rest[3 * square : 3 * square + size * size]
    scales = more[0:size]
    row = more[size : 2 * size]
    wanted = more[2 * size : 2 * size + 1]
    for j in range(own):
        scales[j] = size_of(course.outputs, n + k.own[j], n, count)
    for j in range(given):
        scales[own + j] = size_of(course.ends, m + k.given[j], m, count) / weight
    scales[own + given] = 1.0
    clear(triangle)
    clear(right)
    for i in range(1, count + 1):
        for j in range(own):
            row[j] = course.outputs[n * i + k.own[j]] / scales[j]
        for j in range(given):
            row[own + j] = course.ends[m * i + k.given[j]] / scales[own + j]
        row[own + given] = 1.0
        wanted[0] = course.outputs[n * i + y]
        add_row(triangle, right, row, wanted, size, 1)
    solve_triangle(triangle, right, found, turns, size, 1, CUT)
    for j in range(own):
        e.shown[states * y + k.states[k.own[j]]] = found[j] / scales[j]
    for j in range(given):
        e.passed[m * y + k.given[j]] = found[own + j] / scales[own + j]
    e.constant[y] = found[own + given]


def follow_equations(course, k, states, e, rest, more, errors, misfit):
    """The coupled equations along the run; False where a series over an interval does not converge."""
    a, b, shown, passed, constant = e.a, e.b, e.shown, e.passed, e.constant
    n = len(k.owners)
    m = len(k.targets)
    square = (n + m + 1) * (n + m + 1)
    count = len(course.times) - 1
    solve = rest[0 : m * m]
    follow = rest[square : square + m * states]
    whole = rest[2 * square : 2 * square + states * states]
    outer = rest[3 * square : 3 * square + m * n]
    inside = rest[4 * square : 4 * square + m * n]  # what unexplained outputs do to inputs
    one = rest[5 * square : 6 * square]
    two = rest[6 * square : 7 * square]
    map_at = rest[7 * square : 7 * square + states * states]
    for u in range(m):
        for v in range(m):
            is_inner = k.driven[k.sources[u]] != 0
            one[m * u + v] = (1.0 if u == v else 0.0) - (passed[m * k.sources[u] + v] if is_inner else 0.0)
    if not invert(one[0 : m * m], solve, m):
        return False
    clear(outer)
    clear(inside)
    for u in range(m):
        for v in range(m):
            y = k.sources[v]
            if k.driven[y] != 0:
                inside[n * u + y] += solve[m * u + v]
            else:
                outer[n * u + y] += solve[m * u + v]
    multiply(inside, shown, follow, m, n, states)
    multiply(b, follow, whole, states, m, states)
    for i in range(states * states):
        whole[i] += a[i]
    longest = 0.0
    for i in range(count):
        longest = max(longest, course.times[i + 1] - course.times[i])
    rate = max(spectral_radius(a, one, two, states), spectral_radius(whole, one, two, states))
    if not rate * longest <= LONGEST:
        return False
    wide = n + m + 1
    state = more[0:states]
    error = more[wide : wide + states]
    reached = more[2 * wide : 2 * wide + states]
    pushed = more[3 * wide : 3 * wide + states]
    total = more[4 * wide : 4 * wide + states]
    astray = more[5 * wide : 5 * wide + states]
    off = more[6 * wide : 6 * wide + states]
    slip = more[7 * wide : 7 * wide + states]
    still = more[8 * wide : 8 * wide + m]
    force = more[9 * wide : 9 * wide + m]
    unexplained = more[10 * wide : 10 * wide + m]
    before = more[11 * wide : 11 * wide + m]
    static = more[12 * wide : 12 * wide + n]
    shift = more[13 * wide : 13 * wide + n]
    beyond = more[14 * wide : 14 * wide + POWERS * m]
    apply(inside, constant, still, m, n)
    clear(total)
    clear(astray)
    clear(errors)
    clear(misfit)
    clear(before)
    known_length = 0.0
    for i in range(count):
        h = course.times[i + 1] - course.times[i]
        put_beyond(course, k, i, still, outer, beyond)
        for x in range(n):
            if k.states[x] >= 0:
                state[k.states[x]] = course.outputs[n * i + x]
                reached[k.states[x]] = course.outputs[n * i + x]
        clear(error)
        clear(pushed)
        factor = 1.0
        for j in range(ORDER):
            apply(follow, state, force, m, states)
            for u in range(m):
                force[u] = (beyond[m * j + u] if j < POWERS else 0.0) - force[u]
            apply(whole, error, off, states, states)
            apply(b, force, slip, states, m)
            for x in range(states):
                error[x] = off[x] + slip[x]
            apply(a, state, off, states, states)
            clear(slip)
            if j < 2:
                for u in range(m):
                    slope = course.slopes[m * i + u]
                    force[u] = course.means[m * i + u] - 0.5 * h * slope if j == 0 else slope
                apply(b, force, slip, states, m)
            factor = factor * h / (j + 1)
            for x in range(states):
                state[x] = off[x] + slip[x] + (e.c[x] if j == 0 else 0.0)
                reached[x] += factor * state[x]
                pushed[x] += factor * error[x]
        # what the equations do not explain
        for x in range(n):
            static[x] = 0.0
            if k.driven[x] != 0 and k.states[x] < 0:
                value = course.outputs[n * (i + 1) + x] - constant[x]
                for y in range(n):
                    if k.states[y] >= 0:
                        value -= shown[states * x + k.states[y]] * course.outputs[n * (i + 1) + y]
                for u in range(m):
                    value -= passed[m * x + u] * course.ends[m * (i + 1) + u]
                static[x] = value
        apply(inside, static, unexplained, m, n)
        for u in range(m):
            force[u] = unexplained[u] + before[u]
            before[u] = unexplained[u]
        apply(b, force, slip, states, m)
        if not abs(h - known_length) <= SMALL_CHANGE * longest:
            exponential(whole, h, ORDER + 6, map_at, one, two, states)
            known_length = h
        apply(map_at, total, state, states, states)
        apply(map_at, astray, off, states, states)
        for x in range(n):
            if k.states[x] >= 0:
                z = k.states[x]
                total[z] = state[z] + pushed[z]
                missed = abs(course.outputs[n * (i + 1) + x] - reached[z])
                astray[z] = off[z] + missed + 0.5 * h * abs(slip[z])
        # what is shown of that
        for u in range(m):
            value = course.ends[m * (i + 1) + u] - still[u]
            bent = 0.0
            for x in range(n):
                if k.states[x] >= 0:
                    z = k.states[x]
                    value += follow[states * u + z] * (total[z] - course.outputs[n * (i + 1) + x])
                    bent += follow[states * u + z] * astray[z]
                value -= outer[n * u + x] * course.outputs[n * (i + 1) + x]
            force[u] = value
            beyond[u] = bent
        for x in range(n):
            value = 0.0
            missed = 0.0
            direct = 0.0
            for z in range(states):
                value += shown[states * x + z] * total[z]
                missed += shown[states * x + z] * astray[z]
            for u in range(m):
                value += passed[m * x + u] * force[u]
                missed += passed[m * x + u] * beyond[u]
                direct += passed[m * x + u] * unexplained[u]
            shift[x] = abs(missed) + abs(static[x]) + abs(direct)
            if k.driven[x] == 0:
                value = 0.0
            if value - value != 0.0 or shift[x] - shift[x] != 0.0:
                return False
            errors[x] = max(errors[x], abs(value))
            misfit[x] = max(misfit[x], shift[x])
    return True


def put_beyond(course, k, i, still, outer, beyond):
    """What the inputs were given beside the states, by derivatives at the start of an interval."""
    n = len(k.owners)
    m = len(k.targets)
    h = course.times[i + 1] - course.times[i]
    clear(beyond)
    for u in range(m):
        beyond[u] = course.means[m * i + u] - 0.5 * h * course.slopes[m * i + u] - still[u]
        beyond[m + u] = course.slopes[m * i + u]
    for y in range(n):
        if k.driven[y] != 0:
            continue
        piece = piece_of(course, k, i, y)
        factor = 1.0
        for power in range(POWERS):
            factor = factor * max(power, 1)
            for u in range(m):
                beyond[m * power + u] -= factor * piece[power] * outer[n * u + y]
