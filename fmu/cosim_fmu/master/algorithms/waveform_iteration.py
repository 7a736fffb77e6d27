"""Waveform iteration: every step is repeated until inputs and outputs fit."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Course, Exchange
from cosim_fmu.master.algorithms.extrapolation import Extrapolation

Vector = NDArray[np.float64]
HELD = {
    "line": "the line from its value at t_i to that at t_{i+1}",
    "mean": "the mean of its values at t_i and t_{i+1}, held",
    "end": "its value at t_{i+1}, held",
}
"""What inputs may do over a step, in words."""


class WaveformIteration(cosim.MasterAlgorithm):
    """Fixed-point iteration of the interface over each communication step, with rollback.

    The interface runs linearly from its values at t_i to its values at t_{i+1}, which are not known: they are
    guessed by extrapolation, all participants step with them, and what comes out is the next guess, for which
    all are set back to t_i. The iteration ends when a guess and what comes of it agree; the coupling is
    then implicit: of second order in the step, loops of direct feedthrough solved. It converges when
    the participants' answers to a change of the interface are weaker than the change; `InterfaceNewton`
    converges beyond that.

    Parameters
    ----------
    tolerance : float
        Relative change of each value of the interface at which the iteration ends, > 0.
    absolute_tolerance : float
        Change below which a value counts as settled, however small it is, > 0; in its unit.
    iterations : int
        At most so many in one step.
    relaxation : float
        Part of the change that is taken over, 0 < relaxation <= 1.
    hold : str
        What inputs do over a step: run along a "line" where participants follow slopes (the others hold its
        mean); hold the "mean"; hold the value at the "end", which is of first order and damps what is stiff.
    """

    restores: bool = True

    def __init__(
        self,
        tolerance: float = 1e-8,
        absolute_tolerance: float = 1e-10,
        iterations: int = 50,
        relaxation: float = 1.0,
        hold: str = "line",
    ) -> None:
        if hold not in HELD:
            raise cosim.ModelError.of("hold", str(cosim.LookUpError("way to hold inputs", str(hold), HELD)))
        self.hold, self.order = hold, 1 if hold == "end" else 2
        problems = [
            cosim.Problem(name, f"is {value!r}, needs a number greater than 0" + more)
            for name, value, highest, more in (
                ("tolerance", tolerance, 1.0, " and at most 1"),
                ("absolute_tolerance", absolute_tolerance, float("inf"), ""),
                ("iterations", iterations, float("inf"), ""),
                ("relaxation", relaxation, 1.0, " and at most 1"),
            )
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value <= highest
        ]
        if problems:
            raise cosim.ModelError(problems)
        self.tolerance, self.absolute_tolerance = float(tolerance), float(absolute_tolerance)
        self.most, self.relaxation = int(iterations), float(relaxation)
        self._past = Extrapolation(1)
        self._count = self._largest = 0

    @property
    def figures(self) -> dict[str, float]:
        """``iterations`` of all steps, ``largest_iterations`` of one step."""
        return {"iterations": self._count, "largest_iterations": self._largest}

    def course_of_inputs(self, stepped: bool) -> str:
        """In words; `stepped` says whether the source steps before."""
        return f"{HELD[self.hold]}, again until both fit"

    def initialize(self, exchange: Exchange, time: float) -> None:
        """Forget an earlier run."""
        self._past.forget()
        self._count = self._largest = 0

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        """Iterate to agreement."""
        start, token = exchange.interface(), exchange.save()
        self._past.remember(time, start)
        guess = self._past.value(time + size)
        found = self.evaluate(exchange, time, size, start, guess)
        count = 1
        while not self.is_settled(guess, found) and count < self.most:
            guess = self.next_guess(exchange, token, (time, size), start, guess, found)
            exchange.restore(token)
            found = self.evaluate(exchange, time, size, start, guess)
            count += 1
        self._count += count
        self._largest = max(self._largest, count)
        if self.is_settled(guess, found):
            return
        raise cosim.SimulationError(time, self._complaint(exchange, guess, found))

    def next_guess(
        self,
        exchange: Exchange,
        token: object,
        interval: tuple[float, float],
        start: Vector,
        guess: Vector,
        found: Vector,
    ) -> Vector:
        """What to try after `guess` led to `found`."""
        return guess + self.relaxation * (found - guess)

    def evaluate(self, exchange: Exchange, time: float, size: float, start: Vector, end: Vector) -> Vector:
        """The interface at the end of a step over which it ran from `start` to `end`."""
        middle = end if self.hold == "end" else 0.5 * (start + end)
        slope = (end - start) / size if self.hold == "line" else np.zeros_like(end)
        course = Course(middle, slope, size)
        for name in exchange.order:
            exchange.set_inputs(name, course)
        exchange.advance_all(time, size)
        exchange.put(end)
        for name in exchange.order:
            exchange.read_outputs(name, exchange.interface())
        return exchange.interface()

    def is_settled(self, guess: Vector, found: Vector) -> bool:
        """Whether two values of the interface agree."""
        size = self.tolerance * np.maximum(np.abs(guess), np.abs(found)) + self.absolute_tolerance
        return bool(np.all(np.abs(found - guess) <= size))

    def _complaint(self, exchange: Exchange, guess: Vector, found: Vector) -> str:
        size = self.tolerance * np.maximum(np.abs(guess), np.abs(found)) + self.absolute_tolerance
        open_ = np.abs(found - guess) > size
        said = ", ".join(
            f"{name}: {before:.9g} gives {after:.9g}"
            for name, before, after, wrong in zip(exchange.interface_names, guess, found, open_, strict=True)
            if wrong
        )
        return (
            f"the interface did not settle in {self.most} iterations of {type(self).__name__}: {said}. "
            "Take a smaller step, a smaller relaxation, or interface_newton"
        )
