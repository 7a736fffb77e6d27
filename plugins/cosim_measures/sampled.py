"""The base of sampled signals."""

from __future__ import annotations

import cosim
from cosim_measures.piecewise_constant import PiecewiseConstant


class Sampled(PiecewiseConstant):
    """Base of signals that are taken at fixed times and held between them; a subclass says what is taken.

    Parameters
    ----------
    source : measure or path of a signal
        A vector is taken element by element.
    period : float, s, > 0
    offset : float, s
        Samples are discrete updates of the cause Scheduled, at offset + i period, i = 0, 1, …; they read the
        source as it was before the updates of that instant.
    """

    unit_from = "source"

    source = cosim.source(description="what is sampled")
    period = cosim.parameter(unit="s", minimum=1e-12, description="from one sample to the next")
    offset = cosim.parameter(unit="s", default=0.0, description="when the first sample is taken")
    value = cosim.discrete(description="what is held")
