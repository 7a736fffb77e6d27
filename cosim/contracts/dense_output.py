"""The dense output of a method, for compiled code."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray


@dataclass(frozen=True)
class DenseOutput:
    """The solution inside the last step, as compiled code calls it.

    In a kernel function: ``call_dense(address, (t, coefficients, work, y, out))``, with `call_dense` imported
    by name from `cosim` and `y` of the right length, writes the state at `t` into `out`. From Python,
    `function` takes the arguments of the tuple.

    Attributes
    ----------
    address : int
    function : callable
    coefficients, work : ndarray
        Constant numbers of the method; what it kept of the last step.
    """

    address: int
    function: Callable[..., Any]
    coefficients: NDArray[np.float64]
    work: NDArray[np.float64]
