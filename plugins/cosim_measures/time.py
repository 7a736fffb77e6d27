"""Time as a signal."""

from __future__ import annotations

from typing import ClassVar

import cosim


class Time(cosim.Measure):
    """The time of the State.

    Law: value = t, value_dot = 1, all further derivatives are 0. Known at stage TIME.

    Examples
    --------
    >>> Time.number_of_derivatives()
    inf
    """

    known_as = ("clock",)
    known_derivatives: ClassVar[tuple[float, ...]] = (1.0,)

    value = cosim.cache_slot(unit="s", description="time")
    value_dot = cosim.cache_slot(unit="1", description="one")

    @cosim.kernel
    def clock(t, value, value_dot, value_dot2, value_dot3):
        value[0] = t
        value_dot[0] = 1.0
        value_dot2[0] = 0.0
        value_dot3[0] = 0.0
