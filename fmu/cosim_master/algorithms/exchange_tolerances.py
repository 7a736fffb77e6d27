"""The tolerances of an exchange whose length is adapted: checks, and the absolute one of each value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import cosim

USUAL = 1e-2
"""The absolute tolerance of a value for which none is given, over the relative one: errors fall with both."""


def check_tolerances(tolerance: float, absolute_tolerance: float | Mapping[str, float] | None) -> None:
    """Refuse what is not a tolerance.

    Parameters
    ----------
    tolerance : float
        Relative to each value of the interface, > 0.
    absolute_tolerance : float or mapping of str to float, optional
        The error that is allowed however small a value is, > 0, in its unit; or one for each name of the
        interface that is not to have `USUAL` of the relative one.

    Raises
    ------
    ModelError
    """
    tolerances = {"tolerance": tolerance}
    if isinstance(absolute_tolerance, Mapping):
        tolerances |= {f"absolute_tolerance.{name}": value for name, value in absolute_tolerance.items()}
    elif absolute_tolerance is not None:
        tolerances["absolute_tolerance"] = absolute_tolerance
    problems = [
        cosim.Problem(name, f"is {value!r}, needs a number greater than 0")
        for name, value in tolerances.items()
        if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value < math.inf
    ]
    if problems:
        raise cosim.ModelError(problems)


def allowed(
    tolerance: float, absolute_tolerance: float | Mapping[str, float] | None, names: Sequence[str]
) -> list[float]:
    """The absolute tolerance of each value of the interface.

    Raises
    ------
    ModelError
        One is given for a name that is none of them.
    """
    usual = USUAL * tolerance
    if not isinstance(absolute_tolerance, Mapping):
        return [usual if absolute_tolerance is None else float(absolute_tolerance)] * len(names)
    wrong = [
        cosim.Problem(f"absolute_tolerance.{name}", str(cosim.LookUpError("connected output", name, names)))
        for name in absolute_tolerance
        if name not in names
    ]
    if wrong and names:
        raise cosim.ModelError(wrong)
    return [float(absolute_tolerance.get(name, usual)) for name in names]
