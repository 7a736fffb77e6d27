"""A signal as it was at the last sample."""

from __future__ import annotations

from typing import ClassVar

import cosim


class SampleAndHold(cosim.Measure):
    """Takes a signal at fixed times and holds it between them.

    Law: value = source at the last of the times offset + i period, i = 0, 1, …; before the first of them, the
    value when the simulation was initialized. All derivatives are 0. The sample is a discrete update of
    the cause Scheduled: it reads the source as it was before the updates of that instant.

    Parameters
    ----------
    source : measure or path of a signal
        What is sampled.
    period : float, s, > 0
    offset : float, s

    Examples
    --------
    >>> SampleAndHold(source="speed", period="10 ms").offset
    0.0
    """

    unit_from = "source"
    known_derivatives: ClassVar[tuple[float, ...]] = (0.0,)

    source = cosim.source(description="what is sampled")
    period = cosim.parameter(unit="s", minimum=1e-12, description="from one sample to the next")
    offset = cosim.parameter(unit="s", default=0.0, description="when the first sample is taken")
    value = cosim.discrete(description="the last sample")

    @cosim.kernel
    def still(value_dot, value_dot2, value_dot3):
        value_dot[0] = 0.0
        value_dot2[0] = 0.0
        value_dot3[0] = 0.0

    @cosim.every("period", offset="offset", does="discrete")
    def sample(source, value_next):
        value_next[0] = source

    @cosim.on(cosim.EventCause.INITIALIZATION, does="discrete")
    def begin(source, value_next):
        value_next[0] = source
