"""What the participants do with their inputs, found out from the run itself."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import pairwise
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_master.trust.sampled_wiring import Resampled, WiredPart

Vector = NDArray[np.float64]
MOST_GROWTH = 1e9
"""Of the outputs' size: a model that goes beyond is none."""


class Method(NamedTuple):
    """How participants are identified.

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
    """What a method found.

    Attributes
    ----------
    errors : ndarray, shape (n + 1, outputs)
        What the defects made of the outputs.
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
        lags = method.lags
        known = _differences(self._y, lags), _differences(self._u, lags), _differences(self._e, lags + 1)
        width = lags * (size + self._u.shape[1] + self._direct.size)
        state = np.zeros((width, 2))
        found = np.zeros((count + 1, size, 2))
        found[0, :, 0] = state[:size, 0] = self._y[0]
        ends = lags * (size + self._u.shape[1])
        state[ends : ends + self._direct.size, 0] = self._e[0]
        limit = MOST_GROWTH * max(1e-300, float(np.abs(self._y).max()))
        edges = np.linspace(0, count, method.windows + 1).astype(int)
        given = np.hstack([self._rest + self._d, (self._rest_ends + self._missed)[1:]])
        wrong = np.hstack([self._d, self._missed[1:]])
        beside = np.zeros((count + 1, size))
        for begin, end in pairwise(edges.tolist()):
            move, push, constant, gains = self._equations(*known, method, begin, end)
            beside[begin + 1 : end + 1] = self._teeth[begin:end] @ gains.T
            more = beside[begin + 1 : end + 1] @ np.vstack([self._wired, self._wired_ends]).T
            forces = np.stack(
                [given[begin:end] @ push.T + constant, (wrong[begin:end] + more) @ push.T], axis=2
            )
            for k in range(begin, end):
                state = move @ state + forces[k - begin]
                if k < lags - 1:  # what was before the first point is not known
                    y, u, e = known
                    past = (
                        [each[k + 1] for each in y],
                        [each[k] for each in u],
                        [each[k + 1] for each in e[:lags]],
                    )
                    state[:, 0] = np.concatenate([value for values in past for value in values])
                found[k + 1] = state[:size]
            if not np.abs(state).max() < limit:
                return Answer(np.full((count + 1, size), np.inf), np.full(size, np.inf))
        found[:, :, 1] += beside
        found[:, self._free, 0] = self._y[:, self._free]
        found[:, self._free, 1] = 0.0
        return Answer(found[:, :, 1], np.abs(found[:, :, 0] - self._y).max(axis=0))

    def _equations(
        self,
        known_y: list[Vector],
        known_u: list[Vector],
        known_e: list[Vector],
        method: Method,
        begin: int,
        end: int,
    ) -> tuple[Vector, Vector, Vector, Vector]:
        """Of the coupled participants in a window: next = move @ state + push @ defects + constant.

        The state are the differences of outputs, then those of inputs, then those of their ends
        (`_differences`); the defects are those of the means, then those of the ends. The last is ∂ẏ/∂u.
        """
        lags, size, inputs, direct = method.lags, self._y.shape[1], self._u.shape[1], self._direct.size
        pad = (end - begin) // 2 if method.windows > 1 else 0
        rows = slice(max(lags - 1, begin - pad), min(self._u.shape[0], end + pad))
        of_y, of_u = np.zeros((lags, size, size)), np.zeros((lags, size, inputs))
        of_e = np.zeros((lags + 1, size, direct))
        constant = np.zeros((size, 1))
        for outputs, means, at_ends in self._parts:
            ends = np.searchsorted(self._direct, at_ends).tolist()
            data = [y[:-1, outputs] for y in known_y] + [u[:, means] for u in known_u]
            widths = [len(outputs)] * lags + [len(means)] * lags
            if at_ends:
                data += [e[1:, ends] for e in known_e]
                widths += [len(at_ends)] * (lags + 1)
            factors = _fitted(np.hstack(data)[rows], np.diff(self._y[:, outputs], axis=0)[rows], method.cut)
            blocks = np.split(factors[:-1], np.cumsum(widths)[:-1])
            for j in range(lags):
                of_y[j][np.ix_(outputs, outputs)] = blocks[j].T
                of_u[j][np.ix_(outputs, means)] = blocks[lags + j].T
            for j in range(lags + 1 if at_ends else 0):
                of_e[j][np.ix_(outputs, ends)] = blocks[2 * lags + j].T
            constant[outputs, 0] = factors[-1]
        own = of_u.sum(axis=0) @ self._finishes + of_e.sum(axis=0) @ self._wired_ends
        solve = np.linalg.inv(np.eye(size) - own)
        splits = np.cumsum([size] * lags + [inputs] * lags + [direct] * lags)[:-1]

        def following(
            state: Vector, force: Vector | float, missed: Vector | float, more: Vector | float
        ) -> Vector:
            """One interval, for each column; the mean of an input follows both ends of its output."""
            past = np.split(state, splits)
            ys, us, es = past[:lags], past[lags : 2 * lags], past[2 * lags :]
            base = self._begins @ ys[0] + force
            total = ys[0] + more
            behind = np.zeros_like(base)
            for j in range(lags):
                total = total + of_y[j] @ ys[j] + of_u[j] @ (base - behind)
                behind = behind + us[j]
            behind = np.zeros((direct, state.shape[1]))
            for j in range(lags + 1):
                total = total + of_e[j] @ (missed - behind)
                behind = behind + es[j] if j < lags else behind
            new_y = [solve @ total]
            new_u = [base + self._finishes @ new_y[0]]
            new_e = [self._wired_ends @ new_y[0] + missed]
            for j in range(1, lags):
                new_y.append(new_y[-1] - ys[j - 1])
                new_u.append(new_u[-1] - us[j - 1])
                new_e.append(new_e[-1] - es[j - 1])
            return np.vstack(new_y + new_u + new_e)

        width = lags * (size + inputs + direct)
        move = following(np.eye(width), 0.0, 0.0, 0.0)
        both = np.eye(inputs + direct)
        push = following(np.zeros((width, inputs + direct)), both[:inputs], both[inputs:], 0.0)
        gains = _slopes_of_answers(of_y, of_u) / self._interval
        return move, push, following(np.zeros((width, 1)), 0.0, 0.0, constant)[:, 0], gains


def _slopes_of_answers(of_y: Vector, of_u: Vector) -> Vector:
    """The slope with which outputs begin to answer a step of each input, per interval.

    From the first three values of the answer, which is zero before: a cubic through them.
    """
    lags, size, inputs = of_u.shape
    one = np.eye(inputs)
    ys, us = [np.zeros((size, inputs))] * lags, [np.zeros((inputs, inputs))] * lags
    answers = []
    for _ in range(3):
        total, behind = ys[0], np.zeros((inputs, inputs))
        for j in range(lags):
            total = total + of_y[j] @ ys[j] + of_u[j] @ (one - behind)
            behind = behind + us[j]
        new_y, new_u = [total], [one]
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
    found = [values]
    for _ in range(1, lags):
        found.append(np.diff(found[-1], axis=0, prepend=found[-1][:1]))
    return found


def _fitted(data: Vector, wanted: Vector, cut: float) -> Vector:
    """Least squares with a constant (the last row), in columns of like size."""
    data = np.hstack([data, np.ones((len(data), 1))])
    sizes, scale = np.abs(data).max(axis=0), np.abs(wanted).max(axis=0)
    sizes[sizes == 0.0] = 1.0
    scale[scale == 0.0] = 1.0
    factors = np.linalg.lstsq(data / sizes, wanted / scale, rcond=cut)[0]
    return np.asarray(factors * scale / sizes[:, None], dtype=np.float64)
