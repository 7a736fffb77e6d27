"""Errors and findings of runs of four-bar linkages through singular positions."""

from __future__ import annotations

import numpy as np
from singular_mechanisms import exact_angle

import cosim


def errors(result: cosim.Result, loops: int, turned: float = 0.0, **parameters: float) -> np.ndarray:
    """Return the largest errors of the first rod, the last rod and the coupler, which does not turn."""
    exact = exact_angle(loops, result.time, **parameters) + turned
    first_angle, last_angle = (np.asarray(result[f"pin{i}.angle"]) for i in (0, loops))
    coupler = first_angle - turned + np.asarray(result[f"tip{loops - 1}.angle"])
    return np.abs([first_angle - exact, last_angle - exact, coupler]).max(axis=1)


def signals(loops: int) -> list[str]:
    """Return the names of the signals that `errors` needs."""
    return ["pin0.angle", f"pin{loops}.angle", f"tip{loops - 1}.angle"]


def singular_findings(result: cosim.Result) -> list[tuple[float, str]]:
    """Return times and witnesses of the findings of singular positions."""
    return [(f.time, f.witness) for f in result.findings if f.witness.endswith(".singular")]
