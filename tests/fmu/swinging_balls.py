"""Two balls that push each other as if by springs, around a height of 10 m: h = 10 + cos(2 t)."""

from __future__ import annotations

import math
from typing import Any

import numpy as np

from cosim_fmu import CoSimulation

RATE, G = 4.0, 9.81  # 1/s2, m/s2
UNTIL = 1.2


def order(parts: dict[str, Any], height: str, algorithm: str, options: dict[str, Any]) -> float:
    """The order of convergence: the power of the communication step with which the error falls.

    Parameters
    ----------
    parts : mapping of str to object
        Participants ``a`` and ``b`` with an input ``push`` and an output `height`.
    height : str
    algorithm : str
    options : mapping
        Of the algorithm.
    """
    spring = {"factor": -RATE, "offset": 10.0 * RATE + G}
    pairs = (("a", "b"), ("b", "a"))
    links = [{"from": f"{source}.{height}", "to": f"{target}.push", **spring} for source, target in pairs]
    starts = {f"{name}.{height}": 11.0 for name in "ab"}
    errors = []
    for step in (0.04, 0.02):
        loop = CoSimulation(parts, links, algorithm, step, options=options, starts=starts, tolerance=1e-10)
        height_at_end = loop.simulate(UNTIL)[f"a.{height}"][-1]
        errors.append(abs(height_at_end - 10.0 - math.cos(2.0 * UNTIL)))
    return float(np.log2(errors[0] / errors[1]))
