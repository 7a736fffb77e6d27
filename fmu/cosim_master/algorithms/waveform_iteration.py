"""Waveform iteration: every step is repeated until inputs and outputs fit; with Newton's method, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Exchange, FeedthroughLoop
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.programmed_algorithm import Call, ExchangeMemory, ProgrammedAlgorithm

HELD = {
    "line": "the line from its value at t_i to that at t_{i+1}",
    "mean": "the mean of its values at t_i and t_{i+1}, held",
    "end": "its value at t_{i+1}, held",
}
"""What inputs may do over a step, in words."""
HOLDS = {"line": layout.LINE, "mean": layout.MEAN, "end": layout.END_HELD}
NEARLY = 1e-4
"""What settles to this part of the values alone is held up by what the participants solve inside."""


class WaveformIteration(ProgrammedAlgorithm):
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

    more_likely: ClassVar[str] = "a smaller step, a smaller relaxation, or interface_newton"
    """What settles more easily."""

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

    @property
    def figures(self) -> dict[str, float]:
        """``iterations`` of all steps, ``largest_iterations`` of one step."""
        counts = self.memory.counts
        return {"iterations": int(counts[layout.TOTAL]), "largest_iterations": int(counts[layout.LARGEST])}

    def course_of_inputs(self, stepped: bool) -> str:
        """In words; `stepped` says whether the source steps before."""
        return f"{HELD[self.hold]}, again until both fit"

    def settle(self, memory: ExchangeMemory) -> None:
        """Exchanges over a step, until a guess and what comes of it agree."""
        memory.counts[layout.KIND] = layout.ITERATED
        memory.counts[layout.ORDER] = 1
        memory.counts[layout.ALONG] = 1
        memory.counts[layout.HOLD] = HOLDS[self.hold]
        memory.counts[layout.MOST] = self.most
        memory.numbers[layout.TOLERANCE] = self.tolerance
        memory.numbers[layout.ABSOLUTE] = self.absolute_tolerance
        memory.numbers[layout.RELAXATION] = self.relaxation

    def calls(self, order: Sequence[str], loops: Sequence[FeedthroughLoop] = ()) -> list[Call]:
        """Set all, step all; read one after the other, each with what those before have told."""
        found = [(layout.SET_ALONG, name) for name in order]
        found += [(layout.ADVANCE_ALL, ""), (layout.PUT_END, "")]
        for name in order:
            found += [(layout.READ_AT_END, name), (layout.TAKE_KNOWN, name)]
        return found

    def complaint(self, exchange: Exchange) -> str:
        """Which values did not settle."""
        guess, found = self.memory.row(layout.GUESS), self.memory.row(layout.NOW)
        size = self.tolerance * np.maximum(np.abs(guess), np.abs(found)) + self.absolute_tolerance
        open_ = ~(np.abs(found - guess) <= size)  # what is no number, too
        said = ", ".join(
            f"{name}: {before:.9g} gives {after:.9g}"
            for name, before, after, wrong in zip(exchange.interface_names, guess, found, open_, strict=True)
            if wrong
        )
        off = np.abs(found - guess)[open_] / np.maximum(np.abs(guess), np.abs(found))[open_]
        if np.all(off < NEARLY):
            advice = (
                f"options.tolerance = {5.0 * off.max():.0e}: a participant's own solver may be no more exact"
            )
        else:
            advice = (
                f"{self.more_likely}; a value that switches within the step settles in no number of them: "
                "take gauss_seidel or adaptive"
            )
        name = type(self).__name__
        return f"the interface did not settle in {self.most} iterations of {name}: {said}. Take {advice}"


Vector = NDArray[np.float64]


class InterfaceNewton(WaveformIteration):
    """Implicit coupling as `WaveformIteration`, solved by Newton's method.

    The Jacobian of *what comes out minus what was put in* with respect to the interface at the end of the
    step is taken, at first, from the participants' directional derivatives, where all with direct feedthrough
    give them: it lacks what passes through states within the step. It is kept from step to step, corrected by
    Broyden's formula in each iteration, and made of differences (one more step of all participants, with
    rollback, for each value of the interface) when the residual shrinks slowly, or where derivatives are
    missing. It converges where fixed-point iteration does not: stiff springs between participants, loops of
    direct feedthrough with any gain but 1.

    Parameters
    ----------
    **options
        `tolerance`, `absolute_tolerance`, `iterations`, `hold`: see `WaveformIteration`.
    """

    more_likely: ClassVar[str] = "a smaller step"

    def __init__(
        self,
        tolerance: float = 1e-8,
        absolute_tolerance: float = 1e-10,
        iterations: int = 20,
        hold: str = "line",
    ) -> None:
        super().__init__(tolerance, absolute_tolerance, iterations, hold=hold)

    @property
    def figures(self) -> dict[str, float]:
        """``iterations``, ``largest_iterations``; ``jacobians`` of differences, and of ``derivatives``."""
        counts = self.memory.counts
        told = int(counts[layout.DERIVATIVES])
        derivatives = {"derivatives": told} if told else {}
        return {**super().figures, "jacobians": int(counts[layout.DIFFERENCES]), **derivatives}

    def rows(self, size: int) -> int:
        """With a Jacobian."""
        return layout.newton_rows(size)

    def settle(self, memory: ExchangeMemory) -> None:
        """As waveform iteration, with another next guess."""
        super().settle(memory)
        memory.counts[layout.KIND] = layout.NEWTON

    def derive(self, exchange: Exchange) -> None:
        """What passes through the participants directly is the Jacobian, where they all tell it."""
        through = exchange.derivatives()
        if through is None or not np.any(through):  # without feedthrough they say nothing of a step
            return
        memory, size = self.memory, len(through)
        first = layout.matrix_row(size) * size
        matrix = self.answer(through, exchange) - np.eye(size)
        memory.table[first : first + size * size] = matrix.ravel()
        memory.counts[layout.KNOWN] = 1
        memory.counts[layout.DERIVATIVES] += 1

    def answer(self, through: Vector, exchange: Exchange) -> Vector:
        """Derivatives of what `evaluate` reads: one after the other, with what those before have told."""
        owners = np.array(exchange.interface_owners)
        found = np.eye(len(through))
        for name in exchange.order:
            found[owners == name] = through[owners == name] @ found
        return found
