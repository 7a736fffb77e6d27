"""Exchanges as often as the accuracy needs it, for participants that cannot go back."""

from __future__ import annotations

from typing import ClassVar

import numpy as np

import cosim
from cosim.kit import Exchange
from cosim_fmu.master.algorithms.extrapolation import Extrapolation
from cosim_fmu.master.algorithms.jacobi import Jacobi
from cosim_fmu.master.algorithms.step_control import SMALLEST_PART, StepControl

FIRST_PART = 1e-2
"""Of the communication step: the first exchange, about which nothing is known."""


class AdaptiveForward(cosim.MasterAlgorithm):
    """Jacobi with linearly extrapolated inputs; what was expected against what came is the error.

    The communication points of the co-simulation stay as they are; between two of them the participants
    exchange as often as needed. The interface at the end of an exchange is compared with the line through
    the two points before it, along which the inputs ran. Nothing is repeated: an exchange that was too
    long stands (it is counted as ``missed``), and the next ones are shorter. Where all participants can
    restore their state, `AdaptiveStep` keeps the tolerance.

    Parameters
    ----------
    tolerance : float
        Of one exchange, relative to each value of the interface, > 0.
    absolute_tolerance : float
        The error that is allowed however small a value is, > 0; in its unit.
    """

    varies_step: ClassVar[bool] = True

    def __init__(self, tolerance: float = 1e-4, absolute_tolerance: float = 1e-6) -> None:
        self.control = StepControl(tolerance, absolute_tolerance, order=2)
        self._base, self._past = Jacobi(extrapolation=1), Extrapolation(1)

    @property
    def figures(self) -> dict[str, float]:
        """All ``exchanges``, and those that ``missed`` the tolerance."""
        return {
            "exchanges": self.control.taken + self.control.rejected,
            "missed": self.control.rejected,
        }

    def initialize(self, exchange: Exchange, time: float) -> None:
        """Forget an earlier run."""
        self.control.begin()
        self._past.forget()
        self._base.initialize(exchange, time)

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        """As many exchanges as are needed."""
        if self.control.next == np.inf:
            self.control.next = FIRST_PART * size
        end = time + size
        while time < end:
            length = self.control.length(time, end)
            stop = end if length == end - time else time + length
            self._past.remember(time, exchange.interface())
            expected = self._past.value(stop)
            self._base.step(exchange, time, stop - time)
            error = self.control.judge(expected, exchange.interface())
            self.control.adapt(length, error, at_end=stop == end)
            time = stop
            if self.control.next < SMALLEST_PART * size:
                raise cosim.SimulationError(time, self.control.complaint(exchange.interface_names))
