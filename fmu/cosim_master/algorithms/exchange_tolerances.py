"""The tolerances of an exchange whose length is adapted: checks, and the absolute one of each value."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import cosim

USUAL = 1e-2
"""The default absolute tolerance of a value, as a multiple of the relative one."""


def check_tolerances(tolerance: float, absolute_tolerance: float | Mapping[str, float] | None) -> None:
    """Refuse tolerances that are not positive numbers.

    Parameters
    ----------
    tolerance : float
        Relative to each value of the interface, > 0.
    absolute_tolerance : float or mapping of str to float, optional
        The allowed error of small values, > 0, in the unit of the value; or one for some names of the
        interface. The default is `USUAL` times the relative tolerance.

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


def absolute_tolerances(
    tolerance: float, absolute_tolerance: float | Mapping[str, float] | None, names: Sequence[str]
) -> list[float]:
    """The absolute tolerance of each value of the interface.

    Raises
    ------
    ModelError
        A name is not in the interface.
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
