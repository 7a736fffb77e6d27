"""Random draws that a seed determines for ever, from the bits of PCG64, which NumPy guarantees."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

BITS = 53


class Draws:
    """A sequence of random numbers and choices.

    The methods of `numpy.random.Generator` may change with NumPy; the raw bits do not.
    """

    def __init__(self, seed: int) -> None:
        self._bits = np.random.PCG64(seed)

    def fraction(self) -> float:
        """A number in [0, 1)."""
        return (int(self._bits.random_raw()) >> (64 - BITS)) * 2.0**-BITS

    def number(self, low: float, high: float) -> float:
        """A number between two others."""
        return low + (high - low) * self.fraction()

    def count(self, low: int, high: int) -> int:
        """An integer from `low` to `high`, both included."""
        return low + int(self._bits.random_raw()) % (high - low + 1)

    def chance(self, probability: float) -> bool:
        """True with this probability."""
        return self.fraction() < probability

    def one_of(self, choices: Sequence[Any]) -> Any:
        """One of the choices."""
        return choices[self.count(0, len(choices) - 1)]

    def shuffled(self, choices: Sequence[Any]) -> list[Any]:
        """All choices, in a random order."""
        rest, order = list(choices), []
        while rest:
            order.append(rest.pop(self.count(0, len(rest) - 1)))
        return order
