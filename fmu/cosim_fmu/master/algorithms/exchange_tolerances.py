"""Tolerances of the error of one exchange."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import cosim

USUAL = 1e-6
"""The absolute tolerance of a value for which none is given, in its unit."""


def check_tolerances(tolerance: float, absolute_tolerance: float | Mapping[str, float]) -> None:
    """Refuse what is no tolerance.

    Parameters
    ----------
    tolerance : float
        Relative to each value of the interface, > 0.
    absolute_tolerance : float or mapping of str to float
        The error that is allowed however small a value is, > 0, in its unit; or one for each name of the
        interface that is not to have `USUAL`.

    Raises
    ------
    ModelError
    """
    by_name = absolute_tolerance if isinstance(absolute_tolerance, Mapping) else {}
    usual = USUAL if isinstance(absolute_tolerance, Mapping) else absolute_tolerance
    given = {"tolerance": tolerance, "absolute_tolerance": usual}
    given |= {f"absolute_tolerance.{name}": value for name, value in by_name.items()}
    problems = [
        cosim.Problem(name, f"is {value!r}, needs a number greater than 0")
        for name, value in given.items()
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value < math.inf
    ]
    if problems:
        raise cosim.ModelError(problems)


def allowed(absolute_tolerance: float | Mapping[str, float], names: Sequence[str]) -> list[float]:
    """The absolute tolerance of each value of the interface.

    Raises
    ------
    ModelError
        One is given for a name that is none of them.
    """
    if not isinstance(absolute_tolerance, Mapping):
        return [float(absolute_tolerance)] * len(names)
    wrong = [
        cosim.Problem(f"absolute_tolerance.{name}", str(cosim.LookUpError("connected output", name, names)))
        for name in absolute_tolerance
        if name not in names
    ]
    if wrong and names:
        raise cosim.ModelError(wrong)
    return [float(absolute_tolerance.get(name, USUAL)) for name in names]
