"""Exchanges as often as the accuracy needs it, with rollback."""

from __future__ import annotations

import math
from typing import ClassVar

import cosim
from cosim.kit import Exchange
from cosim_fmu.master.algorithms.gauss_seidel import GaussSeidel
from cosim_fmu.master.algorithms.jacobi import Jacobi
from cosim_fmu.master.algorithms.step_control import SMALLEST_PART, StepControl
from cosim_fmu.master.step_discarded import StepDiscardedError

BASES: dict[str, type[cosim.MasterAlgorithm]] = {"jacobi": Jacobi, "gauss_seidel": GaussSeidel}


class AdaptiveStep(cosim.MasterAlgorithm):
    """Step doubling: each exchange is tried whole and as two halves, and their difference is its error.

    The communication points of the co-simulation stay as they are; between two of them the participants
    exchange as often as needed. Where the estimate (Richardson's, for a method of first order) is too
    large, or a participant discards its step, all participants are set back and a shorter exchange is tried.
    The two halves are kept.

    Parameters
    ----------
    tolerance : float
        Of the error of one exchange, relative to each value of the interface, > 0.
    absolute_tolerance : float
        The error that is allowed however small a value is, > 0; in its unit.
    base : str
        What one exchange is: "jacobi" or "gauss_seidel".
    """

    restores: ClassVar[bool] = True
    varies_step: ClassVar[bool] = True

    def __init__(
        self, tolerance: float = 1e-4, absolute_tolerance: float = 1e-6, base: str = "jacobi"
    ) -> None:
        if base not in BASES:
            raise cosim.ModelError.of("base", str(cosim.LookUpError("base", str(base), BASES)))
        self.control = StepControl(tolerance, absolute_tolerance, order=2)
        self.base = BASES[base]()
        self.exchanges_within_step = self.base.exchanges_within_step
        self.solves_loops = self.base.solves_loops

    @property
    def figures(self) -> dict[str, float]:
        """``exchanges`` that were kept (each of two halves) and ``rejected`` ones."""
        return {"exchanges": self.control.taken, "rejected": self.control.rejected}

    def initialize(self, exchange: Exchange, time: float) -> None:
        """Forget an earlier run."""
        self.control.begin()
        self.base.initialize(exchange, time)

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        """As many exchanges as are needed."""
        end = time + size
        while time < end:
            length = self.control.length(time, end)
            stop = end if length == end - time else time + length
            token = exchange.save()
            discarded = None
            try:
                error = self._try(exchange, token, time, length, stop)
            except StepDiscardedError as complaint:  # too long for a participant
                error, discarded = math.inf, complaint
            self.control.adapt(length, error, at_end=stop == end)
            if error <= 1.0:
                time = stop
                continue
            exchange.restore(token)
            if self.control.next < SMALLEST_PART * size:
                if discarded is not None:
                    raise discarded
                raise cosim.SimulationError(time, self.control.complaint(exchange.interface_names))

    def _try(self, exchange: Exchange, token: object, time: float, length: float, stop: float) -> float:
        """The error, over the tolerance, of a step that is taken whole and in two halves."""
        self._exchange_and_step(exchange, time, length)
        whole = exchange.interface()
        exchange.restore(token)
        middle = time + 0.5 * length
        self._exchange_and_step(exchange, time, middle - time)
        self._exchange_and_step(exchange, middle, stop - middle)
        return self.control.judge(whole, exchange.interface())

    def _exchange_and_step(self, exchange: Exchange, time: float, size: float) -> None:
        """One step of the base; what passes directly through a participant is brought up to date after it."""
        self.base.step(exchange, time, size)
        for name in exchange.order:
            exchange.read_outputs(name, exchange.interface())
