"""What gives recorded rows their derivatives."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence

import numpy as np

import cosim


class RowDerivatives(ABC):
    """Derivatives of rows of a co-simulation, at each of their times."""

    @abstractmethod
    def differentiate(self, result: cosim.Result) -> None:
        """Add to these rows their derivatives, and the units of what they are by."""

    @abstractmethod
    def discard_before(self, time: float) -> None:
        """Forget rows before a time (s) but the first one: a stream has them."""

    @abstractmethod
    def lost(self) -> RowDerivatives:
        """The derivatives for rows that are recovered after the process has ended."""


class LostDerivatives(RowDerivatives):
    """NaN for each derivative: those of the last rows were lost with the process.

    Parameters
    ----------
    by : sequence of str
    units : mapping of str to str
        Of what derivatives are by.
    """

    def __init__(self, by: Sequence[str], units: Mapping[str, str]) -> None:
        self._by, self._units = list(by), dict(units)

    def differentiate(self, result: cosim.Result) -> None:
        """Add NaN."""
        for path, values in result.signals.items():
            if values.dtype == np.float64:
                result.derivatives[path] = {by: np.full(len(result), np.nan) for by in self._by}
        result.variable_units.update(self._units)

    def discard_before(self, time: float) -> None:
        """Do nothing: no rows are stored."""

    def lost(self) -> RowDerivatives:
        """The same object: there is nothing to lose."""
        return self
