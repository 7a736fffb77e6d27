"""Derivatives of the recorded rows of a run."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

import cosim


class RowDerivatives(ABC):
    """Derivatives of rows of a co-simulation, at each of their times."""

    @abstractmethod
    def differentiate(self, result: cosim.Result) -> None:
        """Add the derivatives of its rows to a result, and the units of the variables that they are by."""

    @abstractmethod
    def discard_before(self, time: float) -> None:
        """Forget all rows before a time (s) but the first one, since a stream has received them."""

    @abstractmethod
    def lost(self) -> RowDerivatives:
        """The derivatives for rows that are recovered after the process has ended."""


class LostDerivatives(RowDerivatives):
    """NaN for each derivative: those of the last rows were lost with the process.

    Parameters
    ----------
    by : sequence of str
    units : mapping of str to str
        Of the variables that derivatives are by.
    """

    def __init__(self, by: Sequence[str], units: Mapping[str, str]) -> None:
        self._by, self._units = list(by), dict(units)

    def differentiate(self, result: cosim.Result) -> None:
        """Add NaN for each derivative: they are unknown."""
        for path, values in result.signals.items():
            if values.dtype == np.float64:
                result.derivatives[path] = {by: np.full(len(result), np.nan) for by in self._by}
        result.variable_units.update(self._units)

    def discard_before(self, time: float) -> None:
        """Do nothing: no rows are stored."""

    def lost(self) -> RowDerivatives:
        """The same object: there is nothing to lose."""
        return self
