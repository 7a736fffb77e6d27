"""Difference equations of the participants, identified from the run itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.trust.sampled_wiring import Resampled, WiredPart

Vector = NDArray[np.float64]
MOST_GROWTH = 1e9
"""A model whose outputs grow beyond this many times their size is discarded."""


class Method(NamedTuple):
    """A method of identification.

    Attributes
    ----------
    lags : int
        So many outputs and inputs before determine the next output.
    cut : float
        Directions of the data that are smaller than this part of the largest do not count.
    windows : int
        In each of so many parts of the run the participants have equations of their own.
    """

    lags: int
    cut: float
    windows: int


class Answer(NamedTuple):
    """The outcome of a method.

    Attributes
    ----------
    errors : ndarray, shape (n + 1, outputs)
        The effect of the defects on the outputs.
    misfit : ndarray, shape (outputs,)
        By how much the identified coupling, given the defects, misses the run.
    """

    errors: Vector
    misfit: Vector


class IdentifiedCoupling:
    """The coupling with a linear difference equation for each participant.

    Each participant is fitted by least squares to its own outputs and inputs alone; then all are coupled.
    A run of a co-simulation is the exact solution of the coupled system with the defects as a disturbance.
    So the coupled equations with the defects have to give the run again, which shows how good they are;
    and what they answer to the defects alone is the error of the run.

    A saw tooth of the first moment m at an input lets an output that follows its integral, with g = ∂ẏ/∂u,
    run along parabolas: its mean over an exchange is less by g m than that of a smooth course through its
    values. So much larger is the defect of what it feeds; errors of second order hang on that.

    Parameters
    ----------
    seen : Resampled
    sources : ndarray of int, shape (inputs,)
        The output that each input stands for.
    parts : sequence of WiredPart
        One for each participant. Of direct inputs the value at the end of an interval counts besides the mean
        over it. Where all outputs of a participant jump, it counts alone, for all inputs. A participant
        without inputs has no error.
    jumping : sequence of int
        Places of outputs that stay over an interval as they were at its beginning.
    """

    def __init__(
        self,
        seen: Resampled,
        sources: NDArray[np.intp],
        parts: Sequence[WiredPart],
        jumping: Sequence[int] = (),
    ) -> None:
        self._y, self._u, self._d = seen.outputs, seen.inputs, seen.defects
        self._teeth, self._interval = seen.teeth, seen.interval
        sampled = set(jumping)
        self._parts = [
            part._replace(inputs=[], direct=part.inputs) if sampled.issuperset(part.outputs) else part
            for part in parts
            if part.outputs and part.inputs
        ]
        size, inputs = self._y.shape[1], self._u.shape[1]
        self._wired = np.zeros((inputs, size))
        identified = [place for part in self._parts for place in part.outputs]
        driven = np.isin(sources, identified)
        self._wired[np.flatnonzero(driven), sources[driven]] = 1.0
        at_end = np.full(size, 0.5)
        at_end[list(jumping)] = 0.0
        self._begins, self._finishes = self._wired * (1.0 - at_end), self._wired * at_end
        middle = self._y[1:] @ self._finishes.T + self._y[:-1] @ self._begins.T
        self._rest = self._u - self._d - middle
        self._free = np.setdiff1d(np.arange(size), identified)
        self._direct = np.array(
            sorted({place for part in self._parts for place in part.direct}), dtype=np.intp
        )
        self._e, self._missed = seen.ends[:, self._direct], seen.end_defects[:, self._direct]
        self._wired_ends = self._wired[self._direct]
        self._rest_ends = self._e - self._missed - self._y @ self._wired_ends.T

    def answer(self, method: Method) -> Answer:
        """Run the identified coupling with the defects, and with nothing but them."""
        count, size = self._y.shape[0] - 1, self._y.shape[1]
        course = _Differences.of(self._y, self._u, self._e, method.lags)
        parts = _StateParts(method.lags, size, self._u.shape[1], self._direct.size)
        state = np.zeros((parts.width, 2))  # of the run, and of what the defects have made of it
        outputs = np.zeros((count + 1, size, 2))
        outputs[0, :, 0] = state[:size, 0] = self._y[0]
        state[parts.first_end : parts.first_end + self._direct.size, 0] = self._e[0]
        limit = MOST_GROWTH * max(1e-300, float(np.abs(self._y).max()))
        edges = np.linspace(0, count, method.windows + 1).astype(int)
        inputs = np.hstack([self._rest + self._d, (self._rest_ends + self._missed)[1:]])
        defects = np.hstack([self._d, self._missed[1:]])
        of_teeth = np.zeros((count + 1, size))
        for begin, end in pairwise(edges.tolist()):
            equations = self._equations(self._fit(course, method, begin, end))
            of_teeth[begin + 1 : end + 1] = self._teeth[begin:end] @ equations.gains.T
            defects_of_teeth = of_teeth[begin + 1 : end + 1] @ np.vstack([self._wired, self._wired_ends]).T
            forces = np.stack(
                [
                    inputs[begin:end] @ equations.push.T + equations.constant,
                    (defects[begin:end] + defects_of_teeth) @ equations.push.T,
                ],
                axis=2,
            )
            for k in range(begin, end):
                state = equations.move @ state + forces[k - begin]
                if k < method.lags - 1:  # what was before the first point is not known
                    state[:, 0] = course.state_after(k, method.lags)
                outputs[k + 1] = state[:size]
            if not np.abs(state).max() < limit:
                return Answer(np.full((count + 1, size), np.inf), np.full(size, np.inf))
        outputs[:, :, 1] += of_teeth
        outputs[:, self._free, 0] = self._y[:, self._free]
        outputs[:, self._free, 1] = 0.0
        return Answer(outputs[:, :, 1], np.abs(outputs[:, :, 0] - self._y).max(axis=0))

    def _fit(self, course: _Differences, method: Method, begin: int, end: int) -> _Factors:
        """Fit the equation of each participant in a window; where there are several, they overlap."""
        lags, size, direct = method.lags, self._y.shape[1], self._direct.size
        pad = (end - begin) // 2 if method.windows > 1 else 0
        rows = slice(max(lags - 1, begin - pad), min(self._u.shape[0], end + pad))
        factors = _Factors(
            np.zeros((lags, size, size)),
            np.zeros((lags, size, self._u.shape[1])),
            np.zeros((lags + 1, size, direct)),
            np.zeros((size, 1)),
        )
        for outputs, means, at_ends in self._parts:
            ends = np.searchsorted(self._direct, at_ends).tolist()
            columns = [y[:-1, outputs] for y in course.outputs] + [u[:, means] for u in course.means]
            widths = [len(outputs)] * lags + [len(means)] * lags
            if at_ends:
                columns += [e[1:, ends] for e in course.ends]
                widths += [len(at_ends)] * (lags + 1)
            changes = np.diff(self._y[:, outputs], axis=0)
            of_part = _fitted(np.hstack(columns)[rows], changes[rows], method.cut)
            blocks = np.split(of_part[:-1], np.cumsum(widths)[:-1])
            for j in range(lags):
                factors.of_outputs[j][np.ix_(outputs, outputs)] = blocks[j].T
                factors.of_means[j][np.ix_(outputs, means)] = blocks[lags + j].T
            for j in range(lags + 1 if at_ends else 0):
                factors.of_ends[j][np.ix_(outputs, ends)] = blocks[2 * lags + j].T
            factors.constant[outputs, 0] = of_part[-1]
        return factors

    def _equations(self, factors: _Factors) -> _Equations:
        """The fitted participants, coupled."""
        lags, size, inputs = factors.of_means.shape
        direct = factors.of_ends.shape[2]
        at_once = (
            factors.of_means.sum(axis=0) @ self._finishes + factors.of_ends.sum(axis=0) @ self._wired_ends
        )
        solve = np.linalg.inv(np.eye(size) - at_once)
        width = _StateParts(lags, size, inputs, direct).width
        none = np.zeros((width, 1))
        each_defect = np.eye(inputs + direct)
        of_means, of_ends = each_defect[:inputs], each_defect[inputs:]
        no_state = np.zeros((width, inputs + direct))
        return _Equations(
            move=self._follow(factors, solve, np.eye(width), 0.0, 0.0, 0.0),
            push=self._follow(factors, solve, no_state, of_means, of_ends, 0.0),
            constant=self._follow(factors, solve, none, 0.0, 0.0, factors.constant)[:, 0],
            gains=_slopes_of_answers(factors.of_outputs, factors.of_means) / self._interval,
        )

    def _follow(
        self,
        factors: _Factors,
        solve: Vector,
        state: Vector,
        force: Vector | float,
        missed: Vector | float,
        constant: Vector | float,
    ) -> Vector:
        """The state after one interval, by columns; the mean of an input follows both ends of its output.

        Parameters
        ----------
        factors : _Factors
        solve : ndarray, shape (outputs, outputs)
            Solves for outputs that depend on the same instant.
        state : ndarray, shape (width, columns)
        force, missed : ndarray or float
            The means of inputs, and their ends, minus the outputs.
        constant : ndarray or float
        """
        lags, size, inputs = factors.of_means.shape
        ys, us, es = _StateParts(lags, size, inputs, self._direct.size).split(state)
        mean = self._begins @ ys[0] + force
        total = ys[0] + constant
        mean_before = np.zeros_like(mean)
        for j in range(lags):
            total = total + factors.of_outputs[j] @ ys[j] + factors.of_means[j] @ (mean - mean_before)
            mean_before = mean_before + us[j]
        end_before = np.zeros((self._direct.size, state.shape[1]))
        for j in range(lags + 1):
            total = total + factors.of_ends[j] @ (missed - end_before)
            end_before = end_before + es[j] if j < lags else end_before
        new_y = [solve @ total]
        new_u = [mean + self._finishes @ new_y[0]]
        new_e = [self._wired_ends @ new_y[0] + missed]
        for j in range(1, lags):
            new_y.append(new_y[-1] - ys[j - 1])
            new_u.append(new_u[-1] - us[j - 1])
            new_e.append(new_e[-1] - es[j - 1])
        return np.vstack(new_y + new_u + new_e)


class _StateParts(NamedTuple):
    """The state of the coupled equations: differences of outputs, of means of inputs, of ends of inputs."""

    lags: int
    outputs: int
    inputs: int
    direct: int

    @property
    def first_end(self) -> int:
        """The place of the first end."""
        return self.lags * (self.outputs + self.inputs)

    @property
    def width(self) -> int:
        """The number of columns."""
        return self.first_end + self.lags * self.direct

    def split(self, state: Vector) -> tuple[list[Vector], list[Vector], list[Vector]]:
        """Values and differences of outputs, of means, of ends."""
        sizes = [self.outputs] * self.lags + [self.inputs] * self.lags + [self.direct] * self.lags
        parts = np.split(state, np.cumsum(sizes)[:-1])
        return parts[: self.lags], parts[self.lags : 2 * self.lags], parts[2 * self.lags :]


class _Differences(NamedTuple):
    """Values, backward differences and so on of the run: of outputs, of means of inputs, of their ends."""

    outputs: list[Vector]
    means: list[Vector]
    ends: list[Vector]

    @classmethod
    def of(cls, outputs: Vector, means: Vector, ends: Vector, lags: int) -> _Differences:
        """The differences for a number of lags; the ends have one more."""
        return cls(_differences(outputs, lags), _differences(means, lags), _differences(ends, lags + 1))

    def state_after(self, k: int, lags: int) -> Vector:
        """The state of the run after interval k."""
        outputs, means = [y[k + 1] for y in self.outputs], [u[k] for u in self.means]
        ends = [e[k + 1] for e in self.ends[:lags]]
        return np.concatenate([*outputs, *means, *ends])


class _Factors(NamedTuple):
    """Factors of the difference equations of all participants.

    Attributes
    ----------
    of_outputs : ndarray, shape (lags, outputs, outputs)
    of_means : ndarray, shape (lags, outputs, inputs)
    of_ends : ndarray, shape (lags + 1, outputs, direct inputs)
    constant : ndarray, shape (outputs, 1)
    """

    of_outputs: Vector
    of_means: Vector
    of_ends: Vector
    constant: Vector


class _Equations(NamedTuple):
    """Equations of the coupled participants in a window: next = move @ state + push @ defects + constant.

    The defects are those of the means, then those of the ends; `gains` is ∂ẏ/∂u.
    """

    move: Vector
    push: Vector
    constant: Vector
    gains: Vector


def _slopes_of_answers(of_outputs: Vector, of_means: Vector) -> Vector:
    """The slope with which outputs begin to answer a step of each input, per interval.

    From the first three values of the answer, which is zero before: a cubic through them.
    """
    lags, size, inputs = of_means.shape
    step = np.eye(inputs)
    ys, us = [np.zeros((size, inputs))] * lags, [np.zeros((inputs, inputs))] * lags
    answers = []
    for _ in range(3):
        total, step_before = ys[0], np.zeros((inputs, inputs))
        for j in range(lags):
            total = total + of_outputs[j] @ ys[j] + of_means[j] @ (step - step_before)
            step_before = step_before + us[j]
        new_y, new_u = [total], [step]
        for j in range(1, lags):
            new_y.append(new_y[-1] - ys[j - 1])
            new_u.append(new_u[-1] - us[j - 1])
        ys, us = new_y, new_u
        answers.append(total)
    first, second, third = answers
    slopes: Vector = (18.0 * first - 9.0 * second + 2.0 * third) / 6.0
    return slopes


def _differences(values: Vector, lags: int) -> list[Vector]:
    """Values, their backward differences, and so on; zero where they reach before the first point."""
    differences = [values]
    for _ in range(1, lags):
        differences.append(np.diff(differences[-1], axis=0, prepend=differences[-1][:1]))
    return differences


def _fitted(columns: Vector, wanted: Vector, cut: float) -> Vector:
    """Least squares with a constant (the last row), in columns of like size."""
    columns = np.hstack([columns, np.ones((len(columns), 1))])
    sizes, scale = np.abs(columns).max(axis=0), np.abs(wanted).max(axis=0)
    sizes[sizes == 0.0] = 1.0
    scale[scale == 0.0] = 1.0
    factors = np.linalg.lstsq(columns / sizes, wanted / scale, rcond=cut)[0]
    return np.asarray(factors * scale / sizes[:, None], dtype=np.float64)
