"""Gauss-Seidel: each participant steps with the newest outputs of those that stepped before it."""

from __future__ import annotations

from collections.abc import Sequence

from cosim.kit import Exchange, FeedthroughLoop
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.loop_iteration import LoopExchange, LoopIteration
from cosim_master.algorithms.noted_calls import Call
from cosim_master.algorithms.programmed_algorithm import (
    ExchangeMemory,
    ProgrammedAlgorithm,
    check_order,
    continued,
)


class GaussSeidel(ProgrammedAlgorithm):
    """The participants step one after the other, each with the newest outputs of the others.

    The inputs of a participant are the outputs at t_{i+1} of those that stepped before it, and the outputs at
    t_i of those that come after it; they are held while it steps to t_{i+1}. The order follows from the
    connections: a participant whose output depends directly on its inputs goes before those that read this
    output. There is one pass: the error of the coupling is of first order in the step, usually with a smaller
    constant than Jacobi's, and values are not delayed along the order. The participants of a closed loop of
    direct feedthrough step together and are iterated (`LoopIteration`).

    Parameters
    ----------
    extrapolation : int
        0 holds the inputs. With 1 and 2 inputs change over the step: from the value at t_i to that at t_{i+1}
        if the source has stepped already, else along a polynomial through the last two or three communication
        points. The error of the coupling is then of second order; inputs that cannot follow a line hold its
        mean. Jumps are extrapolated, too: keep 0 where signals jump.

    References
    ----------
    Kübler, Schiehlen: Two methods of simulator coupling. Mathematical and Computer Modelling of
    Dynamical Systems 6(2), 2000.
    """

    exchanges_within_step: bool = True

    def __init__(self, extrapolation: int = 0) -> None:
        super().__init__()
        check_order(extrapolation)
        self._order = extrapolation
        self.fixed_sequence = self.solves_loops = extrapolation == 0
        self.order = min(extrapolation, 1) + 1
        self._iterations: dict[FeedthroughLoop, LoopIteration] = {}

    @property
    def about(self) -> str:
        """The extrapolation, in words."""
        if self._order == 0:
            return super().about
        return (
            "One after the other: inputs run over the step to where their source is at t_{i+1}, if it\n"
            "has stepped already, and are extrapolated from the communication points before, if not.\n"
            "The error of the coupling is of second order; jumps are extrapolated, too."
        )

    def course_of_inputs(self, stepped: bool) -> str:
        """The course of inputs in words; `stepped` says whether the source steps before."""
        return "the line from its value at t_i to that at t_{i+1}" if stepped else continued(self._order)

    @property
    def figures(self) -> dict[str, float]:
        """``iterations`` of all loops, ``largest_iterations`` of one in one step."""
        figures_of_loops = [iteration.figures for iteration in self._iterations.values()]
        if not figures_of_loops:
            return {}
        return {
            "iterations": sum(figures["iterations"] for figures in figures_of_loops),
            "largest_iterations": max(figures["largest_iterations"] for figures in figures_of_loops),
        }

    def initialize(self, exchange: Exchange, time: float) -> None:
        """Forget an earlier run."""
        self._iterations = {loop: LoopIteration() for loop in exchange.loops}
        for loop, iteration in self._iterations.items():
            iteration.initialize(LoopExchange(exchange, loop), time)
        super().initialize(exchange, time)

    def write_options(self, memory: ExchangeMemory) -> None:
        """Write that one exchange is made in a step."""
        memory.counts[layout.ORDER] = self._order
        memory.counts[layout.ALONG] = self._order > 0

    def calls(self, order: Sequence[str], loops: Sequence[FeedthroughLoop] = ()) -> list[Call]:
        """Set, step and read each participant in the order."""
        calls_of_one: tuple[int, ...] = (layout.SET, layout.ADVANCE, layout.READ)
        if self._order > 0:
            calls_of_one = (layout.SET_ALONG, layout.ADVANCE, layout.READ_AT_END, layout.TAKE_KNOWN)
        first_of_loop = {name: loop.participants[0] for loop in loops for name in loop.participants}
        sequence = []
        for name in order:
            if name not in first_of_loop:
                sequence += [(call, name) for call in calls_of_one]
            elif name == first_of_loop[name]:
                sequence.append((layout.ITERATE, name))
        return sequence

    def iteration(self, loop: FeedthroughLoop) -> LoopIteration:
        """The algorithm that iterates a loop."""
        return self._iterations[loop]

    def iterate(self, exchange: Exchange, name: str, time: float, size: float) -> None:
        """Step the loop of direct feedthrough that begins with a participant."""
        loop = next(loop for loop in exchange.loops if loop.participants[0] == name)
        self._iterations[loop].step(LoopExchange(exchange, loop), time, size)
