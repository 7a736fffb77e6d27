"""A sampled signal, one sample late."""

from __future__ import annotations

from typing import ClassVar

import cosim


class UnitDelay(cosim.Measure):
    """A sampled signal, one sample late: z^-1.

    Law: value = the source at the last but one of the times offset + i period, i = 0, 1, …; until there are
    two of them, the start value. All derivatives are 0. Samples are discrete updates of the cause Scheduled;
    they read the source as it was before the updates of that instant.

    Parameters
    ----------
    source : measure or path of a signal
        A vector is taken element by element.
    period : float, s, > 0
    offset : float, s
    value : float, in the unit of the source
        Start value.

    References
    ----------
    Modelica Standard Library, block ``Discrete.UnitDelay`` (samplePeriod, y_start).

    Examples
    --------
    >>> UnitDelay(source="speed", period="10 ms").period
    0.01
    """

    unit_from = "source"
    known_derivatives: ClassVar[tuple[float, ...]] = (0.0,)

    source = cosim.source(description="what is delayed")
    period = cosim.parameter(unit="s", minimum=1e-12, description="from one sample to the next")
    offset = cosim.parameter(unit="s", default=0.0, description="when the first sample is taken")
    value = cosim.discrete(description="the last sample but one")
    sample = cosim.discrete(unit="{source}", description="the last sample")
    samples = cosim.discrete(dtype=int, description="how many samples there are")

    @cosim.kernel
    def still(value_dot, value_dot2, value_dot3):
        value_dot[0] = 0.0
        value_dot2[0] = 0.0
        value_dot3[0] = 0.0

    @cosim.every("period", offset="offset", does="discrete")
    def take(source, value, sample, samples, value_next, sample_next, samples_next):
        value_next[0] = sample if samples > 0 else value
        sample_next[0] = source
        samples_next[0] = samples + 1
