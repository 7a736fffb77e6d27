"""A constant signal."""

from __future__ import annotations

import cosim
from cosim_measures.piecewise_constant import PiecewiseConstant


class Constant(PiecewiseConstant):
    """A number, or several, that never change by themselves.

    Law: value = what was given, all derivatives are 0. Known whenever a State is.

    Parameters
    ----------
    value : float, or array_like of float
        A parameter: it can be changed in a State.
    unit : str, optional
        Of the value; without it the one that is given with the number, ``"400 N"``, or that of what the
        measure is connected to.

    Examples
    --------
    >>> Constant(value=2.5).value
    2.5
    """

    known_as = ("const",)
    unit = cosim.option("", unit_of="value")
    value = cosim.parameter(each=True, description="the value")
