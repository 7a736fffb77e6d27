"""The root mean square of a signal over a sliding window."""

from __future__ import annotations

import math

import cosim
from cosim_measures.sliding_window import SlidingWindow


class SlidingRms(SlidingWindow):
    """The root mean square of a signal over a window of time that ends now.

    Law: value^2 = 1/window (integral of source^2 from t - window to t), value_dot = (source(t)^2 -
    source(t - window)^2) / (2 window value), 0 where the value is. See `SlidingWindow` for its parameters.

    Examples
    --------
    >>> SlidingRms(source="engine.az", window=0.2).window
    0.2
    """

    unit_from = "source"

    @cosim.kernel
    def take(source, integrand):
        integrand[0] = source * source

    @cosim.kernel
    def root(average, value):
        value[0] = math.sqrt(max(average, 0.0))

    @cosim.kernel
    def change(integrand, oldest_rate, window, value, value_dot):
        value_dot[0] = 0.0
        if value > 0.0:
            value_dot[0] = 0.5 * (integrand - oldest_rate) / (window * value)
