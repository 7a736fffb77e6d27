"""Jacobi: all participants step from the same values."""

from __future__ import annotations

from collections.abc import Sequence

import cosim
from cosim.kit import FeedthroughLoop
from cosim_master.algorithms import exchange_layout as layout
from cosim_master.algorithms.noted_calls import Call
from cosim_master.algorithms.programmed_algorithm import (
    ExchangeMemory,
    ProgrammedAlgorithm,
    check_order,
    continued,
)

CORRECTIONS = ("none", "bonds")


class Jacobi(ProgrammedAlgorithm):
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
        "none", or "bonds": in each step the two inputs of each power bond are corrected by the difference
        between the integrals of the outputs (trapezoids) and of the uncorrected inputs over the last step.
        Since corrections are not corrected again, they do not accumulate or oscillate. Held inputs become of
        second order in the step. As every extrapolation, it narrows the range of stable steps.

    References
    ----------
    Kübler, Schiehlen: Two methods of simulator coupling. Mathematical and Computer Modelling of
    Dynamical Systems 6(2), 2000.

    Engineering with Computers, https://doi.org/10.1007/s00366-019-00783-4, on the nearly energy preserving
    coupling element (NEPCE). Moshagen: Convergence of explicitely coupled simulation tools,
    https://arxiv.org/abs/1704.06931, on balance correction: its convergence, and the lack of stability.
    """

    exchanges_within_step: bool = False

    def __init__(self, extrapolation: int = 0, correction: str = "none") -> None:
        super().__init__()
        check_order(extrapolation)
        if correction not in CORRECTIONS:
            raise cosim.ModelError.of(
                "correction", str(cosim.LookUpError("correction", str(correction), CORRECTIONS))
            )
        self._order, self._corrects = extrapolation, correction == "bonds"
        self._along = extrapolation > 0 or self._corrects
        self.fixed_sequence = not self._along
        self.order = min(extrapolation, 1) + 1

    @property
    def about(self) -> str:
        """The extrapolation, in words."""
        if self._order == 0:
            return super().about
        return (
            "At t_i all inputs are extrapolated to t_{i+1}, then all participants step there, then all\n"
            "outputs are read. The error of the coupling is of second order; jumps are extrapolated, too."
        )

    def course_of_inputs(self, stepped: bool) -> str:
        """The course of inputs in words; `stepped` says whether the source steps before."""
        return continued(self._order) + ", corrected in power bonds" * self._corrects

    def write_options(self, memory: ExchangeMemory) -> None:
        """Write that one exchange is made in a step."""
        memory.counts[layout.ORDER] = self._order
        memory.counts[layout.ALONG] = self._along
        memory.counts[layout.CORRECTS] = self._corrects
        if self._corrects and not memory.bonds.size:
            text = 'corrects power bonds, and there are none: bonds = [["plant.force", "plant.speed"]]'
            raise cosim.ModelError.of("master.options.correction", text)
        memory.row(layout.WANTED)[memory.bonds] = 1.0

    def calls(self, order: Sequence[str], loops: Sequence[FeedthroughLoop] = ()) -> list[Call]:
        """Set all, step all, read all."""
        first = layout.SET_ALONG if self._along else layout.SET
        last = layout.READ if self._order == 0 else layout.READ_AT_END
        return [
            *((first, name) for name in order),
            (layout.ADVANCE_ALL, ""),
            *((last, name) for name in order),
        ]
