"""The corrections of a solution after a step, as a system lists them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

Correction = tuple[Callable[..., Any], NDArray[np.int64]]


@dataclass
class Projection:
    """Blocks that change y, outside of the schedule; a dynamics solver brings them.

    `cosim.contracts.constraints.project` says in which order they are called.

    Attributes
    ----------
    errors : int
        Where in the cache four numbers lie: whether a correction changed something; of the last evaluation
        the largest position error and the largest velocity error, and which part of the tolerance is allowed
        for these, 0 or 1.
    normalize, prepare, move, speeds : list of (function, rows)
        Functions have the signature of a block; normalize quaternions, prepare a movement of the
        coordinates and make it, change speeds.
    estimates, displaced, rates : list of (function, rows)
        They take out of an error estimate what a correction would take out of the error.
    """

    errors: int
    normalize: list[Correction] = field(default_factory=list)
    prepare: list[Correction] = field(default_factory=list)
    move: list[Correction] = field(default_factory=list)
    speeds: list[Correction] = field(default_factory=list)
    estimates: list[Correction] = field(default_factory=list)
    displaced: list[Correction] = field(default_factory=list)
    rates: list[Correction] = field(default_factory=list)

    @property
    def groups(self) -> list[list[Correction]]:
        """All groups, in the order of their rows in the table."""
        return [
            *(self.normalize, self.prepare, self.move, self.speeds),
            *(self.estimates, self.displaced, self.rates),
        ]

    @property
    def all(self) -> list[Correction]:
        """All corrections in the order of their rows: one group after the other."""
        return [correction for group in self.groups for correction in group]
