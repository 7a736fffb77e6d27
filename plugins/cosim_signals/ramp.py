"""A rise of constant rate between two times."""

from __future__ import annotations

import math

import cosim
from cosim_signals.source import Source


class Ramp(Source):
    """A rise of constant rate between two times.

    Law: value = offset until `start_time`, then offset + height (t - start_time) / duration, and
    offset + height from `start_time` + `duration` on; value_dot is the rate, 0 outside. The two kinks are
    announced: steps of an adaptive integrator end there.

    Parameters
    ----------
    height : float, in the unit of the value
        How far it rises in all.
    duration : float, s, > 0
    unit, offset, start_time
        As for `Source`.

    Returns
    -------
    value : in its unit
    smooth_until : s
        When the next kink comes.

    References
    ----------
    Modelica Standard Library, block ``Sources.Ramp``.

    Examples
    --------
    >>> Ramp(height="2 mm", duration="500 ms").duration
    0.5
    """

    announces_kinks = True

    height = cosim.parameter(unit="{value}", default=1.0, description="how far it rises in all")
    duration = cosim.parameter(unit="s", default=1.0, minimum=1e-12, description="how long it rises")
    smooth_until = cosim.cache_slot(unit="s", description="when the next kink comes")

    @cosim.kernel
    def rise(t, offset, height, start_time, duration, value):
        value[0] = offset + height * min(max((t - start_time) / duration, 0.0), 1.0)

    @cosim.kernel
    def derivatives(t, height, start_time, duration, value_dot, value_dot2, value_dot3):
        rises = start_time <= t < start_time + duration
        value_dot[0] = height / duration if rises else 0.0
        value_dot2[0] = 0.0
        value_dot3[0] = 0.0

    @cosim.kernel
    def find_next_break(t, start_time, duration, smooth_until):
        smooth_until[0] = math.inf
        if t < start_time:
            smooth_until[0] = start_time
        elif t < start_time + duration:
            smooth_until[0] = start_time + duration
