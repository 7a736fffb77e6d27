"""Vectors of three s-vals."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from cosim_dynamics.sval import SVal, as_sval
from cosim_dynamics.sval_vector import SValVector


class SValTriple(SValVector):
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
    _name = "triple"
    _products = "vectors write a.dot(b) or a.cross(b)"

    def __init__(self, x: Any = 0.0, y: Any = 0.0, z: Any = 0.0) -> None:
        self.x, self.y, self.z = _scalar(x), _scalar(y), _scalar(z)

    @classmethod
    def _of(cls, components: Sequence[Any]) -> SValTriple:
        return cls(*components)

    @staticmethod
    def _vector(value: Any) -> Any:
        if isinstance(value, SValTriple):
            return tuple(value)
        if isinstance(value, (tuple, list, np.ndarray)) and len(value) == 3:
            return value
        raise ValueError(f"a triple meets vectors of three numbers only, not {value!r}")

    @classmethod
    def along(cls, axis: Any, s: SVal) -> SValTriple:
        """A scalar s-val along a vector."""
        return cls(*[s * component for component in cls._vector(axis)])

    def dot(self, other: Any) -> SVal:
        """Scalar product with a vector."""
        b = self._vector(other)
        return self.x * b[0] + self.y * b[1] + self.z * b[2]

    def cross(self, other: Any) -> SValTriple:
        """Self x other."""
        a, b = tuple(self), self._vector(other)
        return SValTriple(a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0])

    def crossed_by(self, other: Any) -> SValTriple:
        """Other x self."""
        return -self.cross(other)

    def __array_function__(self, function: Any, types: Any, arguments: Any, options: Any) -> Any:
        if function is np.dot and len(arguments) == 2:
            return arguments[0] @ arguments[1]
        if function is np.cross and len(arguments) == 2 and not options:
            a, b = arguments
            return a.cross(b) if isinstance(a, SValTriple) else b.crossed_by(a)
        raise TypeError(
            f"numpy.{function.__name__} does not take s-vals: use np.dot, np.cross or the operators + - * / @"
        )

    def __iter__(self) -> Iterator[SVal]:
        return iter((self.x, self.y, self.z))

    def __len__(self) -> int:
        return 3

    def __repr__(self) -> str:
        return f"SValTriple({self.x!r}, {self.y!r}, {self.z!r})"


def _scalar(value: Any) -> SVal:
    s = as_sval(value)
    if s is None:
        raise TypeError(f"a component of a triple is an s-val or a number, not {type(value).__name__}")
    return s
