"""Values of variables, as messages between processes carry them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

FEW_VALUES = 16
"""A larger number of values is sent as one array."""


def sent_values(values: NDArray[np.float64] | Sequence[Any]) -> Any:
    """Values as they are sent: many reals as an array, all else as a list."""
    if isinstance(values, np.ndarray):
        return values.copy() if len(values) > FEW_VALUES else values.tolist()
    if len(values) > FEW_VALUES and all(type(value) is float for value in values):
        return np.array(values)
    return [*values]


def listed(values: Any) -> list[Any]:
    """Values as they are handed over to a participant."""
    as_list: list[Any] = values.tolist() if hasattr(values, "tolist") else list(values)
    return as_list
