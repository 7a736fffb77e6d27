"""The smallest value of a parameter that the checks of its class accept."""

from __future__ import annotations

import math
import sys

import cosim


def smallest_accepted(
    system: cosim.System, start: cosim.State, path: str, offset: int, minimum: float
) -> float | None:
    """The smallest number above the declared minimum of a parameter, if a check refuses the minimum itself.

    The class may allow the minimum in other models, such as a delay of 0 if the part was created with it. All
    other parameters have their start values; a bound that depends on them (one end of a range) is not
    detected.

    Parameters
    ----------
    system, start : System, State
    path : str
        The path of the scalar.
    offset : int
        Its place in `p`.
    minimum : float
    """
    is_checked = any(offset in slot.elements for check in system.checks for slot in check.reads)
    if not is_checked or _is_accepted(start, path, minimum):
        return None
    next_number = sys.float_info.min if minimum == 0.0 else math.nextafter(minimum, math.inf)
    return next_number if _is_accepted(start, path, next_number) else None


def _is_accepted(start: cosim.State, path: str, value: float) -> bool:
    """Whether the checks accept a value of a parameter."""
    trial = start.copy()
    trial[path] = value
    try:
        trial.realize(cosim.Stage.INSTANCE)
    except cosim.SimulationError:
        return False
    return True
