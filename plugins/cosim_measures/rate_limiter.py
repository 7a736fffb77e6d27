"""A signal with a limited rate of change."""

from __future__ import annotations

import cosim


class RateLimiter(cosim.Measure):
    """Follows a signal, but rises and falls no faster than allowed.

    Law: value' = (source - value) / time_constant, no more than `rising` and no less than -`falling`; it
    begins at the value of the source. Where the source changes slowly enough the value lags by the time
    constant. The value is a state: it is never stale, and error control sees it.

    Parameters
    ----------
    source : measure or path of a signal
        What is followed.
    rising, falling : float, per second, > 0
        Fastest change in either direction.
    time_constant : float, s, > 0
        How closely a slow signal is followed.

    References
    ----------
    Modelica Standard Library, block ``Nonlinear.SlewRateLimiter``, for the law with a time constant.

    Examples
    --------
    >>> RateLimiter(source="command", rising=2.0).falling
    1.0
    """

    unit_from = "source"

    source = cosim.source(description="what is followed")
    rising = cosim.parameter(default=1.0, minimum=1e-300, each=True, description="fastest rise, per second")
    falling = cosim.parameter(default=1.0, minimum=1e-300, each=True, description="fastest fall, per second")
    time_constant = cosim.parameter(
        unit="s", default=1e-3, minimum=1e-12, description="how closely it follows"
    )
    value = cosim.auxiliary_state(description="the limited signal")
    value_dot = None

    @cosim.kernel
    def follow(source, value, rising, falling, time_constant, value_dot):
        value_dot[0] = min(max((source - value) / time_constant, -falling), rising)

    @cosim.on(cosim.EventCause.INITIALIZATION, does="unrestricted")
    def begin(source, value_next):
        value_next[0] = source
