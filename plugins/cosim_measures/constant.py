"""A constant signal."""

from __future__ import annotations

from typing import ClassVar

import cosim


class Constant(cosim.Measure):
    """A number, or several, that never change by themselves.

    Law: value = what was given, all derivatives are 0. Known whenever a State is.

    Parameters
    ----------
    value : float, or array_like of float
        A parameter: it can be changed in a State.

    Examples
    --------
    >>> Constant(value=2.5).value
    2.5
    """

    known_derivatives: ClassVar[tuple[float, ...]] = (0.0,)

    value = cosim.parameter(each=True, description="the value")

    @cosim.kernel
    def still(value_dot, value_dot2, value_dot3):
        value_dot[0] = 0.0
        value_dot2[0] = 0.0
        value_dot3[0] = 0.0
