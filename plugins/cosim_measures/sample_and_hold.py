"""A signal as it was at the last sample."""

from __future__ import annotations

import cosim
from cosim_measures.sampled import Sampled


class SampleAndHold(Sampled):
    """Takes a signal at fixed times and holds it between them: a zero-order hold.

    Law: value = source at the last of the times offset + i period, i = 0, 1, …; before the first of them, the
    value when the simulation was initialized. All derivatives are 0. The sample is a discrete update of
    the cause Scheduled: it reads the source as it was before the updates of that instant.

    Parameters
    ----------
    source, period, offset
        As for `Sampled`.

    References
    ----------
    Modelica Standard Library, block ``Discrete.ZeroOrderHold`` (samplePeriod). Drake, class
    ``ZeroOrderHold``.

    Examples
    --------
    >>> SampleAndHold(source="speed", period="10 ms").offset
    0.0
    """

    known_as = ("zero_order_hold", "zoh", "sampler")

    @cosim.every("period", offset="offset", does="discrete")
    def sample(source, value_next):
        value_next[0] = source

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(source, value_next):
        value_next[0] = source
