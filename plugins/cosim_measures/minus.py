"""Difference of two signals."""

from __future__ import annotations

import cosim


class Minus(cosim.Measure):
    """Difference of two signals of the same unit.

    Law: value = first - second, and so for the derivatives; NaN where one of them has none.

    Parameters
    ----------
    first, second : measure or path of a signal
        Vectors are taken element by element, a number serves all elements.

    Examples
    --------
    >>> Minus(first="engine.z", second="road").first
    'engine.z'
    """

    known_as = ("difference", "subtract")
    unit_from = "first"

    first = cosim.source(description="left operand")
    second = cosim.source(unit="{first}", description="right operand")

    @cosim.kernel
    def value(first, second, value):
        value[0] = first - second

    @cosim.kernel
    def derivative(first_dot, second_dot, value_dot):
        value_dot[0] = first_dot - second_dot

    @cosim.kernel
    def second_derivative(first_dot2, second_dot2, value_dot2):
        value_dot2[0] = first_dot2 - second_dot2

    @cosim.kernel
    def third_derivative(first_dot3, second_dot3, value_dot3):
        value_dot3[0] = first_dot3 - second_dot3
