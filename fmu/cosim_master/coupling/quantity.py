"""A number with its unit."""

from __future__ import annotations

from typing import NamedTuple


class Quantity(NamedTuple):
    """A number with its unit; a variable without a unit takes the number as it is.

    Attributes
    ----------
    number : float
    unit : str
        Modelica unit expression.
    """

    number: float
    unit: str
