"""The error of a coupling whose participants show their states and are polynomials of them."""

from __future__ import annotations

from itertools import combinations_with_replacement
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.explained_bars import EXPLAINED_BENT, explains
from cosim_master.trust.explained_run import IntervalRun, run_in_intervals_of, spans_of
from cosim_master.trust.linear_equations import WEIGHTS
from cosim_master.trust.linear_fit import CUT
from cosim_master.trust.sampled_wiring import Wiring

Vector = NDArray[np.float64]
SHAPES = ((2, 1), (3, 1), (2, 2), (3, 2))
"""Degrees of products of states, and of products with one input: the first ones that explain a run count."""
ROUNDS = 40
"""In which the integrals of monomials and the equations are made consistent."""
SUBSTEPS = 4
"""Steps of the Runge-Kutta method in an interval."""
BOOLE = (7.0 / 90.0, 32.0 / 90.0, 12.0 / 90.0, 32.0 / 90.0, 7.0 / 90.0)
"""Weights of the values at the substeps in the mean."""
POINTS, FEWEST = 2000, 3
"""Intervals that are used, and the least number of them for each monomial."""
MOST_STATES = 24
INDEPENDENT = 1e-7
"""Of the range: an output that follows from others up to less is none of the states."""


class PolynomialAnswer(NamedTuple):
    """The outcome of the equations.

    Attributes
    ----------
    errors, misfit : ndarray, shape (outputs,)
        The largest of the run: what the coupling did, and what the equations do not explain would do.
    """

    errors: Vector
    misfit: Vector


class Monomials:
    """Products of the states, of the inputs, and of both, up to some degree; and their slopes.

    Parameters
    ----------
    states, inputs : int
    degree : int
        The degree of the products of states.
    mixed : int
        The degree of products with one input; 1: inputs alone.
    """

    def __init__(self, states: int, inputs: int, degree: int, mixed: int) -> None:
        every = range(degree + 1)
        self.terms: list[tuple[int, ...]] = [
            term for d in every for term in combinations_with_replacement(range(states), d)
        ]
        self.terms += [
            (*term, states + i)
            for i in range(inputs)
            for d in range(mixed)
            for term in combinations_with_replacement(range(states), d)
        ]

    def values(self, z: Vector) -> Vector:
        """The monomials of variables: from shape (..., variables) to (..., monomials)."""
        return np.stack([_product(z, term) for term in self.terms], axis=-1)

    def slopes(self, z: Vector) -> Vector:
        """Derivatives of the monomials by the variables: shape (..., monomials, variables)."""
        by_variable = np.zeros((*z.shape[:-1], len(self.terms), z.shape[-1]))
        for j, term in enumerate(self.terms):
            for place, variable in enumerate(term):
                by_variable[..., j, variable] += _product(z, (*term[:place], *term[place + 1 :]))
        return by_variable


def _product(z: Vector, term: tuple[int, ...]) -> Vector:
    product = np.ones(z.shape[:-1])
    for variable in term:
        product = product * z[..., variable]
    return product


def _places(listed: list[int]) -> NDArray[np.intp]:
    """Places as an index array; numpy would take an empty list for reals."""
    return np.array(listed, dtype=np.intp)


class Fit(NamedTuple):
    """Equations of one participant: factors of monomials of its states and inputs, in their ranges."""

    rows: list[int]
    """The places of its states among all states."""
    given: list[int]
    """The places of its inputs among all inputs."""
    monomials: Monomials
    factors: Vector
    centre: Vector
    """Mean of each variable; the monomials are of ``(variable - centre) / size``."""
    size: Vector

    def scaled(self, w: Vector, u: Vector) -> Vector:
        """Variables of the monomials, from all states and all inputs."""
        return (
            np.concatenate([w[..., _places(self.rows)], u[..., _places(self.given)]], axis=-1) - self.centre
        ) / self.size


class Shown(NamedTuple):
    """An output that is not a state: monomials of the states, and a line of the inputs that act at once."""

    place: int
    rows: list[int]
    given: list[int]
    monomials: Monomials
    factors: Vector
    direct: Vector
    centre: Vector
    size: Vector

    def value(self, w: Vector) -> Vector:
        """The output at states `w`, without the line of the inputs."""
        return self.monomials.values((w[..., _places(self.rows)] - self.centre) / self.size) @ self.factors

    def slope(self, w: Vector) -> Vector:
        """Derivatives by its states."""
        slopes = self.monomials.slopes((w[..., _places(self.rows)] - self.centre) / self.size)
        return np.einsum("...jn,j->...n", slopes, self.factors) / self.size


def polynomial_answers(samples: Samples, wiring: Wiring, spans: Vector) -> list[PolynomialAnswer]:
    """The answers of equations with polynomial right-hand sides that fit the samples.

    The error follows the equations that are linear about the run: it is right where it is small.

    Parameters
    ----------
    samples : Samples
    wiring : Wiring
    spans : ndarray, shape (outputs,)
        Ranges of the outputs.

    Returns
    -------
    list of PolynomialAnswer
        Of the simplest equations whose answers all explain the run, with different weights of inputs and
        states; empty where there are none, or too many states.
    """
    if not np.all(np.diff(samples.times) > 0.0):
        return []
    course = run_in_intervals_of(samples, wiring, POINTS)
    with np.errstate(all="ignore"):
        for shape in SHAPES:
            answers = []
            for weight in WEIGHTS:
                coupling = _PolynomialCoupling.fitted(course, wiring, shape, weight)
                answer = None if coupling is None else coupling.answer()
                if answer is None or not explains(answer.errors, answer.misfit, spans, EXPLAINED_BENT):
                    break
                answers.append(answer)
            if len(answers) == len(WEIGHTS):
                return answers
    return []


class _PolynomialCoupling:
    """The equations of all participants, coupled."""

    def __init__(
        self,
        course: IntervalRun,
        wiring: Wiring,
        states: NDArray[np.intp],
        fits: list[Fit],
        shown: list[Shown],
    ) -> None:
        self._course, self._wiring, self._states = course, wiring, states
        self._fits, self._shown = fits, shown
        size, inputs = course.outputs.shape[1], wiring.sources.size
        self._free = np.setdiff1d(np.arange(size), wiring.driven)
        select = np.zeros((inputs, size))
        select[np.arange(inputs), wiring.sources] = 1.0
        inner = select.copy()
        inner[:, self._free] = 0.0
        self._direct = np.zeros((size, inputs))
        for each in shown:
            self._direct[each.place, _places(each.given)] = each.direct
        # inputs that act at once on outputs that feed inputs: solved for, so that _inner and _outer give all
        # inputs from the outputs that states determine, and from those that the run gives (_free)
        solve = np.linalg.inv(np.eye(inputs) - inner @ self._direct)
        self._inner, self._outer = solve @ inner, (solve @ select)[:, self._free]

    @classmethod
    def fitted(
        cls, course: IntervalRun, wiring: Wiring, shape: tuple[int, int], weight: float
    ) -> _PolynomialCoupling | None:
        """Fit the equations of every participant; None where there are too many states for the run.

        The states are the outputs on which no input acts at once, but for those that follow from others.
        """
        states: list[int] = []
        for part in wiring.parts:
            candidates = [place for place in part.outputs if not wiring.direct[place]]
            states += _independent(course.outputs, candidates) if part.inputs else []
        at = {place: i for i, place in enumerate(states)}
        if not states or len(states) > MOST_STATES:
            return None
        w, count = course.outputs[:, states], course.times.size - 1
        fits, shown = [], []
        for part in wiring.parts:
            if not part.inputs:
                continue
            rows = [at[place] for place in part.outputs if place in at]
            if rows:
                monomials = Monomials(len(rows), len(part.inputs), *shape)
                if len(monomials.terms) * FEWEST > count:
                    return None
                fit = _fitted_rates(course, w, rows, part.inputs, monomials, weight)
                if fit is None:
                    return None
                fits.append(fit)
            shown += [
                _fitted_value(course, w, place, rows, wiring.direct[place], shape[0])
                for place in part.outputs
                if place not in at
            ]
        return cls(course, wiring, np.array(states, dtype=np.intp), fits, shown)

    def _rates(self, w: Vector, u: Vector) -> Vector:
        """Rates of the states, from states `w` and inputs `u`."""
        rates = np.zeros_like(w)
        for fit in self._fits:
            scale = fit.size[: len(fit.rows)]
            rates[..., fit.rows] = fit.monomials.values(fit.scaled(w, u)) @ fit.factors * scale
        return rates

    def _slopes(self, w: Vector, u: Vector) -> tuple[Vector, Vector]:
        """Derivatives of the rates by states and by inputs: shapes (..., n, n) and (..., n, inputs)."""
        by_state = np.zeros((*w.shape, w.shape[-1]))
        by_input = np.zeros((*w.shape, u.shape[-1]))
        for fit in self._fits:
            n = len(fit.rows)
            slopes = np.einsum("...jv,jn->...nv", fit.monomials.slopes(fit.scaled(w, u)), fit.factors)
            slopes = slopes * fit.size[:n, None] / fit.size
            rows = np.array(fit.rows)[:, None]
            by_state[..., rows, fit.rows] = slopes[..., :n]
            by_input[..., rows, fit.given] = slopes[..., n:]
        return by_state, by_input

    def _outputs(self, w: Vector) -> Vector:
        """All outputs that depend on states, without direct feedthrough from inputs."""
        outputs = np.zeros((*w.shape[:-1], self._course.outputs.shape[1]))
        outputs[..., self._states] = w
        for each in self._shown:
            outputs[..., each.place] = each.value(w)
        return outputs

    def _output_slopes(self, w: Vector) -> Vector:
        """Derivatives of `_outputs` by states: shape (..., outputs, n)."""
        slopes = np.zeros((*w.shape[:-1], self._course.outputs.shape[1], w.shape[-1]))
        slopes[..., self._states, np.arange(w.shape[-1])] = 1.0
        for each in self._shown:
            slopes[..., each.place, _places(each.rows)] = each.slope(w)
        return slopes

    def answer(self) -> PolynomialAnswer:
        """The errors of the run, and what the equations miss.

        About the run the error of the states obeys linear equations. Over one interval it becomes
        ``transition @ error + pushed``: `transition` is how a push at the beginning goes on, `pushed` what
        the defects (inputs that were given beyond the outputs of the same instant) have added meanwhile. What
        the equations miss in an interval goes on in the same way.
        """
        course = self._course
        w, lengths = course.outputs[:, self._states], np.diff(course.times)[:, None]
        ends = self._integrated(w[:-1], lengths)
        reached, pushed, transition = ends[:, :, 0], ends[:, :, 1], ends[:, :, 2:]
        unfitted = self._unfitted_outputs(w)
        unfitted_inputs = unfitted @ self._inner.T
        by_input = self._slopes(w[1:], course.means)[1]
        by_unfitted = np.einsum("knu,ku->kn", by_input, 0.5 * (unfitted_inputs[1:] + unfitted_inputs[:-1]))
        missed = np.abs(w[1:] - reached) + lengths * np.abs(by_unfitted)
        errors, misfit = np.zeros_like(w), np.zeros_like(w)
        for k in range(lengths.shape[0]):
            errors[k + 1] = transition[k] @ errors[k] + pushed[k]
            misfit[k + 1] = transition[k] @ misfit[k] + missed[k]
        slopes = self._output_slopes(w[1:])
        # errors of the outputs: through the states, and through the inputs that act at once
        of_states = np.einsum("kyn,kn->ky", slopes, errors[1:])
        consistent = self._outputs(w[1:]) @ self._inner.T + course.outputs[1:, self._free] @ self._outer.T
        shown = of_states + (course.ends[1:] - consistent + of_states @ self._inner.T) @ self._direct.T
        shown[:, self._free] = 0.0
        astray = np.einsum("kyn,kn->ky", slopes, misfit[1:])
        astray = np.abs(astray + astray @ self._inner.T @ self._direct.T)
        astray = astray + np.abs(unfitted[1:]) + np.abs(unfitted_inputs[1:] @ self._direct.T)
        return PolynomialAnswer(np.abs(shown).max(axis=0), astray.max(axis=0))

    def _unfitted_outputs(self, w: Vector) -> Vector:
        """Residuals of the outputs; 0 for states, and for outputs that no input reaches, at the start."""
        unfitted = self._course.outputs - self._outputs(w) - self._course.ends @ self._direct.T
        unfitted[:, self._states] = unfitted[:, self._free] = unfitted[0] = 0.0
        return unfitted

    def _integrated(self, start: Vector, lengths: Vector) -> Vector:
        """The ends of all intervals, side by side: shape (intervals, n, 2 + n).

        Columns: the states; what defects have pushed them; the answers to a unit push of each state at the
        beginning. By Runge and Kutta's method of fourth order.
        """
        intervals, n = start.shape
        begin = [
            start[:, :, None],
            np.zeros((intervals, n, 1)),
            np.broadcast_to(np.eye(n), (intervals, n, n)),
        ]
        moved = np.concatenate(begin, axis=2)
        step = lengths / SUBSTEPS
        for part in range(SUBSTEPS):
            time, now, total = part * step, moved, np.zeros_like(moved)
            # how far ahead the next evaluation is, in steps, and how much this one counts
            for ahead, share in ((0.5, 1.0), (0.5, 2.0), (1.0, 2.0), (0.0, 1.0)):
                rates = self._column_rates(time, now, lengths)
                total += share * rates
                time, now = (part + ahead) * step, moved + ahead * step[:, :, None] * rates
            moved = moved + step[:, :, None] / 6.0 * total
        return moved

    def _column_rates(self, time: Vector, moved: Vector, lengths: Vector) -> Vector:
        """The rates of the columns of `_integrated`, at a `time` since the beginning of each interval, s."""
        course, w = self._course, moved[:, :, 0]
        u = course.means + (time - 0.5 * lengths) * course.slopes
        defects = u - self._outputs(w) @ self._inner.T
        for power, value in enumerate(course.pieces):
            defects = defects - (value * time**power) @ self._outer.T
        by_state, by_input = self._slopes(w, u)
        rates = (by_state + by_input @ (self._inner @ self._output_slopes(w))) @ moved
        rates[:, :, 0] = self._rates(w, u)
        rates[:, :, 1] += np.einsum("knu,ku->kn", by_input, defects)
        return rates


def sizes_of(values: Vector) -> Vector:
    """The range of each column; 1 for a column of zeros."""
    spans = spans_of(values)
    return np.where(spans > 0.0, spans, 1.0)


def _independent(outputs: Vector, candidates: list[int]) -> list[int]:
    """The outputs that are no linear combination of those before them."""
    chosen: list[int] = []
    for place in candidates:
        value = outputs[:, place] - outputs[:, place].mean()
        others = outputs[:, chosen] - outputs[:, chosen].mean(axis=0)
        sizes = sizes_of(others)
        rest = (
            value - others / sizes @ np.linalg.lstsq(others / sizes, value, rcond=CUT)[0] if chosen else value
        )
        if np.abs(rest).max() > INDEPENDENT * np.abs(value).max(initial=0.0):
            chosen.append(place)
    return chosen


def _fitted_rates(
    course: IntervalRun,
    w: Vector,
    rows: list[int],
    unknowns: list[int],
    monomials: Monomials,
    weight: float,
) -> Fit | None:
    """Fit the rates of the states of one participant; None where nothing finite comes out.

    The difference of the states over an interval is the integral of the monomials times their factors. That
    integral depends on the course inside the interval, which is not known: it is taken from the factors of
    the round before, bent so that it meets the states at the end; rounds go on while that misses less.
    """
    lengths = np.diff(course.times)[:, None]
    u, slope = course.means[:, unknowns], course.slopes[:, unknowns]
    own, n = w[:, rows], len(rows)
    centre = np.r_[own.mean(axis=0), u.mean(axis=0)]
    size = np.r_[sizes_of(own), sizes_of(u)]
    begin = (np.hstack([own[:-1], u - 0.5 * lengths * slope]) - centre) / size
    end = (np.hstack([own[1:], u + 0.5 * lengths * slope]) - centre) / size
    values = monomials.values(begin), monomials.values(end)
    columns = np.array([weight if any(v >= n for v in term) else 1.0 for term in monomials.terms])
    difference = np.diff(own, axis=0) / size[:n] / lengths
    drift = slope / size[n:]
    best, least, mean = None, np.inf, 0.5 * (values[0] + values[1])
    for _ in range(ROUNDS):
        factors = np.linalg.lstsq(mean * columns, difference, rcond=CUT)[0] * columns[:, None]
        # the mean along the course that the equations have inside each interval, bent to meet its end
        inside = _inside(monomials, factors, begin, drift, lengths)
        astray = end[:, :n] - inside[-1][:, :n]
        missed = float(np.abs(astray).max(initial=0.0))
        if not missed < 0.9 * least:
            break
        best, least = factors, missed
        mean = np.zeros_like(mean)
        for part, (z, share) in enumerate(zip(inside, BOOLE, strict=True)):
            bent = np.hstack([z[:, :n] + part / SUBSTEPS * astray, z[:, n:]])
            mean += share * monomials.values(bent)
    return None if best is None else Fit(rows, unknowns, monomials, best, centre, size)


def _inside(
    monomials: Monomials, factors: Vector, begin: Vector, drift: Vector, lengths: Vector
) -> list[Vector]:
    """States and inputs at the substeps of each interval, by Runge and Kutta's method."""
    step, z = lengths / SUBSTEPS, begin

    def rates(at: Vector) -> Vector:
        return np.hstack([monomials.values(at) @ factors, drift])

    points = [z]
    for _ in range(SUBSTEPS):
        one = rates(z)
        two = rates(z + 0.5 * step * one)
        three = rates(z + 0.5 * step * two)
        four = rates(z + step * three)
        z = z + step / 6.0 * (one + 2.0 * two + 2.0 * three + four)
        points.append(z)
    return points


def _fitted_value(
    course: IntervalRun, w: Vector, place: int, rows: list[int], passed: list[int], degree: int
) -> Shown:
    """Fit an output that is not a state: monomials of the states, and direct feedthrough of inputs."""
    own, monomials = w[1:, _places(rows)], Monomials(len(rows), 0, degree, 0)
    centre, size = own.mean(axis=0), sizes_of(own)
    at_once = course.ends[1:, _places(passed)]
    data = np.hstack([monomials.values((own - centre) / size), at_once])
    sizes = sizes_of(data)
    factors = np.linalg.lstsq(data / sizes, course.outputs[1:, place], rcond=CUT)[0] / sizes
    count = len(monomials.terms)
    return Shown(place, rows, passed, monomials, factors[:count], factors[count:], centre, size)
