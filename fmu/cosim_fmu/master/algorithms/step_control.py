"""How long the next exchange may be, from the error of the last one."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

import cosim

Vector = NDArray[np.float64]
USUAL = 1e-6
"""The absolute tolerance of a value for which none is given, in its unit."""
SAFETY, MOST_GROWTH, LEAST_SHRINK = 0.9, 2.0, 0.2
SMALLEST_PART = 1e-9
"""Of a communication step; less than that is reported."""


class StepControl:
    """Length of the exchanges inside a communication step.

    Parameters
    ----------
    tolerance : float
        Of the error of one exchange, relative to each value of the interface, > 0.
    absolute_tolerance : float or mapping of str to float
        The error that is allowed however small a value is, > 0, in its unit; or one for each name of the
        interface that is not to have `USUAL`.
    order : int
        The error of one exchange falls with this power of its length.

    Raises
    ------
    ModelError
        For tolerances that are none.
    """

    def __init__(self, tolerance: float, absolute_tolerance: float | Mapping[str, float], order: int) -> None:
        by_name = absolute_tolerance if isinstance(absolute_tolerance, Mapping) else {}
        usual = USUAL if isinstance(absolute_tolerance, Mapping) else absolute_tolerance
        given = {"tolerance": tolerance, "absolute_tolerance": usual}
        given |= {f"absolute_tolerance.{name}": value for name, value in by_name.items()}
        problems = [
            cosim.Problem(name, f"is {value!r}, needs a number greater than 0")
            for name, value in given.items()
            if isinstance(value, bool) or not isinstance(value, (int, float)) or not 0.0 < value < math.inf
        ]
        if problems:
            raise cosim.ModelError(problems)
        self.tolerance, self._usual, self._by_name = float(tolerance), float(usual), dict(by_name)
        self.order = order
        self.begin()

    @property
    def absolute(self) -> float:
        """The absolute tolerance of what has none of its own."""
        return self._usual

    def begin(self, names: Sequence[str] = ()) -> None:
        """Before a run; `names` are those of the interface.

        Raises
        ------
        ModelError
            An absolute tolerance is given for a name that is none of them.
        """
        self.next, self.taken, self.rejected, self.worst = math.inf, 0, 0, -1
        wrong = [
            cosim.Problem(
                f"absolute_tolerance.{name}", str(cosim.LookUpError("connected output", name, names))
            )
            for name in self._by_name
            if name not in names
        ]
        if wrong and names:
            raise cosim.ModelError(wrong)
        self.absolute_tolerance = np.array([self._by_name.get(name, self._usual) for name in names])

    def length(self, time: float, end: float) -> float:
        """Length of the next exchange, s; two equal ones instead of one and a sliver."""
        rest = end - time
        if self.next >= 0.99 * rest:
            return rest
        return 0.5 * rest if self.next > 0.5 * rest else self.next

    def judge(self, one: Vector, other: Vector) -> float:
        """The largest difference of two interfaces over its tolerance; infinite when it is not finite."""
        size = self.tolerance * np.maximum(np.abs(one), np.abs(other)) + self.absolute_tolerance
        ratios = np.abs(one - other) / size
        ratios[~np.isfinite(ratios)] = np.inf
        self.worst = int(np.argmax(ratios)) if ratios.size else -1
        return float(np.max(ratios, initial=0.0))

    def adapt(self, length: float, error: float, *, at_end: bool) -> None:
        """Choose the next length after an exchange with this error (over the tolerance)."""
        factor = SAFETY * max(error, 1e-9) ** (-1.0 / self.order) if error < math.inf else 0.0
        wanted = length * min(MOST_GROWTH, max(LEAST_SHRINK, factor))
        if error <= 1.0:
            self.taken += 1
            # One that the end made short says nothing against a longer one.
            self.next = max(wanted, self.next) if at_end and self.next < math.inf else wanted
        else:
            self.rejected += 1
            self.next = wanted

    def complaint(self, names: object) -> str:
        """What to say when the next exchange would have to be too short."""
        name = names[self.worst] if self.worst >= 0 else "the interface"  # type: ignore[index]
        return (
            f"the tolerance of {self.tolerance:g} would need exchanges shorter than {SMALLEST_PART:g} of the "
            f"communication step, because of {name}: loosen it, or look for a jump there"
        )
