"""A witness: a number whose change of sign is an event."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosim.component.kernel_function import DIRECTIONS
from cosim.system.system import System

FALLING, RISING, BOTH = 1, 2, 3


@dataclass(frozen=True)
class Witness:
    """A witness of one part.

    Attributes
    ----------
    path : str
        ``"ball.floor"``.
    offset : int
        Where in the cache its value lies.
    direction : int
        Which way it has to cross zero: `FALLING`, `RISING` or `BOTH`.
    rate : int
        Where in the cache its rate lies, where the component declares one; else -1.
    is_condition : bool
        Whether it is true or false (1 and -1 in the cache) instead of a number that varies.
    """

    path: str
    offset: int
    direction: int
    rate: int = -1
    is_condition: bool = False

    def triggers(self, before: float, after: float) -> bool:
        """Whether going from one value to another is an event; leaving zero never is, NaN is no value."""
        falls = self.direction != RISING and before > 0.0 and after <= 0.0
        return falls or (self.direction != FALLING and before < 0.0 and after >= 0.0)


@dataclass(frozen=True)
class Located:
    """Where triggered events were located: a window, and all witnesses at its two ends.

    Attributes
    ----------
    window : (float, float)
        s
    before, after : ndarray, shape (witnesses,)
    crossed : list of int
        Indices of the witnesses that crossed.
    """

    window: tuple[float, float]
    before: NDArray[np.float64]
    after: NDArray[np.float64]
    crossed: list[int]


def list_witnesses(system: System) -> list[Witness]:
    """The witnesses of all parts, in order of parts, then of declaration."""
    slots, found = system._assembly.layout.slots, []
    for name, part in system.parts.items():
        rates = {id(k.rate_of): slots[name, k.name].offset for k in part.kernels.values() if k.rate_of}
        for kernel in part.kernels.values():
            if kernel.role == "witness" and (name, kernel.name) in slots:
                falling, rising = DIRECTIONS[kernel.direction]
                rate, path = rates.get(id(kernel), -1), f"{name}.{kernel.name}"
                place = slots[name, kernel.name].offset
                direction = FALLING * falling + RISING * rising
                found.append(Witness(path, place, direction, rate, kernel.is_condition))
    return found
