"""Tangents of states, parameters, discrete variables and the time that move on with a solution."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim.simulation.event_record import Finding
from cosim.simulation.variation import ROUNDS, VARIATION_SIGNATURE, follow_variation
from cosim.stage import Stage
from cosim_compiler import native

if TYPE_CHECKING:
    from cosim.system.state import State

    System = Any

Reals = NDArray[np.float64]
TIGHT = 1e-12
"""Error of one stretch, in parts of a state or tangent, from which on it is halved."""
MOST_HALVINGS = 40
SHORT, HARDLY = 1e-9, 1e-6
"""In a stretch so short, in parts of the run, derivatives of states change by no more than such a part."""
MOST_STRETCHES = 20_000
"""Of one step: a system that needs more is too stiff for what is explicit."""
NO_DERIVATIVE = "no derivative"


class MovingTangents:
    """The solution of a system at a time, and its tangents along several directions.

    Parameters
    ----------
    system : System
    directions : sequence of dict
        Tangents of y, p and d at the start.
    span : float
        Of the run, s.

    Attributes
    ----------
    y : ndarray
        The states that the tangents belong to.
    arrays : dict of str to ndarray
        The tangents of y, p and d, a row for each direction.
    time_dot : ndarray
        Those of the time.
    findings : list of Finding
        From when on there is no derivative, and why.
    """

    def __init__(self, system: System, directions: Sequence[dict[str, Reals]], span: float) -> None:
        self.system, self.findings = system, list[Finding]()
        self.y = np.zeros(system.ny)
        self.arrays = {a: np.array([moved[a] for moved in directions]) for a in "ypd"}
        self.time_dot = np.zeros(len(directions))
        self._span = span
        self._variation = native.compile_function(follow_variation, VARIATION_SIGNATURE)

    def __len__(self) -> int:
        return len(self.time_dot)

    @property
    def is_lost(self) -> bool:
        """Whether there is no derivative any more."""
        return bool(self.findings)

    def along(self, state: State, i: int) -> Reals:
        """The tangents of the cache along a direction."""
        y, p, d = (self.arrays[a][i] for a in "ypd")
        tangents: Reals = self.system.tangents.along(state, self.time_dot[i], y, p, d)
        return tangents

    def shift(self, state: State, time_dot: Reals) -> None:
        """Describe the tangents at a time that moves so, from a State on."""
        rate = np.array(state.realize(Stage.ACCELERATION).y_dot)
        self.arrays["y"] += np.outer(time_dot - self.time_dot, rate)
        self.time_dot = time_dot.copy()

    def lose(self, time: float, what: str, reason: str) -> None:
        """There is no derivative any more; the first reason is kept."""
        for array in self.arrays.values():
            array[:] = math.nan
        self.time_dot[:] = math.nan
        if not self.is_lost:
            self.findings.append(Finding(time, NO_DERIVATIVE, what, reason))

    def context(self, state: State) -> tuple[Any, ...]:
        """What stays along a stretch from a State: values of all arrays, tangents of all but the states."""
        values = [np.array(array) for array in self.system.arrays(state.realize(Stage.REPORT))]
        caches = [self.along(state, i) for i in range(len(self))]
        flat = [np.ascontiguousarray(self.arrays[a]).reshape(-1) for a in "pd"]
        return (*values[1:], self.time_dot, *flat, np.concatenate([np.zeros(0), *caches]))

    def follow(self, state: State, context: tuple[Any, ...], t: float, length: float) -> None:
        """Let the solution and its tangents go on by a length of time, in halves where that is too long."""
        *fixed, time_dot, p_dots, d_dots, c_dots = context
        states = np.concatenate([self.y, *self.arrays["y"]])
        n, work = self.system.ny, np.zeros(2 + (ROUNDS + 3) * states.size)
        stretches, left = 0, [(t, length, 0)]
        while left:
            begin, way, depth = left.pop()
            before, stretches = states.copy(), stretches + 1
            with np.errstate(all="ignore"):
                failed = self._variation(
                    self.system.tangents.table, self.system.ints, *self.system.inner_range, begin, way,
                    *fixed, states, time_dot, p_dots, d_dots, c_dots, work,
                )  # fmt: skip
            if failed:
                raise self.system.failure(state, failed - 1)
            if work[0] > TIGHT and depth < MOST_HALVINGS and stretches < MOST_STRETCHES:
                states = before
                left += [(begin + 0.5 * way, 0.5 * way, depth + 1), (begin, 0.5 * way, depth + 1)]
            elif 0.0 < abs(way) < SHORT * self._span and depth > 0:
                self._check_jump(state, (begin, before[:n]), (begin + way, states[:n]))
        if stretches >= MOST_STRETCHES:
            self.lose(t, "", "the system is stiff: its tangents take more than 20,000 stretches in a step")
        self.y = states[:n].copy()
        if not self.is_lost:
            self.arrays["y"] = states[n:].reshape(len(self), n).copy()

    def _check_jump(self, state: State, *ends: tuple[float, Reals]) -> None:
        """Notice a derivative of a state that jumps where no event is."""
        rates = []
        for time, y in ends:
            present = state.copy()
            present.set_time(time)
            present.set_y(y)
            rates.append(np.array(present.realize(Stage.ACCELERATION).y_dot))
        apart = np.abs(rates[1] - rates[0]) / np.maximum(1.0, np.abs(rates[0]))
        if apart.size and apart.max() > HARDLY:
            path = self.system.paths_at("y", [int(np.argmax(apart))])[0]
            self.lose(ends[0][0], path, "its derivative jumps where no event is: make a witness of it")
