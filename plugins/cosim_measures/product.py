"""Product of two signals."""

from __future__ import annotations

import cosim


class Product(cosim.Measure):
    """Product of two signals.

    Law: value = first second, and the derivatives by the product rule, up to the third; NaN where one that is
    needed is not known. The unit is the product of both.

    Parameters
    ----------
    first, second : measure or path of a signal
        Vectors are taken element by element, a number serves all elements.

    Examples
    --------
    >>> Product(first="strut.force", second="strut.rate").second
    'strut.rate'
    """

    known_as = ("multiply", "times")
    first = cosim.source(description="left factor")
    second = cosim.source(description="right factor")

    value = cosim.cache_slot(unit="{first}.{second}", description="first times second")

    @cosim.kernel
    def multiply(first, second, value):
        value[0] = first * second

    @cosim.kernel
    def derivative(first, first_dot, second, second_dot, value_dot):
        value_dot[0] = first_dot * second + first * second_dot

    @cosim.kernel
    def second_derivative(first, first_dot, first_dot2, second, second_dot, second_dot2, value_dot2):
        value_dot2[0] = first_dot2 * second + 2.0 * first_dot * second_dot + first * second_dot2

    @cosim.kernel
    def third_derivative(
        first, first_dot, first_dot2, first_dot3, second, second_dot, second_dot2, second_dot3, value_dot3
    ):
        value_dot3[0] = first_dot3 * second + first * second_dot3
        value_dot3[0] = value_dot3[0] + 3.0 * (first_dot2 * second_dot + first_dot * second_dot2)
