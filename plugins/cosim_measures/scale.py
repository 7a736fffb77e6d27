"""A signal times a factor."""

from __future__ import annotations

import cosim


class Scale(cosim.Measure):
    """A signal times a factor, which may have a unit.

    Law: value = factor source, and so for the derivatives; NaN where the source has none.

    Parameters
    ----------
    source : measure or path of a signal
    factor : float, or one for each element
        With its unit, ``"-40 N/m"``; without one it has that which leads to what the measure is connected
        to, else it is dimensionless.

    Examples
    --------
    >>> Scale(source="engine.z", factor=2.0).factor
    2.0
    """

    known_as = ("gain", "amplifier")
    source = cosim.source(description="what is scaled")
    factor = cosim.parameter(each=True, description="what it is multiplied with")
    value = cosim.cache_slot(unit="{factor}.{source}", description="factor times source")

    @cosim.kernel
    def multiply(source, factor, value):
        value[0] = factor * source

    @cosim.kernel
    def derivative(source_dot, factor, value_dot):
        value_dot[0] = factor * source_dot

    @cosim.kernel
    def second_derivative(source_dot2, factor, value_dot2):
        value_dot2[0] = factor * source_dot2

    @cosim.kernel
    def third_derivative(source_dot3, factor, value_dot3):
        value_dot3[0] = factor * source_dot3
