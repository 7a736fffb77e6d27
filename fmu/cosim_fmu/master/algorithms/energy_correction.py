"""What power bonds lacked in one step is given back in the next."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Course, Exchange

Vector = NDArray[np.float64]
WAYS = ("none", "bonds")


class EnergyCorrection:
    """Corrects the course of the inputs of power bonds, so that their integrals follow those of the outputs.

    An input that was held or extrapolated over the last step had another integral than its output, the
    trapezoid of its values at both ends; per length of a step that difference is added over the next one. The
    correction is of what the course would have been without one: nothing adds up, and nothing swings. Held
    inputs become of second order in the step. As every extrapolation, it narrows the range of stable steps.

    References
    ----------
    Engineering with Computers, https://doi.org/10.1007/s00366-019-00783-4, on the nearly energy preserving
    coupling element (NEPCE). Moshagen: Convergence of explicitely coupled simulation tools,
    https://arxiv.org/abs/1704.06931, on balance correction: its convergence, and the lack of stability.
    """

    def __init__(self) -> None:
        self._wanted: NDArray[np.bool_] = np.zeros(0, dtype=bool)
        self._last: tuple[Vector, Vector] | None = None

    @classmethod
    def of(cls, way: str) -> EnergyCorrection | None:
        """The correction that is asked for.

        Raises
        ------
        ModelError
            For another word than those of `WAYS`.
        """
        if way not in WAYS:
            raise cosim.ModelError.of("correction", str(cosim.LookUpError("correction", str(way), WAYS)))
        return cls() if way == "bonds" else None

    def begin(self, exchange: Exchange) -> None:
        """Before a run.

        Raises
        ------
        ModelError
            There are no power bonds.
        """
        if not exchange.bonds:
            text = 'corrects power bonds, and there are none: bonds = [["plant.force", "plant.speed"]]'
            raise cosim.ModelError.of("master.options.correction", text)
        self._wanted = np.zeros(len(exchange.interface_names), dtype=bool)
        self._wanted[[place for bond in exchange.bonds for place in bond]] = True
        self._last = None

    def corrected(self, course: Course, start: Vector) -> Course:
        """The course over a step that begins with these values."""
        lacked = np.zeros_like(start)
        if self._last is not None:
            before, middle = self._last
            lacked = np.where(self._wanted, 0.5 * (before + start) - middle, 0.0)
        self._last = start, course.middle
        return course._replace(middle=course.middle + lacked)
