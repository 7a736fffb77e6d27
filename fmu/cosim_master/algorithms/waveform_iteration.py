"""Waveform iteration: every step is repeated until inputs and outputs agree."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np

import cosim
from cosim.kit import Exchange, FeedthroughLoop
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.noted_calls import Call
from cosim_master.algorithms.programmed_algorithm import ExchangeMemory, ProgrammedAlgorithm

HELD = {
    "line": "the line from its value at t_i to that at t_{i+1}",
    "mean": "the mean of its values at t_i and t_{i+1}, held",
    "end": "its value at t_{i+1}, held",
}
"""The courses of inputs over a step, in words."""
HOLDS = {"line": layout.LINE, "mean": layout.MEAN, "end": layout.END_HELD}
NEARLY = 1e-4
"""Relative changes that stay below this part are caused by solvers inside participants."""


class WaveformIteration(ProgrammedAlgorithm):
    """Fixed-point iteration of the interface over each communication step, with rollback.

    The interface runs linearly from its values at t_i to its values at t_{i+1}, which are not known: they are
    guessed by extrapolation, and all participants step with them. The resulting outputs are the next guess,
    for which all participants are set back to t_i. The iteration ends when a guess and its result agree. The
    coupling is then implicit: it is of second order in the step, and loops of direct feedthrough are solved.
    It converges if a change of the interface changes the result by less; `InterfaceNewton` converges beyond
    that.

    Parameters
    ----------
    tolerance : float
        Relative change of each value of the interface at which the iteration ends, > 0.
    absolute_tolerance : float
        Absolute change of each value below which the iteration ends as well, > 0; in its unit.
    iterations : int
        The largest number of iterations in one step.
    relaxation : float
        The part of a change that enters the next guess, 0 < relaxation <= 1.
    hold : str
        The course of inputs over a step: along a "line" (participants that do not follow slopes hold its
        mean); held at the "mean"; held at the value at the "end", which is of first order and damps stiff
        couplings.
    """

    restores: bool = True
    is_iterated: ClassVar[bool] = True

    more_likely: ClassVar[str] = "a smaller step, a smaller relaxation, or interface_newton"
    """The hint for values that do not settle."""

    def __init__(
        self,
        tolerance: float = 1e-8,
        absolute_tolerance: float = 1e-10,
        iterations: int = 50,
        relaxation: float = 1.0,
        hold: str = "line",
    ) -> None:
        super().__init__()
        if hold not in HELD:
            raise cosim.ModelError.of("hold", str(cosim.LookUpError("way to hold inputs", str(hold), HELD)))
        self.hold, self.order = hold, 1 if hold == "end" else 2
        problems = [
            cosim.Problem(name, f"is {value!r}, needs a number greater than 0" + upper_bound)
            for name, value, highest, upper_bound in (
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

    @property
    def figures(self) -> dict[str, float]:
        """``iterations`` of all steps, ``largest_iterations`` of one step."""
        counts = self.memory.counts
        return {"iterations": int(counts[layout.TOTAL]), "largest_iterations": int(counts[layout.LARGEST])}

    def course_of_inputs(self, stepped: bool) -> str:
        """The course of inputs in words; `stepped` says whether the source steps before."""
        return f"{HELD[self.hold]}, again until both fit"

    def write_options(self, memory: ExchangeMemory) -> None:
        """Write that a step is repeated until a guess and its outcome agree."""
        memory.counts[layout.KIND] = layout.ITERATED
        memory.counts[layout.ORDER] = 1
        memory.counts[layout.ALONG] = 1
        memory.counts[layout.HOLD] = HOLDS[self.hold]
        memory.counts[layout.MOST] = self.most
        memory.numbers[layout.TOLERANCE] = self.tolerance
        memory.numbers[layout.ABSOLUTE] = self.absolute_tolerance
        memory.numbers[layout.RELAXATION] = self.relaxation

    def calls(self, order: Sequence[str], loops: Sequence[FeedthroughLoop] = ()) -> list[Call]:
        """Set all, step all; read one after the other, each with the new values of those before."""
        sequence = [(layout.SET_ALONG, name) for name in order]
        sequence += [(layout.ADVANCE_ALL, ""), (layout.PUT_END, "")]
        for name in order:
            sequence += [(layout.READ_AT_END, name), (layout.TAKE_KNOWN, name)]
        return sequence

    def complaint(self, exchange: Exchange) -> str:
        """The values that did not settle, in a sentence."""
        guess, result = self.memory.row(layout.GUESS), self.memory.row(layout.NOW)
        allowed = self.tolerance * np.maximum(np.abs(guess), np.abs(result)) + self.absolute_tolerance
        is_open = ~(np.abs(result - guess) <= allowed)  # also values that are not numbers
        listed = ", ".join(
            f"{name}: {before:.9g} gives {after:.9g}"
            for name, before, after, wrong in zip(
                exchange.interface_names, guess, result, is_open, strict=True
            )
            if wrong
        )
        largest = np.maximum(np.abs(guess), np.abs(result))[is_open]
        relative = np.abs(result - guess)[is_open] / largest
        if np.all(relative < NEARLY):
            tolerance = f"options.tolerance = {5.0 * relative.max():.0e}"
            advice = f"{tolerance}: a participant's own solver may be no more exact"
        else:
            advice = (
                f"{self.more_likely}; a value that switches within the step settles in no number of them: "
                "take gauss_seidel or adaptive"
            )
        name = type(self).__name__
        return f"the interface did not settle in {self.most} iterations of {name}: {listed}. Take {advice}"
