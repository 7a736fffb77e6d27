"""A signal times a factor."""

from __future__ import annotations

import cosim


class Scale(cosim.Measure):
    """A signal times a factor without unit.

    Law: value = factor source, and so for the derivative; NaN where the source has none.

    Parameters
    ----------
    source : measure or path of a scalar signal
    factor : float

    Examples
    --------
    >>> Scale(source="engine.z", factor=2.0).factor
    2.0
    """

    unit_from = "source"

    source = cosim.source(description="what is scaled")
    factor = cosim.parameter(description="what it is multiplied with")

    @cosim.kernel
    def value(source, factor, value):
        value[0] = factor * source

    @cosim.kernel
    def derivative(source_dot, factor, value_dot):
        value_dot[0] = factor * source_dot
