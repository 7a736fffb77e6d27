"""Signals of a result that follow from a participant's variables: those of a system's own connectors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class DerivedSignal:
    """A signal of a connector of a system: a variable of a participant, mapped and scaled.

    Attributes
    ----------
    port : tuple of (str, str)
        Participant and variable.
    unit : str
    factor, offset : float
    table : mapping of int to int
        Values that are no real numbers with their replacements, before factor and offset.
    """

    port: tuple[str, str]
    unit: str = "1"
    factor: float = 1.0
    offset: float = 0.0
    table: Mapping[int, int] = field(default_factory=dict, hash=False)

    def of(self, variable_values: NDArray[Any]) -> NDArray[Any]:
        """The values of the signal from those of the variable; without a conversion they keep their type."""
        is_scaled = (self.factor, self.offset) != (1.0, 0.0)
        if not self.table and not is_scaled:
            return variable_values
        values = variable_values.astype(np.float64)
        for source, target in self.table.items():
            values[variable_values == source] = target
        if is_scaled:
            return self.factor * values + self.offset
        return (
            values != 0.0
            if variable_values.dtype == np.bool_ and set(self.table.values()) <= {0, 1}
            else values
        )
