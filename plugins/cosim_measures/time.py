"""Time as a signal."""

from __future__ import annotations

import cosim


class Time(cosim.Measure):
    """The time of the State.

    Law: value = t, value_dot = 1. Known at stage TIME.

    Examples
    --------
    >>> Time.number_of_derivatives()
    1
    """

    value = cosim.cache_slot(unit="s", description="time")
    value_dot = cosim.cache_slot(unit="1", description="one")

    @cosim.kernel
    def clock(t, value, value_dot):
        value[0] = t
        value_dot[0] = 1.0
