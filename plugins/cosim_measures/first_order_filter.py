"""A signal without its fast part."""

from __future__ import annotations

import cosim


class FirstOrderFilter(cosim.Measure):
    """A low-pass filter of first order.

    Law: time_constant value' = source - value; it begins at the value of the source. The value is a state: it
    is never stale, and error control sees it.

    Parameters
    ----------
    source : measure or path of a signal
        What is filtered.
    time_constant : float, s, > 0
        The step answer has reached 63 % after it; the cut-off frequency is 1 / (2 pi time_constant).

    Examples
    --------
    >>> FirstOrderFilter(source="speed", time_constant="20 ms").time_constant
    0.02
    """

    known_as = ("low_pass", "lowpass", "pt1", "first_order")
    unit_from = "source"

    source = cosim.source(description="what is filtered")
    time_constant = cosim.parameter(unit="s", minimum=1e-12, description="how slow it is")
    value = cosim.auxiliary_state(description="the filtered signal")
    value_dot = None

    @cosim.kernel
    def follow(source, value, time_constant, value_dot):
        value_dot[0] = (source - value) / time_constant

    @cosim.kernel
    def second_derivative(source, source_dot, value, time_constant, value_dot2):
        value_dot2[0] = (source_dot - (source - value) / time_constant) / time_constant

    @cosim.on(cosim.EventCause.INITIALIZATION, does="unrestricted")
    def begin(source, value_next):
        value_next[0] = source
