"""The time derivative of a signal."""

from __future__ import annotations

import cosim


class Differentiate(cosim.Measure):
    """The time derivative of a signal, exact where the source knows its own.

    Law: value = source', and so for further derivatives. For a source without a derivative:
    value = (source - f) / time_constant, f' = value: the derivative of the signal after a filter of first
    order. It is stable, error control sees it, it lags by the time constant, and it begins at 0.

    Parameters
    ----------
    source : measure or path of a signal
        What is differentiated.
    time_constant : float, s, > 0
        Of the filter, where one is needed.

    Examples
    --------
    >>> Differentiate(source="road", time_constant="2 ms").time_constant
    0.002
    """

    known_as = ("derivative", "der")
    source = cosim.source(description="what is differentiated")
    time_constant = cosim.parameter(unit="s", default=1e-3, minimum=1e-12, description="of the filter")
    filtered = cosim.auxiliary_state(unit="{source}", description="the source behind the filter")

    value = cosim.cache_slot(unit="{source}/s", description="the derivative")

    @cosim.kernel(when="source_dot")
    def exact(source_dot, value):
        value[0] = source_dot

    @cosim.kernel(when="source_dot")
    def exact_derivative(source_dot2, value_dot):
        value_dot[0] = source_dot2

    @cosim.kernel(when="source_dot")
    def second_derivative(source_dot3, value_dot2):
        value_dot2[0] = source_dot3

    @cosim.kernel(when="source_dot")
    def rest(filtered_dot):
        filtered_dot[0] = 0.0

    @cosim.kernel(unless="source_dot")
    def behind_the_filter(source, filtered, time_constant, value, filtered_dot):
        value[0] = (source - filtered) / time_constant
        filtered_dot[0] = value[0]

    @cosim.on(cosim.EventCause.INITIALIZATION, does="unrestricted")
    def begin(source, filtered_next):
        filtered_next[0] = source
