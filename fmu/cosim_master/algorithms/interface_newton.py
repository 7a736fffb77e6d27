"""Newton's method on the interface of a co-simulation."""

from __future__ import annotations

from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from cosim.kit import Exchange
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.exchange_memory import ExchangeMemory
from cosim_master.algorithms.waveform_iteration import WaveformIteration

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
