"""Whether one signal is greater than another."""

from __future__ import annotations

from typing import Any, ClassVar

import cosim
from cosim_measures.piecewise_constant import PiecewiseConstant


class Comparison(PiecewiseConstant):
    """Whether one signal is greater than another, or than a number.

    Law: value = 1 while first - second > threshold, else 0; without a second signal, while first > threshold.
    Passing the threshold is an event (Triggered), located in time. For "less" exchange the signals.

    Where the signals jump, at an event of another part, the value follows at the same instant, but for jumps
    that a comparison makes: one comparison of what another one switches comes a step late.

    Limits: scalar signals only. It looks after every step; multistep methods (`bdf`) begin anew there.

    Parameters
    ----------
    first : measure or path of a signal
    second : measure or path of a signal, optional
    threshold : float, in the unit of the first

    References
    ----------
    Modelica Standard Library, blocks ``Logical.Greater`` and ``Logical.GreaterThreshold``.

    Examples
    --------
    >>> Comparison(first="pressure", threshold="3 bar").second is None
    True
    """

    known_as = ("compare", "relational")
    elementwise = False
    conditions: ClassVar[dict[str, Any]] = {
        "has_second": lambda part: part.values.attachments["second"] is not None
    }

    first = cosim.source(description="is it greater?")
    second = cosim.source(unit="{first}", optional=True, description="than this")
    threshold = cosim.parameter(unit="{first}", default=0.0, description="by how much it has to be")
    difference = cosim.cache_slot(unit="{first}", description="by how much it is greater")
    value = cosim.discrete(unit="1", description="whether it is greater: 1 or 0")

    @cosim.kernel(when="has_second")
    def compare(first, second, difference):
        difference[0] = first - second

    @cosim.kernel(unless="has_second")
    def alone(first, difference):
        difference[0] = first

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(difference, threshold, value_next):
        value_next[0] = 1.0 if difference > threshold else 0.0

    @cosim.witness(direction="rising")
    def rises(difference, threshold):
        return difference - threshold

    @cosim.on(rises, does="discrete")
    def becomes_true(value_next):
        value_next[0] = 1.0

    @cosim.witness(direction="falling")
    def falls(difference, threshold):
        return difference - threshold

    @cosim.on(falls, does="discrete")
    def becomes_false(value_next):
        value_next[0] = 0.0

    @cosim.on(cosim.EventCause.TIME_ADVANCED, does="discrete")
    def follow_jumps(difference, threshold, value, value_next):
        # Witnesses do not see what the handlers of other parts do at the same instant.
        value_next[0] = value
        if difference != threshold:
            value_next[0] = 1.0 if difference > threshold else 0.0
