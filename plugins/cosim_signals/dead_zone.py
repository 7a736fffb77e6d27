"""A signal without its small part."""

from __future__ import annotations

import cosim
from cosim_signals.bounded import Bounded


class DeadZone(Bounded):
    """A signal without its small part: 0 between two bounds.

    Law: value = source - upper above `upper`, source - lower below `lower`, 0 between; the derivatives are
    those of the source outside, 0 between. Reaching and leaving a bound is an event (Triggered), so the
    kink is at the end of a step.

    Parameters, results and the kinks of vectors are those of `Bounded`.

    References
    ----------
    Modelica Standard Library, block ``Nonlinear.DeadZone`` (uMin, uMax).

    Examples
    --------
    >>> DeadZone(source="play", lower="-2 mm", upper="2 mm").upper
    0.002
    """

    @cosim.kernel
    def cut(source, lower, upper, value):
        value[0] = max(source - upper, 0.0) + min(source - lower, 0.0)

    @cosim.kernel
    def derivative(source, source_dot, lower, upper, value_dot):
        value_dot[0] = 0.0 if lower <= source <= upper else source_dot

    @cosim.kernel
    def second_derivative(source, source_dot2, lower, upper, value_dot2):
        value_dot2[0] = 0.0 if lower <= source <= upper else source_dot2

    @cosim.kernel
    def third_derivative(source, source_dot3, lower, upper, value_dot3):
        value_dot3[0] = 0.0 if lower <= source <= upper else source_dot3
