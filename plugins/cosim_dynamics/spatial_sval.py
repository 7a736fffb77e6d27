"""Spatial vectors of s-vals: an angular and a linear part."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cosim_dynamics.sval import NO_VALUE, POWER, PRODUCT, VECTORS, SVal, _as_sval
from cosim_dynamics.sval_triple import SValTriple


class SpatialSVal:
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
    __array_ufunc__ = None

    def __init__(self, angular: Any = (0.0, 0.0, 0.0), linear: Any = (0.0, 0.0, 0.0)) -> None:
        self.angular, self.linear = _triple(angular), _triple(linear)

    @classmethod
    def along(cls, column: Any, s: SVal) -> SpatialSVal:
        """A scalar s-val along six numbers: a joint's column of H_FM times its acceleration."""
        c = _six(column)
        return cls(SValTriple.along(c[:3], s), SValTriple.along(c[3:], s))

    @property
    def bias(self) -> NDArray[Any]:
        """The constants, shape (6,)."""
        return np.concatenate([self.angular.bias, self.linear.bias])

    @property
    def dofs(self) -> frozenset[Hashable]:
        """Degrees of freedom with a coefficient."""
        return self.angular.dofs | self.linear.dofs

    @property
    def carries_accelerations(self) -> bool:
        """Whether any coefficient is there."""
        return bool(self.dofs)

    def coefficient(self, dof: Hashable) -> NDArray[Any]:
        """The factor of one acceleration, shape (6,): the partial velocity of that speed."""
        return np.concatenate([self.angular.coefficient(dof), self.linear.coefficient(dof)])

    def evaluate(self, udot: Any) -> NDArray[Any]:
        """The vector for given accelerations, shape (6,)."""
        return np.concatenate([self.angular.evaluate(udot), self.linear.evaluate(udot)])

    def dot(self, other: Any) -> SVal:
        """Power with six numbers: angular with angular, linear with linear."""
        if isinstance(other, SpatialSVal):
            return self.angular.dot(other.angular) + self.linear.dot(other.linear)
        b = _six(other)
        return self.angular.dot(b[:3]) + self.linear.dot(b[3:])

    def force_at(self, arm: Any) -> SpatialSVal:
        """The same force about a point that is at `arm` from the old one: its moment changes."""
        return SpatialSVal(self.angular - self.linear.crossed_by(arm), self.linear)

    def acceleration_at(self, arm: Any) -> SpatialSVal:
        """The acceleration of a body at rest at a point that is at `arm` from the old one.

        A body that turns with w adds w x (w x arm).
        """
        return SpatialSVal(self.angular, self.linear + self.angular.cross(arm))

    def __add__(self, other: Any) -> SpatialSVal:
        b = tuple(other) if isinstance(other, SpatialSVal) else _six(other)
        return SpatialSVal(self.angular + b[:3], self.linear + b[3:])

    __radd__ = __add__

    def __neg__(self) -> SpatialSVal:
        return SpatialSVal(-self.angular, -self.linear)

    def __pos__(self) -> SpatialSVal:
        return self

    def __pow__(self, exponent: Any) -> Any:
        raise TypeError(POWER)

    __rpow__ = __pow__

    def _no_value(self, *others: object) -> NoReturn:
        raise TypeError(NO_VALUE)

    __bool__ = __float__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _no_value
    __eq__ = __ne__ = _no_value
    __hash__ = object.__hash__

    def __sub__(self, other: Any) -> SpatialSVal:
        return self + (-other if isinstance(other, SpatialSVal) else [-b for b in _six(other)])

    def __rsub__(self, other: Any) -> SpatialSVal:
        return -self + other

    def __mul__(self, other: Any) -> SpatialSVal:
        if isinstance(other, (SpatialSVal, SValTriple)):
            raise TypeError(f"{PRODUCT}. For spatial vectors write a.dot(b)")
        if isinstance(other, (tuple, list, np.ndarray)) and np.shape(other):
            raise TypeError(VECTORS)
        factor = _as_sval(other)
        return NotImplemented if factor is None else SpatialSVal(self.angular * factor, self.linear * factor)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SpatialSVal:
        return SpatialSVal(self.angular / other, self.linear / other)

    def __rmatmul__(self, matrix: Any) -> Any:
        rows = np.asarray(matrix)
        if rows.shape == (6,):
            return self.dot(rows)
        if rows.shape != (6, 6):
            raise ValueError(
                f"matrix @ spatial s-val: the matrix is {rows.shape}, needs (6, 6), or (6,) for a power"
            )
        values = [self.dot(row) for row in rows]
        return SpatialSVal(values[:3], values[3:])

    def __matmul__(self, other: Any) -> SVal:
        return self.dot(other)

    def __iter__(self) -> Iterator[SVal]:
        return iter((*self.angular, *self.linear))

    def __getitem__(self, index: int) -> SVal:
        return (*self.angular, *self.linear)[index]

    def __len__(self) -> int:
        return 6

    def __repr__(self) -> str:
        return f"SpatialSVal({self.angular!r}, {self.linear!r})"


def _triple(value: Any) -> SValTriple:
    return value if isinstance(value, SValTriple) else SValTriple(*value)


def _six(value: Any) -> Any:
    """Six components of a tuple, a list or an array."""
    if isinstance(value, (tuple, list, np.ndarray)) and len(value) == 6:
        return value
    raise ValueError(f"a spatial s-val meets vectors of six numbers only, not {value!r}")
