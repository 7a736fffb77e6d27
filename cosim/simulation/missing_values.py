"""Recorded values that are no number."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from cosim.simulation.event_record import Finding
from cosim.simulation.recorded_signals import RecordedSignals

MESSAGE = (
    "is not a number (NaN) here for the first time: look for a division by zero, or a root or logarithm of a "
    "negative number"
)


def missing_value(time: float, path: str) -> Finding:
    """The finding for a recorded value that is NaN and was a number in all rows before.

    Parameters
    ----------
    time : float
        s.
    path : str
        Of the signal, with the place of the element where it has several.
    """
    return Finding(time, "not a number", path, MESSAGE)


class MissingValues:
    """Finds NaN among recorded values that components compute.

    Parameters
    ----------
    signals : RecordedSignals
        What is recorded.
    """

    def __init__(self, signals: RecordedSignals) -> None:
        self._signals, self._width = signals.noticed, signals.width
        self._reported: set[int] = set()  # columns

    def clear(self) -> None:
        """Forget which signals have been NaN."""
        self._reported.clear()

    def findings(self, numbers: NDArray[np.float64]) -> list[Finding]:
        """A finding for each signal that is NaN in these rows and was a number in all before.

        Parameters
        ----------
        numbers : ndarray
            Whole rows, one behind the other: time, then values.
        """
        if not np.isnan(numbers).any():
            return []
        rows = numbers.reshape(-1, self._width)
        findings: list[Finding] = []
        for first, size, path in self._signals:
            for i in (i for i in range(size) if first + i not in self._reported):
                missing = np.flatnonzero(np.isnan(rows[:, first + i]))
                if missing.size:
                    self._reported.add(first + i)
                    name = f"{path}[{i}]" if size > 1 else path
                    findings.append(missing_value(float(rows[missing[0], 0]), name))
        return sorted(findings, key=lambda finding: finding.time)
