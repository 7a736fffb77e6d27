"""A signal that follows from a recorded variable."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class DerivedSignal:
    """What a connector of a system shows: a variable of a participant, mapped and scaled.

    Attributes
    ----------
    port : tuple of (str, str)
        Participant and variable.
    unit : str
    factor, offset : float
    table : mapping of int to int
        Of values that are no real numbers, before factor and offset; others stay as they are.
    """

    port: tuple[str, str]
    unit: str = "1"
    factor: float = 1.0
    offset: float = 0.0
    table: Mapping[int, int] = field(default_factory=dict, hash=False)

    def of(self, given: NDArray[Any]) -> NDArray[Any]:
        """Its values, from those of the variable; what nothing changes on its way keeps its type."""
        is_scaled = (self.factor, self.offset) != (1.0, 0.0)
        if not self.table and not is_scaled:
            return given
        values = given.astype(np.float64)
        for source, target in self.table.items():
            values[given == source] = target
        if is_scaled:
            return self.factor * values + self.offset
        return values != 0.0 if given.dtype == np.bool_ and set(self.table.values()) <= {0, 1} else values
