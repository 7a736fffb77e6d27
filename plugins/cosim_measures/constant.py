"""A constant signal."""

from __future__ import annotations

import cosim


class Constant(cosim.Measure):
    """A number that never changes by itself.

    Law: value = constant, value_dot = 0.

    Parameters
    ----------
    constant : float

    Examples
    --------
    >>> Constant(constant=2.5).constant
    2.5
    """

    constant = cosim.parameter(description="the value")

    @cosim.kernel
    def number(constant, value, value_dot):
        value[0] = constant
        value_dot[0] = 0.0
