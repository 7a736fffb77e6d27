"""Gauss-Seidel: each participant steps with what those before it have reached."""

from __future__ import annotations

from typing import ClassVar

import cosim


class GaussSeidel(cosim.MasterAlgorithm):
    """The participants step one after the other, each with the newest outputs of the others.

    A participant takes the outputs at t_{i+1} of those that stepped before it and the outputs at t_i of
    those that come after it, holds them and steps to t_{i+1}. The order follows from the connections: a
    participant whose output depends directly on its inputs goes before those that read this output.
    One pass, no iteration: the error of the coupling is of first order in the step, usually
    with a smaller constant than Jacobi's, and values do not pile up delays along the order.

    References
    ----------
    Kübler, Schiehlen: Two methods of simulator coupling. Mathematical and Computer Modelling of
    Dynamical Systems 6(2), 2000.
    """

    fixed_sequence: ClassVar[bool] = True
    exchanges_within_step: ClassVar[bool] = True

    def step(self, exchange: cosim.Exchange, time: float, size: float) -> None:
        """For each in the order: set, step, read."""
        for name in exchange.order:
            exchange.set_inputs(name)
            exchange.advance(name, time, size)
            exchange.read_outputs(name)
