"""The mean of a signal over a sliding window."""

from __future__ import annotations

import cosim
from cosim_measures.sliding_window import SlidingWindow


class SlidingMean(SlidingWindow):
    """The mean of a signal over a window of time that ends now.

    Law: value = 1/window (integral of source from t - window to t), value_dot = (source(t) -
    source(t - window)) / window. See `SlidingWindow` for its parameters.

    Examples
    --------
    >>> SlidingMean(source="power", window="50 ms").window
    0.05
    """

    unit_from = "source"

    @cosim.kernel
    def take(source, integrand):
        integrand[0] = source

    @cosim.kernel
    def mean(average, value):
        value[0] = average

    @cosim.kernel
    def change(source, oldest_rate, window, value_dot):
        value_dot[0] = (source - oldest_rate) / window
