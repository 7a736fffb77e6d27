"""The error of a coupling of participants with polynomial equations whose outputs include their states."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.recording.coupling_samples import Samples
from cosim_master.trust.explained_bars import EXPLAINED_BENT, explains
from cosim_master.trust.explained_run import IntervalRun, run_in_intervals_of
from cosim_master.trust.linear_equations import WEIGHTS
from cosim_master.trust.monomials import Monomials
from cosim_master.trust.polynomial_fit import (
    SUBSTEPS,
    FittedOutput,
    FittedRates,
    fit_rates,
    fit_value,
    independent_outputs,
    index_array,
)
from cosim_master.trust.sampled_wiring import Wiring

Vector = NDArray[np.float64]
SHAPES = ((2, 1), (3, 1), (2, 2), (3, 2))
"""Degrees of products of states, and of products with one input; the first that explain a run are used."""
POINTS, FEWEST = 2000, 3
"""The largest number of intervals, and the least number of intervals for each monomial."""
MOST_STATES = 24


class PolynomialAnswer(NamedTuple):
    """The outcome of the equations.

    Attributes
    ----------
    errors, misfit : ndarray, shape (outputs,)
        The largest error of each output by the coupling, and the largest effect of the misfit.
    """

    errors: Vector
    misfit: Vector


def polynomial_answers(samples: Samples, wiring: Wiring, spans: Vector) -> list[PolynomialAnswer]:
    """The answers of equations with polynomial right-hand sides that fit the samples.

    The error obeys equations that are linear about the run, so it has to be small.

    Parameters
    ----------
    samples : Samples
    wiring : Wiring
    spans : ndarray, shape (outputs,)
        Ranges of the outputs.

    Returns
    -------
    list of PolynomialAnswer
        Answers of the simplest equations that explain the run with all weights of inputs and states; empty if
        there are none, or too many states.
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
        fits: list[FittedRates],
        shown: list[FittedOutput],
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
        for output in shown:
            self._direct[output.place, index_array(output.input_places)] = output.direct
        # _inner and _outer give all inputs from the outputs that states determine, and from the free outputs
        # of the run; direct feedthrough to outputs that feed inputs is solved for
        solve = np.linalg.inv(np.eye(inputs) - inner @ self._direct)
        self._inner, self._outer = solve @ inner, (solve @ select)[:, self._free]

    @classmethod
    def fitted(
        cls, course: IntervalRun, wiring: Wiring, shape: tuple[int, int], weight: float
    ) -> _PolynomialCoupling | None:
        """Fit the equations of every participant; None if there are too many states for the run.

        The states are the outputs without direct feedthrough that are not functions of others.
        """
        states: list[int] = []
        for part in wiring.parts:
            candidates = [place for place in part.outputs if not wiring.direct[place]]
            states += independent_outputs(course.outputs, candidates) if part.inputs else []
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
                fit = fit_rates(course, w, rows, part.inputs, monomials, weight)
                if fit is None:
                    return None
                fits.append(fit)
            shown += [
                fit_value(course, w, place, rows, wiring.direct[place], shape[0])
                for place in part.outputs
                if place not in at
            ]
        return cls(course, wiring, np.array(states, dtype=np.intp), fits, shown)

    def _rates(self, w: Vector, u: Vector) -> Vector:
        """Rates of the states, from states `w` and inputs `u`."""
        rates = np.zeros_like(w)
        for fit in self._fits:
            scale = fit.size[: len(fit.state_places)]
            rates[..., fit.state_places] = fit.monomials.values(fit.scaled(w, u)) @ fit.factors * scale
        return rates

    def _slopes(self, w: Vector, u: Vector) -> tuple[Vector, Vector]:
        """Derivatives of the rates by states and by inputs: shapes (..., n, n) and (..., n, inputs)."""
        by_state = np.zeros((*w.shape, w.shape[-1]))
        by_input = np.zeros((*w.shape, u.shape[-1]))
        for fit in self._fits:
            n = len(fit.state_places)
            slopes = np.einsum("...jv,jn->...nv", fit.monomials.slopes(fit.scaled(w, u)), fit.factors)
            slopes = slopes * fit.size[:n, None] / fit.size
            rows = np.array(fit.state_places)[:, None]
            by_state[..., rows, fit.state_places] = slopes[..., :n]
            by_input[..., rows, fit.input_places] = slopes[..., n:]
        return by_state, by_input

    def _outputs(self, w: Vector) -> Vector:
        """All outputs that depend on states, without direct feedthrough from inputs."""
        outputs = np.zeros((*w.shape[:-1], self._course.outputs.shape[1]))
        outputs[..., self._states] = w
        for output in self._shown:
            outputs[..., output.place] = output.value(w)
        return outputs

    def _output_slopes(self, w: Vector) -> Vector:
        """Derivatives of `_outputs` by states: shape (..., outputs, n)."""
        slopes = np.zeros((*w.shape[:-1], self._course.outputs.shape[1], w.shape[-1]))
        slopes[..., self._states, np.arange(w.shape[-1])] = 1.0
        for output in self._shown:
            slopes[..., output.place, index_array(output.state_places)] = output.slope(w)
        return slopes

    def answer(self) -> PolynomialAnswer:
        """The errors of the run, and the effect of the misfit."""
        course = self._course
        w = course.outputs[:, self._states]
        unfitted = self._unfitted_outputs(w)
        errors, misfit = self._state_errors(w, unfitted @ self._inner.T)
        slopes = self._output_slopes(w[1:])
        # errors of the outputs: through the states, and through direct feedthrough of inputs
        of_states = np.einsum("kyn,kn->ky", slopes, errors[1:])
        consistent = self._outputs(w[1:]) @ self._inner.T + course.outputs[1:, self._free] @ self._outer.T
        of_outputs = of_states + (course.ends[1:] - consistent + of_states @ self._inner.T) @ self._direct.T
        of_outputs[:, self._free] = 0.0
        missed = np.einsum("kyn,kn->ky", slopes, misfit[1:])
        missed = np.abs(missed + missed @ self._inner.T @ self._direct.T)
        missed = missed + np.abs(unfitted[1:]) + np.abs((unfitted @ self._inner.T)[1:] @ self._direct.T)
        return PolynomialAnswer(np.abs(of_outputs).max(axis=0), missed.max(axis=0))

    def _state_errors(self, w: Vector, unfitted_inputs: Vector) -> tuple[Vector, Vector]:
        """The errors of the states `w` by the coupling, and the effect of the misfit on them.

        About the run the error of the states obeys linear equations. Over one interval it becomes
        ``transition @ error + pushed``: `transition` is the response to an error at the start, `pushed` the
        effect of the defects (differences between inputs and outputs at the same instant) in the interval.
        The misfit of an interval propagates in the same way.
        """
        lengths = np.diff(self._course.times)[:, None]
        ends = self._integrated(w[:-1], lengths)
        reached, pushed, transition = ends[:, :, 0], ends[:, :, 1], ends[:, :, 2:]
        by_input = self._slopes(w[1:], self._course.means)[1]
        by_unfitted = np.einsum("knu,ku->kn", by_input, 0.5 * (unfitted_inputs[1:] + unfitted_inputs[:-1]))
        missed = np.abs(w[1:] - reached) + lengths * np.abs(by_unfitted)
        errors, misfit = np.zeros_like(w), np.zeros_like(w)
        for k in range(lengths.shape[0]):
            errors[k + 1] = transition[k] @ errors[k] + pushed[k]
            misfit[k + 1] = transition[k] @ misfit[k] + missed[k]
        return errors, misfit

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
            time, point, total = part * step, moved, np.zeros_like(moved)
            # the distance of the next evaluation, in steps, and the weight of this one
            for distance, weight in ((0.5, 1.0), (0.5, 2.0), (1.0, 2.0), (0.0, 1.0)):
                rates = self._column_rates(time, point, lengths)
                total += weight * rates
                time, point = (part + distance) * step, moved + distance * step[:, :, None] * rates
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
