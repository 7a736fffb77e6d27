"""Bounds that hosts can believe."""

from __future__ import annotations

import math
import sys

import cosim


def smallest_taken(
    system: cosim.System, start: cosim.State, path: str, offset: int, minimum: float
) -> float | None:
    """The number above its declared minimum, where a check refuses a parameter that is the minimum itself.

    The check may allow the minimum in other models: a delay of 0 where the part was added with it. All other
    parameters are as they start, so what depends on them as well (one end of a range) shows nothing here.

    Parameters
    ----------
    system, start : System, State
    path : str
        Of the scalar.
    offset : int
        Where it lies in `p`.
    minimum : float
    """
    looked_at = any(offset in slot.elements for check in system.checks for slot in check.reads)
    if not looked_at or _is_taken(start, path, minimum):
        return None
    above = sys.float_info.min if minimum == 0.0 else math.nextafter(minimum, math.inf)
    return above if _is_taken(start, path, above) else None


def _is_taken(start: cosim.State, path: str, value: float) -> bool:
    trial = start.copy()
    trial[path] = value
    try:
        trial.realize(cosim.Stage.INSTANCE)
    except cosim.SimulationError:
        return False
    return True
