"""The verdict on a coupling from the error bars of outputs: kernel functions, for runs and for libraries.

With steps f times shorter an error of order p is f^-p times as large; so the error over `FINE` determines the
step that is short enough. If that step is very short, another algorithm is the better advice.
"""

from __future__ import annotations

import math
from collections.abc import Mapping

import numpy as np

import cosim
from cosim.kit import ParticipantDescription, Reals
from cosim_master.recording.coupling_errors import FINE
from cosim_master.trust.run_in_intervals import ROUNDING

VERDICTS = ("fine", "smaller step", "tighter tolerance", "other algorithm", "unknown", "unstable")
IS_FINE, SMALLER_STEP, TIGHTER, OTHER_ALGORITHM, UNKNOWN, UNSTABLE = range(1, len(VERDICTS) + 1)
MOST_SHORTER = 20.0
"""If steps would have to be this many times shorter, another algorithm is better."""
ORDER, IS_TIGHTENED, HAS_OTHER, MAY_BE_EXACT, FACTS = range(5)
"""Places of the facts: the order of the algorithm, whether it has a tolerance, whether another algorithm has
smaller errors, and whether inputs may be exact; then the number of facts."""


def facts_of(
    algorithm: cosim.MasterAlgorithm,
    descriptions: Mapping[str, ParticipantDescription],
    *,
    may_be_exact: bool = False,
) -> Reals:
    """The facts of a coupling, shape (4,), by `ORDER`, `IS_TIGHTENED`, `HAS_OTHER` and `MAY_BE_EXACT`.

    Parameters
    ----------
    algorithm : MasterAlgorithm
    descriptions : mapping of str to ParticipantDescription
        The descriptions of all participants.
    may_be_exact : bool
        Whether inputs may be exact (`possibly_exact`); `verdict_of` does not read it.
    """
    facts = np.zeros(FACTS)
    facts[ORDER], facts[IS_TIGHTENED] = algorithm.order, algorithm.tightened() is not None
    facts[HAS_OTHER] = bool(better_algorithm(algorithm, descriptions))
    facts[MAY_BE_EXACT] = may_be_exact
    return facts


def better_algorithm(
    algorithm: cosim.MasterAlgorithm, descriptions: Mapping[str, ParticipantDescription]
) -> str:
    """An algorithm for these participants with smaller errors, as options; empty if there is none."""
    restores = all(description.can_restore for description in descriptions.values())
    varies = all(description.variable_step for description in descriptions.values())
    if restores and varies:
        return 'algorithm = "adaptive" with options.iterations = 5'
    if restores and not algorithm.restores:
        return 'algorithm = "interface_newton"'
    if restores and algorithm.order == 1:
        return 'options.hold = "line"'
    if varies and algorithm.order == 1:
        return 'algorithm = "adaptive"'
    return "options.extrapolation = 1" if algorithm.order == 1 else ""


def shorter_steps(relative, facts):
    """The factor by which steps have to be shorter for an error of `FINE`."""
    return math.pow(relative / FINE, 1.0 / facts[ORDER])


def verdict_of(relative, facts):
    """The verdict on the largest error over the range of its output."""
    if relative <= FINE:
        return IS_FINE
    if facts[IS_TIGHTENED] != 0.0:
        return TIGHTER
    if facts[HAS_OTHER] != 0.0 and (shorter_steps(relative, facts) > MOST_SHORTER or relative > 1.0):
        return OTHER_ALGORITHM
    return SMALLER_STEP


def put_scales(spans, groups, is_residual, largest):
    """Replace the ranges of outputs by the scales that their errors are relative to.

    The scale is the range, or if an output may be only rounding of a larger one, the range of the larger one.
    The residual of energies is an error itself: its scale is that of the energies.

    Parameters
    ----------
    spans : view
        The range of each output; receives the scale.
    groups, is_residual : view of int
        Outputs of one participant and one unit have one number; 1 for a residual.
    largest : view
        Work space, a number for each output.
    """
    for y in range(len(spans)):
        largest[y] = 0.0
    for y in range(len(spans)):
        largest[groups[y]] = max(largest[groups[y]], spans[y])
    for y in range(len(spans)):
        if spans[y] <= ROUNDING * largest[groups[y]] or is_residual[y] != 0:
            spans[y] = largest[groups[y]]
