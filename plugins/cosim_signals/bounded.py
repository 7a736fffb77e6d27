"""The base of signals with two bounds."""

from __future__ import annotations

import cosim


class Bounded(cosim.Measure):
    """Base of signals that have a kink at two bounds of their source; a subclass says what the value is.

    Reaching and leaving a bound is an event (Triggered), so the kink is at the end of a step. Of a vector the
    first element's kinks are events; steps end at those of the others, too.

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
    """

    unit_from = "source"
    announces_kinks = True

    source = cosim.source(description="the bounded signal")
    lower = cosim.parameter(unit="{source}", default=-1.0, description="lower bound")
    upper = cosim.parameter(unit="{source}", default=1.0, description="upper bound")
    # what the two events change, so that the kink is an event at the end of a step
    kinks = cosim.discrete(dtype=int, description="how often a bound was reached or left")

    @cosim.kernel(refuses=["the lower bound is above the upper one: exchange them"])
    def check_bounds(lower, upper):
        return 1.0 if lower > upper else 0.0

    @cosim.witness
    def at_lower(source, lower):
        return source - lower

    @cosim.witness
    def at_upper(source, upper):
        return source - upper

    @cosim.on(at_lower, does="discrete")
    def count_at_lower(kinks, kinks_next):
        kinks_next[0] = kinks + 1

    @cosim.on(at_upper, does="discrete")
    def count_at_upper(kinks, kinks_next):
        kinks_next[0] = kinks + 1
