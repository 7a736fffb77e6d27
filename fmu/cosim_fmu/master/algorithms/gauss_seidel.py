"""Gauss-Seidel: each participant steps with what those before it have reached."""

from __future__ import annotations

import numpy as np

import cosim
from cosim.kit import Course, Exchange, FeedthroughLoop
from cosim_fmu.master.algorithms.extrapolation import Extrapolation
from cosim_fmu.master.algorithms.loop_iteration import LoopExchange, LoopIteration


class GaussSeidel(cosim.MasterAlgorithm):
    """The participants step one after the other, each with the newest outputs of the others.

    A participant takes the outputs at t_{i+1} of those that stepped before it and the outputs at t_i of
    those that come after it, holds them and steps to t_{i+1}. The order follows from the connections: a
    participant whose output depends directly on its inputs goes before those that read this output.
    One pass: the error of the coupling is of first order in the step, usually
    with a smaller constant than Jacobi's, and values do not pile up delays along the order. The participants
    of a closed loop of direct feedthrough step together and are iterated (`LoopIteration`).

    Parameters
    ----------
    extrapolation : int
        0 holds the inputs. With 1 and 2 inputs run over the step: from t_i to t_{i+1} where the source has
        stepped already, else along a polynomial through the last two or three communication points. The
        error of the coupling is then of second order (inputs that cannot follow a line hold its
        mean). Jumps are extrapolated, too: keep 0 where signals jump.

    References
    ----------
    Kübler, Schiehlen: Two methods of simulator coupling. Mathematical and Computer Modelling of
    Dynamical Systems 6(2), 2000.
    """

    exchanges_within_step: bool = True

    def __init__(self, extrapolation: int = 0) -> None:
        self._past = Extrapolation(extrapolation)
        self.fixed_sequence = self.solves_loops = extrapolation == 0
        self.order = min(extrapolation, 1) + 1
        self._iterations: dict[FeedthroughLoop, LoopIteration] = {}

    @property
    def about(self) -> str:
        """What extrapolation makes of it."""
        if self._past.order == 0:
            return super().about
        return (
            "One after the other: inputs run over the step to where their source is at t_{i+1}, if it\n"
            "has stepped already, and are extrapolated from the communication points before, if not.\n"
            "The error of the coupling is of second order; jumps are extrapolated, too."
        )

    def course_of_inputs(self, stepped: bool) -> str:
        """In words; `stepped` says whether the source steps before."""
        return "the line from its value at t_i to that at t_{i+1}" if stepped else self._past.words()

    @property
    def figures(self) -> dict[str, float]:
        """``iterations`` of all loops, ``largest_iterations`` of one in one step."""
        found = [iteration.figures for iteration in self._iterations.values()]
        if not found:
            return {}
        return {
            "iterations": sum(each["iterations"] for each in found),
            "largest_iterations": max(each["largest_iterations"] for each in found),
        }

    def initialize(self, exchange: Exchange, time: float) -> None:
        """Forget the values of an earlier run."""
        self._past.forget()
        self._iterations = {loop: LoopIteration() for loop in exchange.loops}
        for loop, iteration in self._iterations.items():
            iteration.initialize(LoopExchange(exchange, loop), time)

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        """For each in the order: set, step, read."""
        if self._past.order > 0:
            self._along_lines(exchange, time, size)
            return
        members = {name: loop for loop in exchange.loops for name in loop.participants}
        for name in exchange.order:
            loop = members.get(name)
            if loop is None:
                exchange.set_inputs(name)
                exchange.advance(name, time, size)
                exchange.read_outputs(name)
            elif name == loop.participants[0]:
                self._iterations[loop].step(LoopExchange(exchange, loop), time, size)

    def _along_lines(self, exchange: Exchange, time: float, size: float) -> None:
        start = exchange.interface()
        self._past.remember(time, start)
        ahead, expected = self._past.course(time, size), self._past.value(time + size)
        owners = np.array(exchange.interface_owners)
        known = np.zeros(start.size, dtype=bool)
        for name in exchange.order:
            end = exchange.interface()
            middle = np.where(known, 0.5 * (start + end), ahead.middle)
            slope = np.where(known, (end - start) / size, ahead.slope)
            exchange.set_inputs(name, Course(middle, slope, size))
            exchange.advance(name, time, size)
            exchange.read_outputs(name, np.where(known, end, expected))
            known |= owners == name
