"""A sampled signal, one sample late."""

from __future__ import annotations

import cosim
from cosim_measures.sampled import Sampled


class UnitDelay(Sampled):
    """A sampled signal, one sample late: z^-1.

    Law: value = the source at the last but one of the times offset + i period, i = 0, 1, …; until there are
    two of them, the start value. All derivatives are 0. Samples are discrete updates of the cause Scheduled;
    they read the source as it was before the updates of that instant.

    Parameters
    ----------
    source, period, offset
        As for `Sampled`.
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

    sample = cosim.discrete(unit="{source}", description="the last sample")
    samples = cosim.discrete(dtype=int, description="how many samples there are")

    @cosim.every("period", offset="offset", does="discrete")
    def take(source, value, sample, samples, value_next, sample_next, samples_next):
        value_next[0] = sample if samples > 0 else value
        sample_next[0] = source
        samples_next[0] = samples + 1
