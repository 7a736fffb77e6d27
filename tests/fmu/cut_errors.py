"""The error of a coupling against the system that is solved as one model."""

import sys
from pathlib import Path
from typing import Any

import numpy as np

sys.path.insert(0, str(Path(__file__).parents[2] / "benchmarks" / "masters"))
from cuts import Cut

from cosim_fmu import CoSimulation


def largest_error(cut: Cut, algorithm: str, step: float, until: float, **options: Any) -> float:
    """The largest error of a position in a run, relative to the largest position."""
    loop = CoSimulation(cut.make(True), cut.links, algorithm, step, options=options)
    result = loop.simulate(until)
    exact = np.array([cut.exact(time) for time in result.time])
    positions = np.array([result["left.x0"], result["right.x0"]]).T
    return float(np.max(np.abs(positions - exact[:, [0, 2]])) / np.max(np.abs(exact[:, [0, 2]])))
