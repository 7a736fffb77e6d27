"""The error of a coupling whose participants are linear, and show their states."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.sampled_wiring import Wiring

Vector = NDArray[np.float64]
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
POINTS, FEWEST_POINTS, WORK = 6000, 200, 2e7
"""Intervals that are used; so many that times the square of the outputs they are no more than `WORK`."""
MOST_LENGTHS = 64
"""Of intervals that have a matrix of their own."""


class LinearAnswer(NamedTuple):
    """What the equations say.

    Attributes
    ----------
    errors, misfit : ndarray, shape (outputs,)
        The largest of the run: what the coupling did, and what the equations do not explain would do.
    """

    errors: Vector
    misfit: Vector


class Course(NamedTuple):
    """A run in intervals: times, outputs, and the lines along which inputs ran."""

    times: Vector
    outputs: Vector
    means: Vector
    slopes: Vector
    ends: Vector


class Equations(NamedTuple):
    """Of all participants: w' = A w + B u + c, y = C w + D u + k; the states are outputs themselves.

    Attributes
    ----------
    states : ndarray of int
        Which outputs they are.
    """

    states: NDArray[np.intp]
    a: Vector
    b: Vector
    c: Vector
    shown: Vector
    direct: Vector
    constant: Vector


def linear_answers(samples: Samples, wiring: Wiring) -> list[LinearAnswer]:
    """The error of the coupling by equations of the participants that are fitted to the run.

    A participant that shows its states obeys w' = A w + B u + c in each exchange, with an input u that is
    known: it was held, or ran along a line. From the run follow A, B and c, without error if it is linear.
    Coupled without delay, the equations have another solution; how far the run is from it is the answer to
    B times what the inputs were given beyond the outputs *inside* each exchange, which the equations show.

    Parameters
    ----------
    samples : Samples
    wiring : Wiring

    Returns
    -------
    list of LinearAnswer
        With different weights of inputs and states. Empty where a series over an exchange does not converge,
        or nothing finite comes out.
    """
    if not np.all(np.diff(samples.times) > 0.0):
        return []
    course = course_of(samples, wiring.sources)
    answers = []
    with np.errstate(all="ignore"):
        for weight in WEIGHTS:
            found = _equations(course, wiring, weight)
            answer = None if found is None else _answer(course, wiring, found)
            if answer is None or not np.isfinite([*answer]).all():
                return []
            answers.append(answer)
    return answers


def course_of(samples: Samples, sources: NDArray[np.intp], most: int = POINTS) -> Course:
    """Means and first moments of the inputs over intervals that are not too many."""
    width = samples.outputs.shape[1] + samples.inputs.shape[1]
    points = min(most, max(FEWEST_POINTS, int(WORK / width**2)))
    every = -(-(samples.times.size - 1) // points)
    chosen = np.unique(np.r_[np.arange(0, samples.times.size, every), samples.times.size - 1])
    times, outputs = samples.times[chosen], samples.outputs[chosen]
    lengths = np.diff(times)[:, None]
    means = np.diff(samples.inputs[chosen], axis=0) / lengths
    # teeth are moments beyond those of the outputs' lines, times h² / 12
    fine = np.diff(samples.times)[:, None]
    rates = np.diff(samples.outputs[:, sources], axis=0) / fine
    slopes = 12.0 * np.diff(samples.teeth, axis=0) / fine**3 + rates
    if every > 1:
        middles = 0.5 * (samples.times[1:] + samples.times[:-1])[:, None]
        own = np.diff(samples.inputs, axis=0)
        moments = np.concatenate(
            [np.zeros((1, own.shape[1])), np.cumsum(own * middles + slopes * fine**3 / 12.0, axis=0)]
        )
        centre = 0.5 * (times[1:] + times[:-1])[:, None]
        slopes = 12.0 * (np.diff(moments[chosen], axis=0) - centre * means * lengths) / lengths**3
    return Course(times, outputs, means, slopes, samples.ends[chosen])


def _equations(course: Course, wiring: Wiring, weight: float) -> Equations | None:
    size, inputs = course.outputs.shape[1], wiring.sources.size
    states = np.array([place for place in wiring.driven if not wiring.direct[place]], dtype=np.intp)
    at = {place: i for i, place in enumerate(states.tolist())}
    n = states.size
    a, b, c = np.zeros((n, n)), np.zeros((n, inputs)), np.zeros(n)
    shown, passed, constant = np.zeros((size, n)), np.zeros((size, inputs)), np.zeros(size)
    shown[states, np.arange(n)] = 1.0
    for mine, given, _ in wiring.parts:
        if not given:
            continue
        own = [place for place in mine if place in at]
        rows = [at[place] for place in own]
        if own:
            fit = _fitted_rates(course, own, given, weight)
            if fit is None:
                return None
            a[np.ix_(rows, rows)], b[np.ix_(rows, given)], c[rows] = fit
        for place in mine:
            if place in at:
                continue
            factors = _fitted_value(course, place, own, given, weight)
            shown[place, rows], passed[place, given] = factors[: len(own)], factors[len(own) : -1]
            constant[place] = factors[-1]
    return Equations(states, a, b, c, shown, passed, constant)


def _fitted_rates(
    course: Course, own: list[int], given: list[int], weight: float
) -> tuple[Vector, Vector, Vector] | None:
    """A, B and c of a participant."""
    w = course.outputs[:, own]
    u, s = course.means[:, given], course.slopes[:, given]
    h = np.diff(course.times)[:, None]
    scale, size = sizes_of(w), sizes_of(u) / weight
    difference = np.diff(w, axis=0) / scale / h
    middle, change = 0.5 * (w[1:] + w[:-1]) / scale, np.diff(w, axis=0) / scale
    best, least = None, math.inf
    a = b = None
    for _ in range(MOST_ROUNDS):
        integral = middle
        if a is not None and b is not None:
            # Euler and Maclaurin: the derivatives at both ends follow from the equations
            rates, power = change @ a.T + (s * h / size) @ b.T, h
            for coefficient in BERNOULLI:
                integral = integral - coefficient * power * rates
                rates, power = rates @ a.T @ a.T, power * h * h
        data = np.hstack([integral, u / size, np.ones_like(h)])
        factors = np.linalg.lstsq(data, difference, rcond=CUT)[0]
        missed = float(np.abs(data @ factors - difference).max(initial=0.0))
        new_a, new_b = factors[: len(own)].T, factors[len(own) : -1].T
        if not np.isfinite(missed):
            break
        change_of = math.inf if a is None else float(np.abs(new_a - a).max(initial=0.0))
        a, b = new_a, new_b
        if missed < least:
            best, least = factors, missed
        if change_of <= 1e-13 * float(np.abs(a).max(initial=0.0)):
            best = factors
            break
    if best is None:
        return None
    a, b, c = best[: len(own)].T, best[len(own) : -1].T, best[-1]
    return a * scale[:, None] / scale, b * scale[:, None] / size, c * scale


def sizes_of(values: Vector) -> Vector:
    """How far each column goes; 1 where it stays at zero."""
    found = np.ptp(values, axis=0)
    largest = np.abs(values).max(axis=0)
    found = np.where(found > 1e-12 * largest, found, largest)
    return np.where(found > 0.0, found, 1.0)


def _fitted_value(course: Course, place: int, own: list[int], given: list[int], weight: float) -> Vector:
    """How an output follows states and inputs at once."""
    data = np.hstack([course.outputs[1:, own], course.ends[1:, given], np.ones((course.times.size - 1, 1))])
    wanted = course.outputs[1:, place]
    sizes = sizes_of(data)
    sizes[len(own) : -1] /= weight
    return np.linalg.lstsq(data / sizes, wanted, rcond=CUT)[0] / sizes


def _answer(course: Course, wiring: Wiring, found: Equations) -> LinearAnswer | None:
    inputs, size = wiring.sources.size, course.outputs.shape[1]
    h = np.diff(course.times)[:, None]
    select = np.zeros((inputs, size))
    select[np.arange(inputs), wiring.sources] = 1.0
    free = np.setdiff1d(np.arange(size), wiring.driven)
    inner = select.copy()
    inner[:, free] = 0.0
    solve = np.linalg.inv(np.eye(inputs) - inner @ found.direct)
    follow = solve @ inner @ found.shown
    outer = (solve @ select)[:, free]
    # what inputs of the coupled equations get beside states: constants, and outputs that depend on nothing
    still = solve @ inner @ found.constant
    w = course.outputs[:-1, found.states]
    given = [course.means - 0.5 * h * course.slopes, course.slopes]
    beyond = [value.copy() for value in given]
    beyond[0] -= still
    for power, value in enumerate(pieces_of(course, free, wiring)):
        if power == len(beyond):
            beyond.append(np.zeros_like(h * still))
        beyond[power] = beyond[power] - math.factorial(power) * value @ outer.T
    whole = found.a + found.b @ follow
    rate = max(_rate(found.a), _rate(whole))
    if rate * float(h.max()) > LONGEST:
        return None
    # derivatives at the start of each interval
    state, error = w, np.zeros_like(w)
    reached, pushed = w.copy(), np.zeros_like(w)
    factor = np.ones_like(h)
    for j in range(ORDER):
        force = -state @ follow.T
        if j < len(beyond):
            force = force + beyond[j]
        push = given[j] @ found.b.T if j < 2 else 0.0
        error, state = (
            error @ whole.T + force @ found.b.T,
            state @ found.a.T + push + (found.c if j == 0 else 0.0),
        )
        factor = factor * h / (j + 1)
        reached, pushed = reached + factor * state, pushed + factor * error
    # what the equations do not explain: of states in an interval, of other outputs at its ends
    static = course.outputs - (
        course.outputs[:, found.states] @ found.shown.T + course.ends @ found.direct.T + found.constant
    )
    static[:, free] = static[0] = 0.0  # nothing was given before the first exchange
    unexplained = static @ (solve @ inner).T
    missed = course.outputs[1:, found.states] - reached
    missed = np.abs(missed) + 0.5 * h * np.abs((unexplained[1:] + unexplained[:-1]) @ found.b.T)
    errors, misfit = _propagated(whole, h.ravel(), np.stack([pushed, missed], axis=2))
    given_still = course.outputs[1:, found.states] @ follow.T + still + course.outputs[1:, free] @ outer.T
    ends = course.ends[1:] - given_still + errors[1:] @ follow.T
    shown = errors[1:] @ found.shown.T + ends @ found.direct.T
    shown[:, free] = 0.0
    astray = misfit[1:] @ (found.shown + found.direct @ follow).T
    astray = np.abs(astray) + np.abs(static[1:]) + np.abs(unexplained[1:] @ found.direct.T)
    return LinearAnswer(np.abs(shown).max(axis=0), astray.max(axis=0))


def _propagated(whole: Vector, lengths: Vector, pushes: Vector) -> tuple[Vector, Vector]:
    """What pushes at the ends of intervals come to, each column for itself."""
    n = whole.shape[0]
    values = np.zeros((lengths.size + 1, n, pushes.shape[2]))
    rounded = np.round(lengths / lengths.max(), 12)
    places, of_each = np.unique(rounded, return_index=True, return_inverse=True)[1:]
    if places.size <= MOST_LENGTHS:
        maps = [_exponential(whole * lengths[place]) for place in places]
        for k, place in enumerate(of_each.tolist()):
            values[k + 1] = maps[place] @ values[k] + pushes[k]
    else:
        for k, length in enumerate(lengths.tolist()):
            term = values[k]
            values[k + 1] = term + pushes[k]
            for j in range(1, ORDER + 6):
                term = whole @ term * (length / j)
                values[k + 1] += term
    return values[:, :, 0], values[:, :, 1]


def _exponential(matrix: Vector) -> Vector:
    total = term = np.eye(len(matrix))
    for j in range(1, ORDER + 6):
        term = term @ matrix / j
        total = total + term
    return total


def _rate(matrix: Vector) -> float:
    return float(np.abs(np.linalg.eigvals(matrix)).max(initial=0.0)) if matrix.size else 0.0


def pieces_of(course: Course, free: NDArray[np.intp], wiring: Wiring) -> list[Vector]:
    """Coefficients of outputs that depend on nothing, by powers of the time in each interval."""
    values, lengths = course.outputs[:, free], np.diff(course.times)[:, None]
    found = _cubics(course.times, values)
    plain = np.isin(free, np.r_[wiring.held, wiring.straight])
    if not plain.any():
        return found
    slopes = np.where(np.isin(free, wiring.straight), np.diff(values, axis=0) / lengths, 0.0)
    lines = [values[:-1], slopes, *(np.zeros_like(slopes) for _ in found[2:])]
    return [np.where(plain, line, cubic) for line, cubic in zip(lines, found, strict=True)]


def _cubics(times: Vector, values: Vector) -> list[Vector]:
    """Those of cubics through four points about each interval."""
    count = times.size - 1
    if count < 3:
        slope = np.diff(values, axis=0) / np.diff(times)[:, None]
        return [values[:-1], slope]
    first = np.clip(np.arange(count) - 1, 0, count - 3)[:, None] + np.arange(4)
    lengths = np.diff(times)[:, None]
    t = (times[first] - times[:-1, None]) / lengths
    found = np.linalg.solve(t[:, :, None] ** np.arange(4), values[first]).transpose(1, 0, 2)
    return [found[power] / lengths**power for power in range(4)]
