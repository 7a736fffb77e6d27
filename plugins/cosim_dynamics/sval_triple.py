"""Vectors of three s-vals."""

from __future__ import annotations

from collections.abc import Hashable, Iterator
from typing import Any, NoReturn

import numpy as np
from numpy.typing import NDArray

from cosim_dynamics.sval import NO_VALUE, POWER, PRODUCT, VECTORS, SVal, _as_sval


class SValTriple:
    """A vector of three whose components are s-vals: an acceleration, a force or a moment.

    Law: s = sum_i c_i a_i + b with vectors c_i and b. Operations: + and - with a vector or another triple, *
    and / by a number, ``matrix @ s``, `dot` and `cross` with a vector; products of two triples that both
    carry accelerations do not exist.

    Parameters
    ----------
    x, y, z : SVal, float or Symbol

    Raises
    ------
    TypeError
        For a product of two that both carry accelerations.
    ValueError
        When the other operand has not three components (or, for ``@``, is not 3 by 3).

    References
    ----------
    Darwin2K's ``svTriple``.

    Examples
    --------
    The acceleration of a point at radius r on a body that turns about z:

    >>> import numpy as np
    >>> alpha = SValTriple.along((0.0, 0.0, 1.0), SVal.acceleration(0))
    >>> a = alpha.cross(np.array([2.0, 0.0, 0.0]))
    >>> a.coefficient(0).tolist(), a.bias.tolist()
    ([0.0, 2.0, 0.0], [0.0, 0.0, 0.0])
    >>> float(a.dot((0.0, 3.0, 0.0)).coefficient(0))
    6.0
    """

    __slots__ = ("x", "y", "z")
    __array_ufunc__ = None

    def __init__(self, x: Any = 0.0, y: Any = 0.0, z: Any = 0.0) -> None:
        self.x, self.y, self.z = _scalar(x), _scalar(y), _scalar(z)

    @classmethod
    def along(cls, axis: Any, s: SVal) -> SValTriple:
        """A scalar s-val along a vector."""
        return cls(*[s * component for component in _vector(axis)])

    @property
    def bias(self) -> NDArray[Any]:
        """The constants, shape (3,)."""
        return np.array([component.bias for component in self])

    @property
    def dofs(self) -> frozenset[Hashable]:
        """Degrees of freedom with a coefficient."""
        return self.x.dofs | self.y.dofs | self.z.dofs

    def coefficient(self, dof: Hashable) -> NDArray[Any]:
        """The vector that multiplies one acceleration, shape (3,)."""
        return np.array([component.coefficient(dof) for component in self])

    def row(self, size: int) -> NDArray[Any]:
        """Coefficients of degrees of freedom 0 … `size` - 1, shape (3, size): a Jacobian."""
        return np.array([component.row(size) for component in self])

    def evaluate(self, udot: Any) -> NDArray[Any]:
        """The vector for given accelerations, shape (3,)."""
        return np.array([component.evaluate(udot) for component in self])

    def dot(self, other: Any) -> SVal:
        """Scalar product with a vector."""
        b = _vector(other)
        return self.x * b[0] + self.y * b[1] + self.z * b[2]

    def cross(self, other: Any) -> SValTriple:
        """Self x other."""
        a, b = tuple(self), _vector(other)
        return SValTriple(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])

    def crossed_by(self, other: Any) -> SValTriple:
        """Other x self."""
        return -self.cross(other)

    def __add__(self, other: Any) -> SValTriple:
        b = _vector(other)
        return SValTriple(self.x + b[0], self.y + b[1], self.z + b[2])

    __radd__ = __add__

    def __sub__(self, other: Any) -> SValTriple:
        b = _vector(other)
        return SValTriple(self.x - b[0], self.y - b[1], self.z - b[2])

    def __rsub__(self, other: Any) -> SValTriple:
        return -(self - other)

    def __neg__(self) -> SValTriple:
        return SValTriple(-self.x, -self.y, -self.z)

    def __pos__(self) -> SValTriple:
        return self

    def __pow__(self, exponent: Any) -> Any:
        raise TypeError(POWER)

    __rpow__ = __pow__

    def _no_value(self, *others: object) -> NoReturn:
        raise TypeError(NO_VALUE)

    __bool__ = __float__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _no_value
    __eq__ = __ne__ = _no_value
    __hash__ = object.__hash__

    def __mul__(self, other: Any) -> SValTriple:
        if isinstance(other, SValTriple):
            raise TypeError(f"{PRODUCT}. For vectors write a.dot(b) or a.cross(b)")
        if isinstance(other, (tuple, list, np.ndarray)) and np.shape(other):
            raise TypeError(VECTORS)
        factor = _as_sval(other)
        return (
            NotImplemented
            if factor is None
            else SValTriple(self.x * factor, self.y * factor, self.z * factor)
        )

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SValTriple:
        if _as_sval(other) is None:
            raise TypeError(f"a vector s-val is divided by a number, not by {other!r}")
        return SValTriple(self.x / other, self.y / other, self.z / other)

    def __rmatmul__(self, matrix: Any) -> Any:
        rows = np.asarray(matrix)
        if rows.shape == (3,):
            return self.dot(rows)
        if rows.shape != (3, 3):
            raise ValueError(
                f"matrix @ triple: the matrix has shape {rows.shape}, needs (3, 3), or (3,) for a dot product"
            )
        return SValTriple(*[self.dot(row) for row in rows])

    def __matmul__(self, other: Any) -> SVal:
        return self.dot(other)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.dot and len(arguments) == 2:
            return arguments[0] @ arguments[1]
        if function is np.cross and len(arguments) == 2 and not options:
            a, b = arguments
            return a.cross(b) if isinstance(a, SValTriple) else b.crossed_by(a)
        raise TypeError(
            f"numpy.{function.__name__} of s-vals: np.dot and np.cross are there, and the operators + - * / @"
        )

    def __iter__(self) -> Iterator[SVal]:
        return iter((self.x, self.y, self.z))

    def __getitem__(self, index: int) -> SVal:
        return (self.x, self.y, self.z)[index]

    def __len__(self) -> int:
        return 3

    def __repr__(self) -> str:
        return f"SValTriple({self.x!r}, {self.y!r}, {self.z!r})"


def _scalar(value: Any) -> SVal:
    s = _as_sval(value)
    if s is None:
        raise TypeError(f"a component of a triple is an s-val or a number, not {type(value).__name__}")
    return s


def _vector(value: Any) -> Any:
    """Three components of a triple, a tuple or an array."""
    if isinstance(value, SValTriple):
        return tuple(value)
    if isinstance(value, (tuple, list, np.ndarray)) and len(value) == 3:
        return value
    raise ValueError(f"a triple meets vectors of three numbers only, not {value!r}")
