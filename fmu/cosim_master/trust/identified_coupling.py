"""Difference equations of the participants, identified from the run itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.trust.coupled_equations import CoupledEquations, Wires, couple
from cosim_master.trust.difference_equations import Differences, Factors, StateParts
from cosim_master.trust.even_grid import Resampled
from cosim_master.trust.sampled_wiring import WiredPart

Vector = NDArray[np.float64]
MOST_GROWTH = 1e9
"""A model whose outputs grow beyond this many times their size is discarded."""


class Method(NamedTuple):
    """A method of identification.

    Attributes
    ----------
    lags : int
        The number of earlier outputs and inputs that determine the next output.
    cut : float
        Directions of the data that are smaller than this part of the largest are ignored.
    windows : int
        The number of parts of the run; the participants have other equations in each part.
    """

    lags: int
    cut: float
    windows: int


RUN, DEFECTS = 0, 1
"""Columns of a state: that of the run, and the effect of the defects."""


class IdentifiedErrors(NamedTuple):
    """The errors of a run by a method, and their quality.

    Attributes
    ----------
    errors : ndarray, shape (n + 1, outputs)
        The effect of the defects on the outputs.
    misfit : ndarray, shape (outputs,)
        The largest difference between the run and the solution of the identified coupling with the defects.
    """

    errors: Vector
    misfit: Vector


class IdentifiedCoupling:
    """The coupling with a linear difference equation for each participant.

    The equation of each participant is fitted by least squares to its own outputs and inputs; then all are
    coupled. A run of a co-simulation is the exact solution of the coupled system with the defects as a
    disturbance. So the solution of the coupled equations with the defects is compared with the run, which
    shows their quality; with the defects alone, their solution is the error of the run.

    A saw tooth with the first moment m at an input makes an output that integrates it, with g = ∂ẏ/∂u, run
    along parabolas: its mean over an exchange is smaller by g m than that of a smooth curve through its
    values. The defect of an input that it feeds is larger by the same amount, an effect of second order.

    Parameters
    ----------
    resampled : Resampled
        The samples of the run at equal distances.
    sources : ndarray of int, shape (inputs,)
        The output that feeds each input.
    parts : sequence of WiredPart
        One for each participant. Its outputs depend on the means of its inputs over an interval, and on the
        last values of direct inputs; if all outputs of a participant jump, only on the last values. A
        participant without inputs has no error.
    jumping : sequence of int
        Places of outputs that are constant over each interval.
    """

    def __init__(
        self,
        resampled: Resampled,
        sources: NDArray[np.intp],
        parts: Sequence[WiredPart],
        jumping: Sequence[int] = (),
    ) -> None:
        self._outputs, self._inputs, self._defects = resampled.outputs, resampled.inputs, resampled.defects
        self._teeth, self._interval = resampled.teeth, resampled.interval
        sampled = set(jumping)
        self._parts = [
            part._replace(inputs=[], direct=part.inputs) if sampled.issuperset(part.outputs) else part
            for part in parts
            if part.outputs and part.inputs
        ]
        identified = [place for part in self._parts for place in part.outputs]
        self._free = np.setdiff1d(np.arange(self._outputs.shape[1]), identified)
        self._direct = np.array(
            sorted({place for part in self._parts for place in part.direct}), dtype=np.intp
        )
        self._ends, self._end_defects = (
            resampled.ends[:, self._direct],
            resampled.end_defects[:, self._direct],
        )
        self._wires = self._wires_of(sources, identified, jumping)
        middle = self._outputs[1:] @ self._wires.at_end.T + self._outputs[:-1] @ self._wires.at_begin.T
        self._unwired_means = self._inputs - self._defects - middle
        self._unwired_ends = self._ends - self._end_defects - self._outputs @ self._wires.ends.T

    def _wires_of(
        self, sources: NDArray[np.intp], identified: Sequence[int], jumping: Sequence[int]
    ) -> Wires:
        """The wires from identified outputs: by the mean of both ends, from jumping ones by the begin."""
        size = self._outputs.shape[1]
        wired = np.zeros((self._inputs.shape[1], size))
        driven = np.isin(sources, identified)
        wired[np.flatnonzero(driven), sources[driven]] = 1.0
        at_end = np.full(size, 0.5)
        at_end[list(jumping)] = 0.0
        return Wires(wired * (1.0 - at_end), wired * at_end, wired[self._direct])

    def answer(self, method: Method) -> IdentifiedErrors:
        """Identify the participants by a method; run their coupling with the defects, and for these alone."""
        count, size = self._outputs.shape[0] - 1, self._outputs.shape[1]
        course = Differences.of(self._outputs, self._inputs, self._ends, method.lags)
        state = self._first_state(method)
        outputs = np.zeros((count + 1, size, 2))
        outputs[0, :, RUN] = self._outputs[0]
        tooth_errors = np.zeros((count + 1, size))
        limit = MOST_GROWTH * max(1e-300, float(np.abs(self._outputs).max()))
        edges = np.linspace(0, count, method.windows + 1).astype(int)
        for begin, end in pairwise(edges.tolist()):
            equations = couple(self._fit(course, method, begin, end), self._wires, self._interval)
            window = slice(begin + 1, end + 1)
            tooth_errors[window] = self._teeth[begin:end] @ equations.gains.T
            forces = self._forces(equations, begin, end, tooth_errors[window])
            for k in range(begin, end):
                state = equations.move @ state + forces[k - begin]
                if k < method.lags - 1:  # the points before the first one are not known
                    state[:, RUN] = course.state_after(k, method.lags)
                outputs[k + 1] = state[:size]
            if not np.abs(state).max() < limit:
                return IdentifiedErrors(np.full((count + 1, size), np.inf), np.full(size, np.inf))
        outputs[:, :, DEFECTS] += tooth_errors
        outputs[:, self._free, RUN] = self._outputs[:, self._free]
        outputs[:, self._free, DEFECTS] = 0.0
        return IdentifiedErrors(
            outputs[:, :, DEFECTS], np.abs(outputs[:, :, RUN] - self._outputs).max(axis=0)
        )

    def _first_state(self, method: Method) -> Vector:
        """The state at the first point, shape (width, 2): values of the run, and no effect of defects."""
        size = self._outputs.shape[1]
        parts = StateParts(method.lags, size, self._inputs.shape[1], self._direct.size)
        state = np.zeros((parts.width, 2))
        state[:size, RUN] = self._outputs[0]
        state[parts.first_end : parts.first_end + self._direct.size, RUN] = self._ends[0]
        return state

    def _forces(self, equations: CoupledEquations, begin: int, end: int, tooth_errors: Vector) -> Vector:
        """The inhomogeneous part of the equations in a window, shape (intervals, width, 2)."""
        means, ends = slice(begin, end), slice(begin + 1, end + 1)
        defects = np.hstack([self._defects[means], self._end_defects[ends]])
        inputs = np.hstack([self._unwired_means[means], self._unwired_ends[ends]]) + defects
        of_run = inputs @ equations.push.T + equations.constant
        of_defects = (defects + tooth_errors @ self._wires.all.T) @ equations.push.T
        return np.stack([of_run, of_defects], axis=2)  # as RUN and DEFECTS

    def _fit(self, course: Differences, method: Method, begin: int, end: int) -> Factors:
        """Fit the equation of each participant in a window; where there are several, they overlap."""
        (count, inputs), size = self._inputs.shape, self._outputs.shape[1]
        pad = (end - begin) // 2 if method.windows > 1 else 0
        rows = slice(max(method.lags - 1, begin - pad), min(count, end + pad))
        factors = Factors.zeros(StateParts(method.lags, size, inputs, self._direct.size))
        for part in self._parts:
            direct = np.searchsorted(self._direct, part.direct).tolist()
            factors.fit(course, rows, part.outputs, part.inputs, direct, method.cut)
        return factors
