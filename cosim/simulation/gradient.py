"""The gradient of a number that follows from a run."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.errors import LookUpError

Reals = NDArray[np.float64]


class Gradient(Mapping[str, Reals]):
    """How a number that follows from a run changes with parameters, start values and inputs.

    A mapping: ``gradient["rubber.stiffness"]`` has the shape of that parameter.

    Attributes
    ----------
    value : float
        The number itself.
    result : Result
        The run.
    """

    def __init__(self, value: float, result: Any, parts: Mapping[str, Reals]) -> None:
        self.value, self.result = value, result
        self._parts = dict(parts)

    def __getitem__(self, path: str) -> Reals:
        if path not in self._parts:
            raise LookUpError("gradient", path, self._parts)
        return self._parts[path]

    def __iter__(self) -> Iterator[str]:
        return iter(self._parts)

    def __len__(self) -> int:
        return len(self._parts)

    @property
    def vector(self) -> Reals:
        """All of it, one element behind the other, in the order in which they were named."""
        return np.concatenate([np.zeros(0), *(np.ravel(part) for part in self._parts.values())])

    def __repr__(self) -> str:
        return f"<Gradient of {self.value:.9g} by {', '.join(self._parts)}>"
