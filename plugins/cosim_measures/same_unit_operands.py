"""Measures of two signals of one unit."""

from __future__ import annotations

import cosim


class SameUnitOperands(cosim.Measure):
    """Base of measures of two signals of the same unit, in which the value is, too.

    Parameters
    ----------
    first, second : measure or path of a signal
        Vectors are taken element by element, a number serves all elements.
    """

    unit_from = "first"

    first = cosim.source(description="left operand")
    second = cosim.source(unit="{first}", description="right operand")
