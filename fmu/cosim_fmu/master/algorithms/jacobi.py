"""Jacobi: all participants step from the same values."""

from __future__ import annotations

import cosim
from cosim.kit import Exchange
from cosim_fmu.master.algorithms.energy_correction import EnergyCorrection
from cosim_fmu.master.algorithms.extrapolation import Extrapolation


class Jacobi(cosim.MasterAlgorithm):
    """Every participant steps with the outputs of the last communication point.

    At t_i all inputs are set from the outputs read at t_i, then all participants step to t_{i+1} with
    their inputs held, then all outputs are read. The result does not depend on the order of the
    participants. The error of the coupling is of first order in the step; a value that passes directly
    through a participant arrives one step later at the next one.

    Parameters
    ----------
    extrapolation : int
        0 holds the inputs; 1 and 2 extrapolate them over the step by a polynomial through the last two or
        three communication points, with which the error of the coupling is of second order (inputs
        that cannot follow a line hold its mean). Jumps are extrapolated, too: keep 0 where signals jump.
    correction : str
        "bonds" gives back to the two inputs of each power bond, in the next step, what their integrals lacked
        over the last one (`EnergyCorrection`); "none".

    References
    ----------
    Kübler, Schiehlen: Two methods of simulator coupling. Mathematical and Computer Modelling of
    Dynamical Systems 6(2), 2000.
    """

    exchanges_within_step: bool = False

    def __init__(self, extrapolation: int = 0, correction: str = "none") -> None:
        self._past = Extrapolation(extrapolation)
        self._correction = EnergyCorrection.of(correction)
        self.fixed_sequence = extrapolation == 0 and self._correction is None
        self.order = min(extrapolation, 1) + 1

    @property
    def about(self) -> str:
        """What extrapolation makes of it."""
        if self._past.order == 0:
            return super().about
        return (
            "At t_i all inputs are extrapolated to t_{i+1}, then all participants step there, then all\n"
            "outputs are read. The error of the coupling is of second order; jumps are extrapolated, too."
        )

    def course_of_inputs(self, stepped: bool) -> str:
        """In words; `stepped` says whether the source steps before."""
        more = ", corrected in power bonds" if self._correction is not None else ""
        return self._past.words() + more

    def initialize(self, exchange: Exchange, time: float) -> None:
        """Forget the values of an earlier run."""
        self._past.forget()
        if self._correction is not None:
            self._correction.begin(exchange)

    def step(self, exchange: Exchange, time: float, size: float) -> None:
        """Set all, step all, read all."""
        if self._past.order == 0 and self._correction is None:
            for name in exchange.order:
                exchange.set_inputs(name)
            exchange.advance_all(time, size)
            for name in exchange.order:
                exchange.read_outputs(name)
        else:
            self._past.remember(time, exchange.interface())
            course = self._past.course(time, size)
            if self._correction is not None:
                course = self._correction.corrected(course, exchange.interface())
            for name in exchange.order:
                exchange.set_inputs(name, course)
            exchange.advance_all(time, size)
            end = self._past.value(time + size) if self._past.order > 0 else None  # else held to the end
            for name in exchange.order:
                exchange.read_outputs(name, end)
