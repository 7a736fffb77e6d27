"""Where the interface is going: polynomials through its last communication points."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Course

Vector = NDArray[np.float64]
HIGHEST_ORDER = 2


class Extrapolation:
    """Extrapolates the interface over the next step.

    Parameters
    ----------
    order : int
        Degree of the polynomial, 0 to 2. With too few points behind, the degree that they allow.

    Raises
    ------
    ModelError
        For another order.

    Examples
    --------
    >>> line = Extrapolation(1)
    >>> line.remember(0.0, np.array([1.0])); line.remember(0.5, np.array([2.0]))
    >>> line.value(0.75)
    array([2.5])
    """

    def __init__(self, order: int) -> None:
        if isinstance(order, bool) or order not in range(HIGHEST_ORDER + 1):
            raise cosim.ModelError.of("extrapolation", f"is {order!r}, needs 0, 1 or 2")
        self.order = order
        self.forget()

    def words(self) -> str:
        """What it continues, in words."""
        name = {1: "line", 2: "parabola"}.get(self.order, "value")
        return f"the {name} through the values at the last {self.order + 1} communication points, continued"

    @property
    def is_line(self) -> bool:
        """Whether it knows more than one point; else it holds that."""
        return len(self._points) > 1

    def forget(self) -> None:
        """Before a run."""
        self._points: list[tuple[float, Vector]] = []

    def remember(self, time: float, values: Vector) -> None:
        """The interface at a communication point, s."""
        self._points = [point for point in self._points if point[0] < time][-self.order :] * (self.order > 0)
        self._points.append((time, values))

    def value(self, time: float) -> Vector:
        """The polynomial at `time` (s), by Lagrange's formula."""
        found = np.zeros_like(self._points[-1][1])
        for i, (at, values) in enumerate(self._points):
            weight = 1.0
            for j, (other, _) in enumerate(self._points):
                if i != j:
                    weight *= (time - other) / (at - other)
            found += weight * values
        return found

    def course(self, time: float, size: float) -> Course:
        """A line in place of the polynomial over a step from `time` by `size` (s); same integral."""
        first, middle, last = (self.value(time + part * size) for part in (0.0, 0.5, 1.0))
        return Course((first + 4.0 * middle + last) / 6.0, (last - first) / size, size)
