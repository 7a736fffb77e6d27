"""The advice after a run with a known coupling error: a verdict, and a sentence with figures."""

from __future__ import annotations

from collections.abc import Mapping
from math import floor, log10

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.recording.coupling_errors import FINE
from cosim_master.trust.verdict import (
    IS_FINE,
    OTHER_ALGORITHM,
    TIGHTER,
    VERDICTS,
    better_algorithm,
    facts_of,
    shorter_steps,
    verdict_of,
)


def advise(
    relative: float,
    step: float,
    algorithm: cosim.MasterAlgorithm,
    descriptions: Mapping[str, ParticipantDescription],
) -> tuple[str, str]:
    """The verdict and the advice, which is empty if there is nothing to improve.

    Parameters
    ----------
    relative : float
        The largest error over the range of its output.
    step : float
        Communication step, s.
    algorithm : MasterAlgorithm
    descriptions : mapping of str to ParticipantDescription
        The descriptions of all participants.
    """
    facts = facts_of(algorithm, descriptions)
    verdict = verdict_of(relative, facts)
    word = VERDICTS[verdict - 1]
    if verdict == IS_FINE:
        return word, ""
    if verdict == TIGHTER:
        return word, f"Divide the tolerance by {_rounded_up(relative / FINE):g}."
    short_enough = f"{_rounded_down(step / shorter_steps(relative, facts)):g} s"
    algorithm_advice = better_algorithm(algorithm, descriptions)
    if verdict == OTHER_ALGORITHM:
        return word, f"Take {algorithm_advice}, or a step of {short_enough}."
    alternative = f", or {algorithm_advice}" if algorithm_advice else ""
    aim = f"for an error of {100.0 * FINE:g} % of the range"
    return word, f"Take a step of {short_enough}{alternative}, {aim}."


def _rounded_down(number: float) -> float:
    """The number to one digit, and not above it."""
    if number == 0.0:  # an output that stays at 0 has an error: no step is short enough
        return number
    power = floor(log10(number))
    return float(f"{floor(number / 10.0**power * (1.0 + 1e-9))}e{power}")


def _rounded_up(factor: float) -> float:
    """1, 2 or 5 times a power of ten, not below `factor`."""
    power = 10.0 ** floor(log10(factor))
    return next((power * n for n in (1.0, 2.0, 5.0) if factor <= power * n), 10.0 * power)
