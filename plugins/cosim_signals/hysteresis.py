"""A switch with two thresholds."""

from __future__ import annotations

import cosim
from cosim_measures.piecewise_constant import PiecewiseConstant

OVERLAP = 1e-3  # by how much of the distance of the thresholds an event may come late


class Hysteresis(PiecewiseConstant):
    """A switch with two thresholds.

    Law: goes on when the source rises above `upper`, off when it falls below `lower`, and stays as it is
    between them; value = `on_value` or `off_value`. All derivatives are 0. Switching is an event
    (Triggered), located in time. It begins on if the source is above `upper`, else as `starts_on` says
    unless the source is below `lower`.

    Limits: the source is a number. Where it jumps across a threshold, at an event of another part, the value
    follows at once; what jumps there and then in between the thresholds is not remembered.

    Parameters
    ----------
    source : measure or path of a signal
    lower, upper : float, in the unit of the source
    on_value, off_value : float, in the unit of the value
    unit : str, optional
        Of the value, as for sources.
    starts_on : bool

    References
    ----------
    Modelica Standard Library, block ``Logical.Hysteresis`` (uLow, uHigh, pre_y_start).

    Examples
    --------
    >>> Hysteresis(source="room", lower="19 degC", upper="21 degC", on_value=0.0, off_value="2 kW").off_value
    2000.0
    """

    known_as = ("relay", "schmitt_trigger")
    elementwise = False

    announces_kinks = True

    source = cosim.source(description="what is compared")
    lower = cosim.parameter(unit="{source}", default=0.0, description="goes off below")
    upper = cosim.parameter(unit="{source}", default=1.0, description="goes on above")
    unit = cosim.option("", unit_of="value")
    on_value = cosim.parameter(unit="{value}", default=1.0, description="value while on")
    off_value = cosim.parameter(unit="{value}", default=0.0, description="value while off")
    starts_on = cosim.option(False, description="whether it begins on, between the thresholds")
    is_on = cosim.discrete(dtype=int, description="whether it is on")

    @cosim.kernel(refuses=["the lower threshold is above the upper one: exchange them"])
    def order(lower, upper):
        return 1.0 if lower > upper else 0.0

    @cosim.kernel
    def switch_value(source, lower, upper, is_on, on_value, off_value, value):
        margin = OVERLAP * (upper - lower)
        on = is_on != 0
        if source > upper + margin or source < lower - margin:  # it has jumped, at an event of another part
            on = source > upper
        value[0] = on_value if on else off_value

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(source, lower, upper, starts_on, is_on_next):
        is_on_next[0] = 1 if source > upper or (starts_on != 0.0 and source >= lower) else 0

    @cosim.witness(direction="rising")
    def rises(source, upper):
        return source - upper

    @cosim.on(rises, does="discrete")
    def go_on(is_on_next):
        is_on_next[0] = 1

    @cosim.witness(direction="falling")
    def falls(source, lower):
        return source - lower

    @cosim.on(falls, does="discrete")
    def go_off(is_on_next):
        is_on_next[0] = 0
