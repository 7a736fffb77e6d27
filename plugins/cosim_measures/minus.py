"""Difference of two signals."""

from __future__ import annotations

import cosim
from cosim_measures.same_unit_operands import SameUnitOperands


class Minus(SameUnitOperands):
    """Difference of two signals of the same unit.

    Law: value = first - second, and so for the derivatives; NaN where one of them has none.

    Parameters are those of `SameUnitOperands`.

    Examples
    --------
    >>> Minus(first="engine.z", second="road").first
    'engine.z'
    """

    known_as = ("difference", "subtract")

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
