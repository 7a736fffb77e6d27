"""Values of variables, as messages between processes carry them."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim_master.processes.process_worker import FEW_VALUES


def sent_values(values: NDArray[np.float64] | Sequence[Any]) -> Any:
    """Values as they are sent: many reals as an array, all else as a list."""
    if isinstance(values, np.ndarray):
        return values.copy() if len(values) > FEW_VALUES else values.tolist()
    if len(values) > FEW_VALUES and all(type(value) is float for value in values):
        return np.array(values)
    return [*values]
