"""Vectors whose components are s-vals."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Iterator, Sequence
from typing import Any, ClassVar, Self

import numpy as np
from numpy.typing import NDArray

from cosim_dynamics.sval import PRODUCT, VECTORS, Linear, SVal, as_sval


class SValVector(Linear):
    """Base of triples and spatial s-vals; a subclass says what its components are and what meets them."""

    __slots__ = ()
    _name: ClassVar[str]
    _products: ClassVar[str]

    @classmethod
    @abstractmethod
    def _of(cls, components: Sequence[Any]) -> Self:
        """The vector of these components."""

    @staticmethod
    @abstractmethod
    def _vector(value: Any) -> Any:
        """Components of what such a vector meets; `ValueError` for anything else."""

    @abstractmethod
    def __iter__(self) -> Iterator[SVal]: ...

    @abstractmethod
    def __len__(self) -> int: ...

    @abstractmethod
    def dot(self, other: Any) -> SVal:
        """Scalar product."""

    def __getitem__(self, index: int) -> SVal:
        return tuple(self)[index]

    @property
    def bias(self) -> NDArray[Any]:
        """The constants, one for each component."""
        return np.array([component.bias for component in self])

    @property
    def dofs(self) -> frozenset[Hashable]:
        """Degrees of freedom with a coefficient."""
        return frozenset().union(*(component.dofs for component in self))

    def coefficient(self, dof: Hashable) -> NDArray[Any]:
        """The vector that multiplies one acceleration; of a spatial acceleration a partial velocity."""
        return np.array([component.coefficient(dof) for component in self])

    def row(self, size: int) -> NDArray[Any]:
        """Coefficients of degrees of freedom 0 … `size` - 1, a row for each component: a Jacobian."""
        return np.array([component.row(size) for component in self])

    def evaluate(self, udot: Any) -> NDArray[Any]:
        """The vector for given accelerations."""
        return np.array([component.evaluate(udot) for component in self])

    def __add__(self, other: Any) -> Self:
        return self._of([a + b for a, b in zip(self, self._vector(other), strict=True)])

    __radd__ = __add__

    def __sub__(self, other: Any) -> Self:
        return self._of([a - b for a, b in zip(self, self._vector(other), strict=True)])

    def __rsub__(self, other: Any) -> Self:
        return -(self - other)

    def __neg__(self) -> Self:
        return self._of([-component for component in self])

    def __mul__(self, other: Any) -> Self:
        if isinstance(other, SValVector):
            raise TypeError(f"{PRODUCT}. For {self._products}")
        if isinstance(other, (tuple, list, np.ndarray)) and np.shape(other):
            raise TypeError(VECTORS)
        factor = as_sval(other)
        return NotImplemented if factor is None else self._of([component * factor for component in self])

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> Self:
        if as_sval(other) is None:
            raise TypeError(f"a vector s-val is divided by a number, not by {other!r}")
        return self._of([component / other for component in self])

    def __rmatmul__(self, matrix: Any) -> Any:
        rows, size = np.asarray(matrix), len(self)
        if rows.shape == (size,):
            return self.dot(rows)
        if rows.shape != (size, size):
            raise ValueError(
                f"matrix @ {self._name}: the matrix has shape {rows.shape}, needs ({size}, {size}), or "
                f"({size},) for a dot product"
            )
        return self._of([self.dot(row) for row in rows])

    def __matmul__(self, other: Any) -> SVal:
        return self.dot(other)
