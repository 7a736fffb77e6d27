"""Spatial vectors of s-vals: an angular and a linear part."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cosim_dynamics.sval import SVal
from cosim_dynamics.sval_triple import SValTriple
from cosim_dynamics.sval_vector import SValVector


class SpatialSVal(SValVector):
    """A spatial acceleration or force whose six components are s-vals: the angular part, then the linear one.

    Law: s = sum_i c_i a_i + b with c_i and b of six. Operations: + and - with six numbers or another one, *
    and / by a number, ``matrix @ s`` with a 6 by 6 matrix, ``dot`` with six numbers (a power), ``force_at``
    and ``acceleration_at`` to move it to another point. Products of two that both carry accelerations do not
    exist.

    Parameters
    ----------
    angular, linear : SValTriple or three of SVal, float or Symbol

    Raises
    ------
    TypeError
        For a product of two that both carry accelerations.
    ValueError
        When the other operand has not six components (or, for ``@``, is not 6 by 6).

    Examples
    --------
    A unit mass on an arm of 2 m that turns about z: the moment about the axis that its acceleration takes.

    >>> import numpy as np
    >>> A = SpatialSVal.along((0, 0, 1, 0, 0, 0), SVal.acceleration(0)).acceleration_at(np.array([2.0, 0, 0]))
    >>> F = SpatialSVal((0, 0, 0), 1.0 * A.linear)
    >>> F.force_at(np.array([-2.0, 0, 0])).coefficient(0).tolist()
    [0.0, 0.0, 4.0, 0.0, 2.0, 0.0]
    """

    __slots__ = ("angular", "linear")
    _name = "spatial s-val"
    _products = "spatial vectors write a.dot(b)"

    def __init__(self, angular: Any = (0.0, 0.0, 0.0), linear: Any = (0.0, 0.0, 0.0)) -> None:
        self.angular, self.linear = _triple(angular), _triple(linear)

    @classmethod
    def _of(cls, components: Sequence[Any]) -> SpatialSVal:
        return cls(components[:3], components[3:])

    @staticmethod
    def _vector(value: Any) -> Any:
        if isinstance(value, SpatialSVal):
            return tuple(value)
        if isinstance(value, (tuple, list, np.ndarray)) and len(value) == 6:
            return value
        raise ValueError(
            f"a spatial s-val can be combined only with vectors of six numbers, not with {value!r}"
        )

    @classmethod
    def along(cls, column: Any, s: SVal) -> SpatialSVal:
        """A scalar s-val along six numbers: a joint's column of H_FM times its acceleration."""
        c = cls._vector(column)
        return cls(SValTriple.along(c[:3], s), SValTriple.along(c[3:], s))

    def dot(self, other: Any) -> SVal:
        """Power with six numbers: angular with angular, linear with linear."""
        b = self._vector(other)
        return self.angular.dot(b[:3]) + self.linear.dot(b[3:])

    def force_at(self, arm: Any) -> SpatialSVal:
        """The force about another point, which is at `arm` from the old one: its moment changes."""
        return SpatialSVal(self.angular - self.linear.crossed_by(arm), self.linear)

    def acceleration_at(self, arm: Any) -> SpatialSVal:
        """The acceleration of a body at rest at a point that is at `arm` from the old one.

        A body that turns with w adds w x (w x arm).
        """
        return SpatialSVal(self.angular, self.linear + self.angular.cross(arm))

    def __iter__(self) -> Iterator[SVal]:
        return iter((*self.angular, *self.linear))

    def __len__(self) -> int:
        return 6

    def __repr__(self) -> str:
        return f"SpatialSVal({self.angular!r}, {self.linear!r})"


def _triple(value: Any) -> SValTriple:
    return value if isinstance(value, SValTriple) else SValTriple(*value)
