"""Fits polynomials to a run: rates of the states of a participant, and its outputs that are no states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.trust.explained_run import IntervalRun, spans_of
from cosim_master.trust.linear_fit import CUT
from cosim_master.trust.monomials import Monomials

Vector = NDArray[np.float64]
ROUNDS = 40
"""The largest number of rounds that make the integrals of monomials and the equations consistent."""
SUBSTEPS = 4
"""Steps of the Runge-Kutta method in an interval."""
BOOLE = (7.0 / 90.0, 32.0 / 90.0, 12.0 / 90.0, 32.0 / 90.0, 7.0 / 90.0)
"""Weights of the values at the substeps in the mean."""
INDEPENDENT = 1e-7
"""An output that is a linear combination of others up to this part of its range is not a state."""


def index_array(listed: list[int]) -> NDArray[np.intp]:
    """Places as an index array; numpy would take an empty list for reals."""
    return np.array(listed, dtype=np.intp)


class FittedRates(NamedTuple):
    """Equations of one participant: factors of monomials of its states and inputs, in their ranges."""

    state_places: list[int]
    """The places of its states among all states."""
    input_places: list[int]
    """The places of its inputs among all inputs."""
    monomials: Monomials
    factors: Vector
    centre: Vector
    """Mean of each variable; the monomials are of ``(variable - centre) / size``."""
    size: Vector

    def scaled(self, w: Vector, u: Vector) -> Vector:
        """Variables of the monomials, from all states and all inputs."""
        states, inputs = w[..., index_array(self.state_places)], u[..., index_array(self.input_places)]
        return (np.concatenate([states, inputs], axis=-1) - self.centre) / self.size


class FittedOutput(NamedTuple):
    """An output that is not a state: monomials of the states, and a linear function of direct inputs."""

    place: int
    state_places: list[int]
    input_places: list[int]
    monomials: Monomials
    factors: Vector
    direct: Vector
    centre: Vector
    size: Vector

    def value(self, w: Vector) -> Vector:
        """The output at states `w`, without the function of the inputs."""
        return (
            self.monomials.values((w[..., index_array(self.state_places)] - self.centre) / self.size)
            @ self.factors
        )

    def slope(self, w: Vector) -> Vector:
        """Derivatives by its states."""
        slopes = self.monomials.slopes((w[..., index_array(self.state_places)] - self.centre) / self.size)
        return np.einsum("...jn,j->...n", slopes, self.factors) / self.size


def sizes_of(values: Vector) -> Vector:
    """The range of each column; 1 for a column of zeros."""
    spans = spans_of(values)
    return np.where(spans > 0.0, spans, 1.0)


def independent_outputs(outputs: Vector, candidates: list[int]) -> list[int]:
    """The outputs that are no linear combination of those before them."""
    chosen: list[int] = []
    for place in candidates:
        value = outputs[:, place] - outputs[:, place].mean()
        residual = value
        if chosen:
            centred = outputs[:, chosen] - outputs[:, chosen].mean(axis=0)
            scaled = centred / sizes_of(centred)
            residual = value - scaled @ np.linalg.lstsq(scaled, value, rcond=CUT)[0]
        if np.abs(residual).max() > INDEPENDENT * np.abs(value).max(initial=0.0):
            chosen.append(place)
    return chosen


def fit_rates(
    course: IntervalRun,
    w: Vector,
    state_places: list[int],
    input_places: list[int],
    monomials: Monomials,
    weight: float,
) -> FittedRates | None:
    """Fit the rates of the states of one participant; None if the factors are not finite.

    The difference of the states over an interval is the integral of the monomials times their factors. That
    integral depends on the unknown course inside the interval: it is integrated with the factors of the
    previous round, and bent to meet the states at the end. Rounds continue while the gap at the end shrinks.

    Parameters
    ----------
    course : IntervalRun
    w : ndarray, shape (n + 1, states)
        All states at the ends of the intervals.
    state_places, input_places : list of int
        The places of the participant's states and inputs among all.
    monomials : Monomials
    weight : float
        The weight of monomials with inputs in the fit, relative to those of states alone.
    """
    lengths = np.diff(course.times)[:, None]
    u, slope = course.means[:, input_places], course.slopes[:, input_places]
    states, n = w[:, state_places], len(state_places)
    centre = np.r_[states.mean(axis=0), u.mean(axis=0)]
    size = np.r_[sizes_of(states), sizes_of(u)]
    start = (np.hstack([states[:-1], u - 0.5 * lengths * slope]) - centre) / size
    end = (np.hstack([states[1:], u + 0.5 * lengths * slope]) - centre) / size
    weights = np.array([weight if any(v >= n for v in term) else 1.0 for term in monomials.terms])
    rates = np.diff(states, axis=0) / size[:n] / lengths
    drift = slope / size[n:]
    best, least = None, np.inf
    mean = 0.5 * (monomials.values(start) + monomials.values(end))
    for _ in range(ROUNDS):
        factors = np.linalg.lstsq(mean * weights, rates, rcond=CUT)[0] * weights[:, None]
        points = _integrate_inside(monomials, factors, start, drift, lengths)
        gap = end[:, :n] - points[-1][:, :n]
        largest_gap = float(np.abs(gap).max(initial=0.0))
        if not largest_gap < 0.9 * least:
            break
        best, least = factors, largest_gap
        mean = _mean_along(monomials, points, gap)
    return None if best is None else FittedRates(state_places, input_places, monomials, best, centre, size)


def _mean_along(monomials: Monomials, points: list[Vector], gap: Vector) -> Vector:
    """The mean of the monomials along a course through these points, bent to meet the states at its end."""
    n = gap.shape[1]
    mean = np.zeros((gap.shape[0], len(monomials.terms)))
    for part, (z, share) in enumerate(zip(points, BOOLE, strict=True)):
        bent = np.hstack([z[:, :n] + part / SUBSTEPS * gap, z[:, n:]])
        mean += share * monomials.values(bent)
    return mean


def _integrate_inside(
    monomials: Monomials, factors: Vector, start: Vector, drift: Vector, lengths: Vector
) -> list[Vector]:
    """States and inputs at the substeps of each interval, by Runge and Kutta's method."""
    step, z = lengths / SUBSTEPS, start

    def rates(at: Vector) -> Vector:
        return np.hstack([monomials.values(at) @ factors, drift])

    points = [z]
    for _ in range(SUBSTEPS):
        k1 = rates(z)
        k2 = rates(z + 0.5 * step * k1)
        k3 = rates(z + 0.5 * step * k2)
        k4 = rates(z + step * k3)
        z = z + step / 6.0 * (k1 + 2.0 * k2 + 2.0 * k3 + k4)
        points.append(z)
    return points


def fit_value(
    course: IntervalRun, w: Vector, place: int, state_places: list[int], input_places: list[int], degree: int
) -> FittedOutput:
    """Fit an output that is not a state: monomials of the states, and direct feedthrough of inputs."""
    states, monomials = w[1:, index_array(state_places)], Monomials(len(state_places), 0, degree, 0)
    centre, size = states.mean(axis=0), sizes_of(states)
    at_once = course.ends[1:, index_array(input_places)]
    data = np.hstack([monomials.values((states - centre) / size), at_once])
    sizes = sizes_of(data)
    factors = np.linalg.lstsq(data / sizes, course.outputs[1:, place], rcond=CUT)[0] / sizes
    count = len(monomials.terms)
    of_states, direct = factors[:count], factors[count:]
    return FittedOutput(place, state_places, input_places, monomials, of_states, direct, centre, size)
