"""Jacobi: all participants step from the same values."""

from __future__ import annotations

from typing import ClassVar

import cosim


class Jacobi(cosim.MasterAlgorithm):
    """Every participant steps with the outputs of the last communication point.

    At t_i all inputs are set from the outputs read at t_i, then all participants step to t_{i+1} with
    their inputs held, then all outputs are read. The result does not depend on the order of the
    participants. The error of the coupling is of first order in the step; a value that passes directly
    through a participant arrives one step later at the next one.

    References
    ----------
    Kübler, Schiehlen: Two methods of simulator coupling. Mathematical and Computer Modelling of
    Dynamical Systems 6(2), 2000.
    """

    fixed_sequence: ClassVar[bool] = True
    exchanges_within_step: ClassVar[bool] = False

    def step(self, exchange: cosim.Exchange, time: float, size: float) -> None:
        """Set all, step all, read all."""
        for name in exchange.order:
            exchange.set_inputs(name)
        for name in exchange.order:
            exchange.advance(name, time, size)
        for name in exchange.order:
            exchange.read_outputs(name)
