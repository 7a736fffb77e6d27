"""Waveform iteration: every step is repeated until inputs and outputs fit; with Newton's method, too."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Course, Exchange, FeedthroughLoop
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.programmed_algorithm import Call, ExchangeMemory, ProgrammedAlgorithm

HELD = {
    "line": "the line from its value at t_i to that at t_{i+1}",
    "mean": "the mean of its values at t_i and t_{i+1}, held",
    "end": "its value at t_{i+1}, held",
}
"""The courses of inputs over a step, in words."""
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
        """Set all, step all; read one after the other, each with the values of those before."""
        sequence = [(layout.SET_ALONG, name) for name in order]
        sequence += [(layout.ADVANCE_ALL, ""), (layout.PUT_END, "")]
        for name in order:
            sequence += [(layout.READ_AT_END, name), (layout.TAKE_KNOWN, name)]
        return sequence

    def complaint(self, exchange: Exchange) -> str:
        """The values that did not settle, in a sentence."""
        guess, result = self.memory.row(layout.GUESS), self.memory.row(layout.NOW)
        size = self.tolerance * np.maximum(np.abs(guess), np.abs(result)) + self.absolute_tolerance
        open_ = ~(np.abs(result - guess) <= size)  # what is not a number, too
        listed = ", ".join(
            f"{name}: {before:.9g} gives {after:.9g}"
            for name, before, after, wrong in zip(exchange.interface_names, guess, result, open_, strict=True)
            if wrong
        )
        off = np.abs(result - guess)[open_] / np.maximum(np.abs(guess), np.abs(result))[open_]
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
        return f"the interface did not settle in {self.most} iterations of {name}: {listed}. Take {advice}"


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
        count = int(counts[layout.DERIVATIVES])
        derivatives = {"derivatives": count} if count else {}
        return {**super().figures, "jacobians": int(counts[layout.DIFFERENCES]), **derivatives}

    def rows(self, size: int) -> int:
        """The number of rows with a Jacobian."""
        return layout.newton_rows(size)

    def write_options(self, memory: ExchangeMemory) -> None:
        """Write the options of waveform iteration, with another next guess."""
        super().write_options(memory)
        memory.counts[layout.KIND] = layout.NEWTON

    def derive(self, exchange: Exchange) -> None:
        """Take the Jacobian from the direct feedthrough of the participants, if all can differentiate."""
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
        product = np.eye(len(through))
        for name in exchange.order:
            product[owners == name] = through[owners == name] @ product
        return product


class LoopIteration(InterfaceNewton):
    """Finds the outputs on a loop such that the inputs that they become lead to them.

    The participants of the loop step with the values at t_{i+1} as inputs, held over the step, and are set
    back until what comes out is what went in: Newton's method on the values of the loop. All other inputs are
    what they are on the board.
    """

    def calls(self, order: Sequence[str], loops: Sequence[FeedthroughLoop] = ()) -> list[Call]:
        """Set all to what is expected, step all, read all."""
        return [
            (layout.PUT_END, ""),
            *((layout.SET, name) for name in order),
            (layout.ADVANCE_ALL, ""),
            *((layout.READ, name) for name in order),
        ]

    def answer(self, through: Vector, exchange: Exchange) -> Vector:
        """The derivatives as they are, since all inputs are set before any output is read."""
        return through


class LoopExchange:
    """The part of an exchange that belongs to a loop: its participants, and its values as interface.

    Parameters
    ----------
    exchange : Exchange
    loop : FeedthroughLoop
    """

    loops: Sequence[FeedthroughLoop] = ()
    bonds: Sequence[tuple[int, int]] = ()

    def __init__(self, exchange: Exchange, loop: FeedthroughLoop) -> None:
        self._exchange = exchange
        self.can_restore = exchange.can_restore
        self.order: Sequence[str] = loop.participants
        self.interface_names: Sequence[str] = loop.values
        place_of = {name: place for place, name in enumerate(exchange.interface_names)}
        self.places = np.array([place_of[name] for name in loop.values], dtype=np.intp)
        self.interface_owners: Sequence[str] = [exchange.interface_owners[place] for place in self.places]
        self.interface_held: Sequence[bool] = [exchange.interface_held[place] for place in self.places]

    def set_inputs(self, name: str, course: Course | None = None) -> None:
        """Set inputs as the whole exchange does."""
        self._exchange.set_inputs(name, course)

    def advance(self, name: str, time: float, size: float) -> None:
        """Step a participant."""
        self._exchange.advance(name, time, size)

    def restore(self, token: Any) -> None:
        """Restore a saved state."""
        self._exchange.restore(token)

    def advance_all(self, time: float, size: float) -> None:
        """Step the participants of the loop."""
        for name in self.order:
            self.advance(name, time, size)

    def read_outputs(self, name: str, end: Vector | None = None) -> None:
        """Read outputs as the whole exchange does; `end` are values of the loop."""
        self._exchange.read_outputs(name, None if end is None else self._whole(end))

    def interface(self) -> Vector:
        """The values of the loop."""
        return self._exchange.interface()[self.places]

    def put(self, values: Vector) -> None:
        """Write the values of the loop onto the board."""
        self._exchange.put(self._whole(values))

    def derivatives(self) -> Vector | None:
        """The derivatives of the whole exchange, for the values of the loop."""
        matrix = self._exchange.derivatives()
        return None if matrix is None else matrix[np.ix_(self.places, self.places)]

    def _whole(self, values: Vector) -> Vector:
        whole = self._exchange.interface()
        whole[self.places] = values
        return whole

    def save(self, names: Sequence[str] | None = None) -> Any:
        """The state of the participants of the loop."""
        return self._exchange.save(self.order if names is None else names)
