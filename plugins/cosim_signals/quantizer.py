"""A signal in whole steps."""

from __future__ import annotations

import math

import cosim
from cosim_measures.piecewise_constant import PiecewiseConstant

OVERLAP = 1e-3  # by how much of an interval an event may come late


def nearest_level(source: float, interval: float) -> int:
    """The whole number nearest to a quotient.

    >>> [nearest_level(x, 0.1) for x in (0.04, 0.06, -0.16)]
    [0, 1, -2]
    """
    return math.floor(source / interval + 0.5)


class Quantizer(PiecewiseConstant):
    """A signal in whole steps: what a sensor with a finite resolution shows.

    Law: value = interval * level, where level is the whole number nearest to source / interval. All
    derivatives are 0. Each change of the level is an event (Triggered), located in time.

    Limits: the source is a number.

    Parameters
    ----------
    source : measure or path of a signal
    interval : float, in the unit of the source, > 0
        From one level to the next: the resolution.

    Returns
    -------
    value : in the unit of the source
    level : int

    References
    ----------
    The rounding quantizer, source and error, as in B. Widrow, I. Kollar, *Quantization Noise* (2008; not
    opened here). Modelica's and Drake's libraries of blocks have none.

    Examples
    --------
    >>> Quantizer(source="angle", interval="0.5 deg").source
    'angle'
    """

    elementwise = False
    unit_from = "source"

    announces_kinks = True

    source = cosim.source(description="what is shown in whole steps")
    interval = cosim.parameter(unit="{source}", minimum=1e-300, description="from one level to the next")
    level = cosim.discrete(dtype=int, description="the nearest whole number of intervals")

    @cosim.kernel
    def quantize(source, level, interval, value):
        if abs(source - level * interval) < (0.5 + OVERLAP) * interval:
            value[0] = level * interval
        else:  # it has jumped, at an event of another part
            value[0] = nearest_level(source, interval) * interval

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(source, interval, level_next):
        level_next[0] = nearest_level(source, interval)

    @cosim.witness(direction="rising")
    def rises(source, interval, level):
        return source - (level + 0.5) * interval

    @cosim.on(rises, does="discrete")
    def go_up(source, interval, level, level_next):
        level_next[0] = max(level + 1, nearest_level(source, interval))

    @cosim.witness(direction="falling")
    def falls(source, interval, level):
        return source - (level - 0.5) * interval

    @cosim.on(falls, does="discrete")
    def go_down(source, interval, level, level_next):
        level_next[0] = min(level - 1, nearest_level(source, interval))
