"""Linear difference equations of participants: their variables, and their fit to a run.

The change of an output over an interval depends on earlier outputs and inputs, written as their last value
and its backward differences: these are better conditioned than older values.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Vector = NDArray[np.float64]


class Differences(NamedTuple):
    """Values, backward differences and so on of a run: of outputs, of means of inputs, of their ends."""

    outputs: list[Vector]
    means: list[Vector]
    ends: list[Vector]

    @classmethod
    def of(cls, outputs: Vector, means: Vector, ends: Vector, lags: int) -> Differences:
        """The differences for a number of lags; the ends have one more."""
        return cls(_differences(outputs, lags), _differences(means, lags), _differences(ends, lags + 1))

    def state_after(self, k: int, lags: int) -> Vector:
        """The state of the run after interval k."""
        outputs, means = [y[k + 1] for y in self.outputs], [u[k] for u in self.means]
        ends = [e[k + 1] for e in self.ends[:lags]]
        return np.concatenate([*outputs, *means, *ends])


class StateParts(NamedTuple):
    """The parts of a state: differences of outputs, of means of inputs, of ends of direct inputs."""

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
        """The length of a state."""
        return self.first_end + self.lags * self.direct

    def split(self, state: Vector) -> tuple[list[Vector], list[Vector], list[Vector]]:
        """Values and differences of outputs, of means, of ends."""
        sizes = [self.outputs] * self.lags + [self.inputs] * self.lags + [self.direct] * self.lags
        parts = np.split(state, np.cumsum(sizes)[:-1])
        return parts[: self.lags], parts[self.lags : 2 * self.lags], parts[2 * self.lags :]


class Factors(NamedTuple):
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

    @classmethod
    def zeros(cls, parts: StateParts) -> Factors:
        """Factors that are all zero."""
        lags, outputs, inputs, direct = parts
        return cls(
            np.zeros((lags, outputs, outputs)),
            np.zeros((lags, outputs, inputs)),
            np.zeros((lags + 1, outputs, direct)),
            np.zeros((outputs, 1)),
        )

    @property
    def parts(self) -> StateParts:
        """The sizes of the state that the factors are applied to."""
        lags, outputs, inputs = self.of_means.shape
        return StateParts(lags, outputs, inputs, self.of_ends.shape[2])

    def fit(
        self,
        course: Differences,
        rows: slice,
        outputs: Sequence[int],
        inputs: Sequence[int],
        direct: Sequence[int],
        cut: float,
    ) -> None:
        """Fit the equation of one participant, by least squares.

        Parameters
        ----------
        course : Differences
            The differences of the run.
        rows : slice
            The intervals that are used.
        outputs, inputs : sequence of int
            The outputs and inputs of the participant; inputs by their means.
        direct : sequence of int
            Places of its direct inputs among all direct ones, which are used by their ends as well.
        cut : float
            Directions of the data that are smaller than this part of the largest are ignored.
        """
        lags = self.parts.lags
        columns = [y[:-1, outputs] for y in course.outputs] + [u[:, inputs] for u in course.means]
        widths = [len(outputs)] * lags + [len(inputs)] * lags
        if direct:
            columns += [e[1:, direct] for e in course.ends]
            widths += [len(direct)] * (lags + 1)
        changes = np.diff(course.outputs[0][:, outputs], axis=0)
        factors = _fitted(np.hstack(columns)[rows], changes[rows], cut)
        blocks = np.split(factors[:-1], np.cumsum(widths)[:-1])
        for j in range(lags):
            self.of_outputs[j][np.ix_(outputs, outputs)] = blocks[j].T
            self.of_means[j][np.ix_(outputs, inputs)] = blocks[lags + j].T
        for j in range(lags + 1 if direct else 0):
            self.of_ends[j][np.ix_(outputs, direct)] = blocks[2 * lags + j].T
        self.constant[outputs, 0] = factors[-1]

    def slopes_of_answers(self) -> Vector:
        """The slope with which outputs begin to answer a step of each input, per interval.

        From the first three values of the answer, which is zero before: a cubic through them.
        """
        lags, size, inputs, _ = self.parts
        step = np.eye(inputs)
        outputs, means = [np.zeros((size, inputs))] * lags, [np.zeros((inputs, inputs))] * lags
        answers = []
        for _ in range(3):
            total, step_before = outputs[0], np.zeros((inputs, inputs))
            for j in range(lags):
                total = total + self.of_outputs[j] @ outputs[j] + self.of_means[j] @ (step - step_before)
                step_before = step_before + means[j]
            outputs, means = with_differences(total, outputs, lags), with_differences(step, means, lags)
            answers.append(total)
        first, second, third = answers
        slopes: Vector = (18.0 * first - 9.0 * second + 2.0 * third) / 6.0
        return slopes


def with_differences(value: Vector, before: Sequence[Vector], lags: int) -> list[Vector]:
    """A new value, and its backward differences by those of the value before."""
    differences = [value]
    for j in range(1, lags):
        differences.append(differences[-1] - before[j - 1])
    return differences


def _differences(values: Vector, lags: int) -> list[Vector]:
    """Values, their backward differences, and so on; zero where they reach before the first point."""
    differences = [values]
    for _ in range(1, lags):
        differences.append(np.diff(differences[-1], axis=0, prepend=differences[-1][:1]))
    return differences


def _fitted(columns: Vector, targets: Vector, cut: float) -> Vector:
    """The factors of the columns and a constant (the last row) by least squares, with scaled columns."""
    columns = np.hstack([columns, np.ones((len(columns), 1))])
    sizes, scale = np.abs(columns).max(axis=0), np.abs(targets).max(axis=0)
    sizes[sizes == 0.0] = 1.0
    scale[scale == 0.0] = 1.0
    factors = np.linalg.lstsq(columns / sizes, targets / scale, rcond=cut)[0]
    return np.asarray(factors * scale / sizes[:, None], dtype=np.float64)
