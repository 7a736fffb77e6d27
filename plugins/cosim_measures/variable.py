"""A number that users and event handlers set."""

from __future__ import annotations

import cosim
from cosim_measures.piecewise_constant import PiecewiseConstant

STAGES = ("instance", "time", "position", "velocity", "dynamics", "acceleration", "report")


class Variable(PiecewiseConstant):
    """A number in the State, set from outside.

    Law: value = what was written to it last (``state["name"] = 3.0``), all derivatives are 0. Known whenever
    a State is. A write counts as a jump for whatever remembers the past.

    Parameters
    ----------
    value : float
        Start value.
    unit : str, optional
        Of the value; without it the one of the start value or of what the measure is connected to.
    invalidates : str
        The stage that a write invalidates, and from which on others see it.

    Examples
    --------
    >>> Variable(value=1.5, invalidates="dynamics").value
    1.5
    """

    unit = cosim.option("", unit_of="value")
    value = cosim.discrete(invalidates="invalidates", description="what was written last")
    invalidates = cosim.option("time", choices=STAGES, description="the stage that a write invalidates")
