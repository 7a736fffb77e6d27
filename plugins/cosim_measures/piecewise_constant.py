"""Signals that change only at events."""

from __future__ import annotations

from typing import ClassVar

import cosim


class PiecewiseConstant(cosim.Measure):
    """Base of signals whose derivatives are all 0: they change only at events."""

    known_derivatives: ClassVar[tuple[float, ...]] = (0.0,)

    @cosim.kernel
    def zero_derivatives(value_dot, value_dot2, value_dot3):
        value_dot[0] = 0.0
        value_dot2[0] = 0.0
        value_dot3[0] = 0.0
