"""What to change after a run whose coupling error is known: a word, and a sentence with figures.

An error of order p falls to f^-p of itself with a step f times shorter, so the error over `FINE` tells the
step that is short enough. Where that is too short, an algorithm that errs less is the better advice.
"""

from __future__ import annotations

from collections.abc import Iterable
from math import floor, log10

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.recording.co_simulation_result import FINE

MOST_SHORTER = 20.0
"""Beyond so many times shorter steps another algorithm is worth it."""


def advise(
    relative: float,
    step: float,
    algorithm: cosim.MasterAlgorithm,
    descriptions: Iterable[ParticipantDescription],
) -> tuple[str, str]:
    """The verdict, and what to do; the sentence is empty where nothing is to be done.

    Parameters
    ----------
    relative : float
        The largest error over the range of its output.
    step : float
        Communication step, s.
    algorithm : MasterAlgorithm
    descriptions : iterable of ParticipantDescription
        Of all participants.
    """
    if relative <= FINE:
        return "fine", ""
    if algorithm.tightened() is not None:
        return "tighter tolerance", f"Divide the tolerance by {_rounded_up(relative / FINE):g}."
    shorter = (relative / FINE) ** (1.0 / algorithm.order)
    short_enough = f"{_rounded_down(step / shorter):g} s"
    other = better_algorithm(algorithm, list(descriptions))
    if other and (shorter > MOST_SHORTER or relative > 1.0):
        return "other algorithm", f"Take {other}, or a step of {short_enough}."
    alternative = f", or {other}" if other else ""
    aim = f"for an error of {100.0 * FINE:g} % of the range"
    return "smaller step", f"Take a step of {short_enough}{alternative}, {aim}."


def better_algorithm(algorithm: cosim.MasterAlgorithm, descriptions: list[ParticipantDescription]) -> str:
    """An algorithm that these participants allow and that errs less; empty when there is none."""
    restores = all(each.can_restore for each in descriptions)
    varies = all(each.variable_step for each in descriptions)
    if restores and varies:
        return 'algorithm = "adaptive" with options.iterations = 5'
    if restores and not algorithm.restores:
        return 'algorithm = "interface_newton"'
    if restores and algorithm.order == 1:
        return 'options.hold = "line"'
    if varies and algorithm.order == 1:
        return 'algorithm = "adaptive"'
    return "options.extrapolation = 1" if algorithm.order == 1 else ""


def _rounded_down(number: float) -> float:
    """The number to one digit, and not above it."""
    power = floor(log10(number))
    return float(f"{floor(number / 10.0**power * (1.0 + 1e-9))}e{power}")


def _rounded_up(factor: float) -> float:
    """1, 2 or 5 times a power of ten, not below `factor`."""
    power = 10.0 ** floor(log10(factor))
    return next((power * n for n in (1.0, 2.0, 5.0) if factor <= power * n), 10.0 * power)
