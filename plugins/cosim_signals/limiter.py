"""A signal between two bounds."""

from __future__ import annotations

import cosim
from cosim_signals.bounded import Bounded


class Limiter(Bounded):
    """A signal between two bounds: saturation.

    Law: value = min(max(source, lower), upper); the derivatives are those of the source between the bounds,
    0 at them. Reaching and leaving a bound is an event (Triggered), so the kink is at the end of a step.

    Parameters, results and the kinks of vectors are those of `Bounded`.

    References
    ----------
    Modelica Standard Library, block ``Nonlinear.Limiter`` (uMin, uMax). Drake, class ``Saturation``
    (min_value, max_value).

    Examples
    --------
    >>> Limiter(source="command", lower="-10 V", upper="10 V").upper
    10.0
    """

    known_as = ("saturation", "clamp", "clip")

    @cosim.kernel
    def limit(source, lower, upper, value):
        value[0] = min(max(source, lower), upper)

    @cosim.kernel
    def derivative(source, source_dot, lower, upper, value_dot):
        value_dot[0] = source_dot if lower < source < upper else 0.0

    @cosim.kernel
    def second_derivative(source, source_dot2, lower, upper, value_dot2):
        value_dot2[0] = source_dot2 if lower < source < upper else 0.0

    @cosim.kernel
    def third_derivative(source, source_dot3, lower, upper, value_dot3):
        value_dot3[0] = source_dot3 if lower < source < upper else 0.0
