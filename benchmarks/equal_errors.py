"""What a program needs for an error, so that programs are compared at equal errors.

The tolerances of a ladder never give exactly the errors that are asked for: the fastest run that is right to
an error may be far more exact than that, and two programs would differ by how well their ladders happen to
lie. So the work at an error is read between two runs, on the straight line through their logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from itertools import pairwise
from typing import NamedTuple


class WorkAndError(NamedTuple):
    """A run: what it has cost, and its error."""

    work: float
    error: float


def best_runs(runs: Iterable[WorkAndError]) -> list[WorkAndError]:
    """The runs that no other beats in work and error both, the cheapest first."""
    best: list[WorkAndError] = []
    for run in sorted(runs):
        if run.error < (best[-1].error if best else math.inf):  # one that has failed has none
            best.append(run)
    return best


def work_at_error(runs: Iterable[WorkAndError], wanted: float) -> float:
    """The work for an error, by the best runs on both sides of it.

    Where all runs are more exact it is that of the cheapest one, where none is as exact NaN.
    """
    best = best_runs(runs)
    if not best:
        return math.nan
    for cheaper, dearer in pairwise(best):
        if dearer.error <= wanted < cheaper.error:
            share = 1.0
            if dearer.error > 0.0:
                share = math.log(cheaper.error / wanted) / math.log(cheaper.error / dearer.error)
            return cheaper.work * (dearer.work / cheaper.work) ** share
    return best[0].work if best[0].error <= wanted else math.nan
