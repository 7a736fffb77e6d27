"""Implicit coupling by Newton's method on the interface."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Exchange
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.programmed_algorithm import ExchangeMemory
from cosim_master.algorithms.waveform_iteration import WaveformIteration

Vector = NDArray[np.float64]


class InterfaceNewton(WaveformIteration):
    """Implicit coupling as `WaveformIteration`, solved by Newton's method.

    The residual is the resulting interface minus the guess at the end of the step. Its first Jacobian is made
    of directional derivatives, if all participants with direct feedthrough provide them; it lacks what passes
    through states within the step. The Jacobian is kept from step to step and corrected by Broyden's formula
    in each iteration. If the residual shrinks slowly, or derivatives are missing, it is made of differences:
    one more step of all participants, with rollback, for each value of the interface.

    It converges where fixed-point iteration does not: with stiff springs between participants, and with loops
    of direct feedthrough with any gain but 1.

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
        """Write the Jacobian of the direct feedthrough of the participants, if all can differentiate."""
        feedthrough = exchange.derivatives()
        if feedthrough is None or not np.any(feedthrough):  # it would not tell what passes through states
            return
        memory, size = self.memory, len(feedthrough)
        first = layout.matrix_row(size) * size
        matrix = self.derivatives_of_result(feedthrough, exchange) - np.eye(size)
        memory.table[first : first + size * size] = matrix.ravel()
        memory.counts[layout.KNOWN] = 1
        memory.counts[layout.DERIVATIVES] += 1

    def derivatives_of_result(self, feedthrough: Vector, exchange: Exchange) -> Vector:
        """The derivatives of the result by the guess, where each output is read after those before it."""
        owners = np.array(exchange.interface_owners)
        product = np.eye(len(feedthrough))
        for name in exchange.order:
            product[owners == name] = feedthrough[owners == name] @ product
        return product
