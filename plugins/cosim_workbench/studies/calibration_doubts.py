"""Why a calibration is not to be believed, and which confidence intervals do not follow from its data."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim_workbench.wording import counted

INSEPARABLE = 1.0 - 1e-6
"""A larger correlation comes from errors of derivatives, and the parameters are inseparable."""
UNEXPLAINED = 0.95
"""If a larger part of the spread of data remains, a constant would explain them as well."""
EQUAL = 1e-12
"""Relative difference of data that comes from rounding."""
EXCEEDED = 3.0
"""Residuals that exceed the given noise by this factor are more than noise."""


class Doubt(NamedTuple):
    """A finding about a calibration.

    Attributes
    ----------
    text : str
        A sentence.
    parameters : tuple of str
        Those that have no confidence interval because of it.
    """

    text: str
    parameters: tuple[str, ...] = ()


def doubts_about_data(
    parameters: Sequence[str],
    measured: Mapping[str, NDArray[np.float64]],
    remains: Mapping[str, float],
    noise: Mapping[str, float],
    lost: int,
) -> Iterator[Doubt]:
    """Doubts that hold for all parameters alike.

    Parameters
    ----------
    parameters : sequence of str
    measured : mapping of str to ndarray
        By signal.
    remains : mapping of str to float
        Root mean square of the residuals, by signal.
    noise : mapping of str to float
        Deviations that the user gave.
    lost : int
        Residuals that are infinite or missing where the search has ended.
    """
    all_parameters = tuple(parameters)
    if lost:
        yield Doubt(
            f"{counted(lost, 'residual')} of it are infinite or missing: the run fails there", all_parameters
        )
    constant = [path for path, values in measured.items() if is_constant(values)]
    for path in constant:
        yield Doubt(
            f"the data of {path} are constant: they tell a rest, not what leads to it",
            all_parameters if len(constant) == len(measured) else (),
        )
    varying = [path for path in measured if path not in constant]
    unexplained = [
        path for path in varying if _is_unexplained(measured[path], remains[path], noise.get(path))
    ]
    for path in unexplained:
        share = remains[path] / float(np.std(measured[path]))
        yield Doubt(
            f"no parameter explains the data of {path}: "
            + (
                f"{share:.0%} of their spread remains"
                if share < 10.0
                else "far more than their spread remains"
            ),
            all_parameters if len(unexplained) == len(varying) else (),
        )
    for path, deviation in noise.items():
        if remains[path] > EXCEEDED * deviation and path not in unexplained:
            factor = remains[path] / deviation
            yield Doubt(f"{factor:.2g} times the noise of {path} remains: the model lacks something")


def _is_unexplained(values: NDArray[np.float64], remains: float, noise: float | None) -> bool:
    if noise is not None and remains <= EXCEEDED * noise:
        return False  # what remains can be noise
    return remains >= UNEXPLAINED * float(np.std(values))


def is_constant(values: NDArray[np.float64]) -> bool:
    """Whether all values are equal, except for the rounding of sums and of text.

    >>> is_constant(np.array([0.3, 0.1 + 0.2])), is_constant(np.array([0.3, 0.31]))
    (True, False)
    """
    return float(np.ptp(values)) <= EQUAL * float(np.abs(values).max())


def doubts_about_parameters(
    at_bounds: Sequence[str],
    alike: Sequence[tuple[str, str, float]],
    without_effect: Sequence[str],
    undetermined: Sequence[str],
) -> Iterator[Doubt]:
    """Doubts that hold for some of the parameters.

    Parameters
    ----------
    at_bounds : sequence of str
    alike : sequence of (str, str, float)
        Pairs of parameters whose errors go together, with their correlation.
    without_effect : sequence of str
        Those that change no signal.
    undetermined : sequence of str
        Those that together can change without any change of a signal.
    """
    for path in at_bounds:
        yield Doubt(f"{path} lies at an end of its range: the data may want it beyond", (path,))
    for path, second_path, correlation in alike:
        text = f"{path} and {second_path} can hardly be told apart: their errors have a correlation of"
        yield Doubt(
            f"{text} {correlation:.3f}", (path, second_path) if abs(correlation) > INSEPARABLE else ()
        )
    for path in without_effect:
        yield Doubt(f"{path} does not change the compared signals", (path,))
    if undetermined:
        names = ", ".join(undetermined)
        yield Doubt(f"{names} cannot be told apart: the data determine a combination alone", (*undetermined,))
