"""A signal between two bounds."""

from __future__ import annotations

import cosim


class Limiter(cosim.Measure):
    """A signal between two bounds: saturation.

    Law: value = min(max(source, lower), upper); the derivatives are those of the source between the bounds,
    0 at them. Reaching and leaving a bound is an event (Triggered), so the kink is at the end of a step.

    Limits: of a vector the first element's kinks are located; error control sees the others.

    Parameters
    ----------
    source : measure or path of a signal
    lower, upper : float, in the unit of the source
        The bounds; with lower above upper a run ends with an error that says so.

    Returns
    -------
    value : in the unit of the source
    kinks : int
        How often a bound was reached or left.

    References
    ----------
    Modelica Standard Library, block ``Nonlinear.Limiter`` (uMin, uMax). Drake, class ``Saturation``
    (min_value, max_value).

    Examples
    --------
    >>> Limiter(source="command", lower="-10 V", upper="10 V").upper
    10.0
    """

    unit_from = "source"

    source = cosim.source(description="what is limited")
    lower = cosim.parameter(unit="{source}", default=-1.0, description="least value")
    upper = cosim.parameter(unit="{source}", default=1.0, description="greatest value")
    kinks = cosim.discrete(dtype=int, description="how often a bound was reached or left")

    @cosim.kernel(refuses=["the lower bound is above the upper one: exchange them"])
    def order(lower, upper):
        return 1.0 if lower > upper else 0.0

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

    @cosim.witness
    def at_lower(source, lower):
        return source - lower

    @cosim.witness
    def at_upper(source, upper):
        return source - upper

    @cosim.on(at_lower, does="discrete")
    def pass_lower(kinks, kinks_next):
        kinks_next[0] = kinks + 1

    @cosim.on(at_upper, does="discrete")
    def pass_upper(kinks, kinks_next):
        kinks_next[0] = kinks + 1
