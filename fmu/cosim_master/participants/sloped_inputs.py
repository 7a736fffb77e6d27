"""SlopedInputs: inputs of an FMU that follow straight lines inside a communication step."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from typing import Any


class SlopedInputs:
    """The lines of inputs over one step, and their values where the FMU asks for them (FMI 3.0).

    Parameters
    ----------
    settable_inside : collection of str
        The inputs that can be written inside a step; all others are held at the mean of their line.
    """

    def __init__(self, settable_inside: Collection[str]) -> None:
        self._settable_inside = settable_inside
        self._values: dict[str, float] = {}  # as they were written last
        self._bases: dict[str, float] = {}  # values at the start of the lines
        self._slopes: dict[str, float] = {}
        self._start = math.nan  # of the lines, s; nan until the step begins

    def clear(self) -> None:
        """Forget values and lines, since inputs are written."""
        self._values.clear()
        self._slopes.clear()

    def store(self, names: Iterable[str], values: Iterable[float]) -> None:
        """Store values that were written."""
        self._values.update(zip(names, values, strict=True))

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float], read: Callable[[str], float]) -> None:
        """Let inputs run along lines over the next step.

        Parameters
        ----------
        names : sequence of str
        slopes : sequence of float
            Per s.
        read : callable
            Reads an input. It is called only for inputs that were not written, since an FMU may refuse to be
            read after it was written and before it is stepped.
        """
        self._bases = {name: self._values[name] if name in self._values else read(name) for name in names}
        self._slopes = dict(zip(names, map(float, slopes), strict=True))
        self._start = math.nan

    def start_step(self, time: float, size: float) -> Mapping[str, float]:
        """Begin the lines, unless they have begun; the means of inputs that are held over the step."""
        if not self._slopes or not math.isnan(self._start):
            return {}
        self._start = time
        return {
            name: self._bases[name] + 0.5 * size * slope
            for name, slope in self._slopes.items()
            if name not in self._settable_inside
        }

    def values_at(self, time: float) -> dict[str, Any]:
        """The values inside the step, at a time (s)."""
        elapsed = time - self._start
        return {
            name: self._bases[name] + elapsed * slope
            for name, slope in self._slopes.items()
            if name in self._settable_inside
        }
