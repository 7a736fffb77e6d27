"""The base of sources of signals."""

from __future__ import annotations

import cosim


class Source(cosim.Measure):
    """Base of signals that are functions of time; a subclass says which.

    Parameters
    ----------
    unit : str, optional
        Of the value. Without it that of a number that is given with one, ``height="400 N"``, or that of
        what the source is connected to.
    offset : float, in the unit of the value
        Is added.
    start_time : float, s
        When the signal begins; before, it is the offset.
    """

    unit = cosim.option("", unit_of="value")
    offset = cosim.parameter(unit="{value}", default=0.0, description="is added to the value")
    start_time = cosim.parameter(unit="s", default=0.0, description="when the signal begins")
