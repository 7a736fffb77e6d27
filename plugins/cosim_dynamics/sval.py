"""S-vals: quantities that are linear in the accelerations."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Hashable, Mapping
from typing import Any, NoReturn, Self

import numpy as np
from numpy.typing import NDArray

from cosim_dynamics.symbol import Symbol

PRODUCT = (
    "product of two s-vals that both carry accelerations: the equations of motion are linear in the "
    "accelerations, so one factor must be free of them (a number, a parameter, a position or a speed). "
    "If a centripetal or Coriolis term is meant, build it from speeds: s.value('u', i)"
)
NO_VALUE = (
    "an s-val has no value that could be compared, branched on or turned into a number: its accelerations "
    "are not known when the equation is written. Write it without a branch, or ask for its `bias`"
)
SHAPES = (
    "a scalar s-val and a vector have no sum: take one component of the vector, or make a triple of s-vals"
)
POWER = "power of an s-val: the equations of motion are linear in the accelerations; s-vals have + - * / @"
VECTORS = "product of a vector s-val and a vector: write s.dot(b) or s.cross(b), or multiply by a number"
QUOTIENT = (
    "division by an s-val that carries accelerations: the equations of motion are linear in the "
    "accelerations, so divide by a number, a parameter, a position or a speed"
)


class Linear:
    """Base of what is linear in the accelerations.

    An equation is written once, so it cannot ask such a quantity for its value, its sign or its size.
    """

    __slots__ = ()
    __array_ufunc__ = None  # NumPy then leaves `array * s` to the s-val

    @property
    @abstractmethod
    def dofs(self) -> frozenset[Hashable]:
        """Degrees of freedom with a coefficient."""

    @property
    def carries_accelerations(self) -> bool:
        """Whether any coefficient is there."""
        return bool(self.dofs)

    def __pos__(self) -> Self:
        return self

    def __pow__(self, exponent: Any) -> Any:
        raise TypeError(POWER)

    __rpow__ = __pow__

    def _no_value(self, *others: object) -> NoReturn:
        raise TypeError(NO_VALUE)

    __bool__ = __float__ = __int__ = __abs__ = __lt__ = __le__ = __gt__ = __ge__ = _no_value
    __eq__ = __ne__ = _no_value
    __hash__ = object.__hash__


class SVal(Linear):
    """A scalar s-val ("separated value"): a sum of accelerations with coefficients, and a constant.

    Law: s = sum_i c_i a_i + b, with a_i the acceleration of degree of freedom i. The coefficients and the
    constant stay apart through every operation, so a torque written with s-vals *is* its row of the mass
    matrix (the coefficients) and its velocity terms (the constant).

    Limits
    ------
    Only operations that keep the sum linear exist: +, -, * and / by a number.

    Parameters
    ----------
    constant : float or Symbol
        b
    coefficients : mapping, optional
        c_i by degree of freedom; those that are absent are zero.

    Raises
    ------
    TypeError
        For a product of two s-vals that both carry accelerations, or a division by one.

    References
    ----------
    Darwin2K's ``svAtom`` and its descendants: T = M acc + V.

    Examples
    --------
    >>> a0, a1 = SVal.acceleration(0), SVal.acceleration(1)
    >>> torque = 2.0 * a0 - a1 / 4.0 + 3.0
    >>> torque.row(3).tolist(), torque.bias
    ([2.0, -0.25, 0.0], 3.0)
    >>> torque.evaluate([1.0, 4.0, 0.0])
    4.0
    >>> a0 * a1
    Traceback (most recent call last):
        ...
    TypeError: product of two s-vals that both carry accelerations: the equations of motion are linear in ...
    """

    __slots__ = ("_coefficients", "_constant")

    def __init__(self, constant: Any = 0.0, coefficients: Mapping[Hashable, Any] | None = None) -> None:
        self._constant = constant
        self._coefficients = {
            dof: value for dof, value in (coefficients or {}).items() if not _is_zero(value)
        }

    @classmethod
    def acceleration(cls, dof: Hashable) -> SVal:
        """The acceleration of one degree of freedom."""
        return cls(0.0, {dof: 1.0})

    @property
    def bias(self) -> Any:
        """The constant: everything that does not depend on accelerations."""
        return self._constant

    @property
    def dofs(self) -> frozenset[Hashable]:
        """Degrees of freedom with a coefficient."""
        return frozenset(self._coefficients)

    def coefficient(self, dof: Hashable) -> Any:
        """The factor of one acceleration; 0.0 where there is none."""
        return self._coefficients.get(dof, 0.0)

    def row(self, size: int) -> NDArray[Any]:
        """Coefficients of degrees of freedom 0 … `size` - 1, shape (size,).

        Raises
        ------
        IndexError
            When a coefficient belongs to none of these.
        """
        outside = [dof for dof in self._coefficients if not (isinstance(dof, int) and 0 <= dof < size)]
        if outside:
            raise IndexError(f"coefficients of {outside} do not fit into a row of {size} degrees of freedom")
        values = [self.coefficient(i) for i in range(size)]
        symbolic = any(isinstance(value, Symbol) for value in values)
        return np.array(values, dtype=object if symbolic else float)

    def evaluate(self, udot: Any) -> Any:
        """The value for given accelerations, an array or a mapping by degree of freedom."""
        return self._constant + sum(value * udot[dof] for dof, value in self._coefficients.items())

    def __add__(self, other: Any) -> SVal:
        if isinstance(other, np.ndarray) and other.shape:
            raise TypeError(SHAPES)
        term = as_sval(other)
        if term is None:
            return NotImplemented
        coefficients = dict(self._coefficients)
        for dof, value in term._coefficients.items():
            coefficients[dof] = coefficients[dof] + value if dof in coefficients else value
        return SVal(self._constant + term._constant, coefficients)

    __radd__ = __add__

    def __neg__(self) -> SVal:
        return SVal(-self._constant, {dof: -value for dof, value in self._coefficients.items()})

    def __sub__(self, other: Any) -> SVal:
        term = as_sval(other)
        if isinstance(other, np.ndarray) and other.shape:
            raise TypeError(SHAPES)
        return NotImplemented if term is None else self + (-term)

    def __rsub__(self, other: Any) -> SVal:
        return -self + other

    def __mul__(self, other: Any) -> Any:
        from cosim_dynamics.sval_triple import SValTriple

        if isinstance(other, SValTriple):
            return NotImplemented
        if _is_vector(other):
            return SValTriple(*[self * component for component in other])
        factor = as_sval(other)
        if factor is None:
            return NotImplemented
        if factor.carries_accelerations and self.carries_accelerations:
            raise TypeError(PRODUCT)
        if factor.carries_accelerations:
            return factor._scaled(self._constant)
        return self._scaled(factor._constant)

    __rmul__ = __mul__

    def __truediv__(self, other: Any) -> SVal:
        divisor = as_sval(other)
        if divisor is None:
            return NotImplemented
        if divisor.carries_accelerations:
            raise TypeError(QUOTIENT)
        number = divisor._constant
        return SVal(
            self._constant / number, {dof: value / number for dof, value in self._coefficients.items()}
        )

    def __rtruediv__(self, other: Any) -> SVal:
        dividend = as_sval(other)
        return NotImplemented if dividend is None else dividend / self

    def __pow__(self, exponent: Any) -> Any:
        raise TypeError(PRODUCT)

    def __repr__(self) -> str:
        terms = [f"{value!r}*a[{dof!r}]" for dof, value in self._coefficients.items()]
        return f"SVal({' + '.join([*terms, repr(self._constant)])})"

    def _scaled(self, factor: Any) -> SVal:
        return SVal(
            self._constant * factor, {dof: value * factor for dof, value in self._coefficients.items()}
        )


def _is_zero(value: Any) -> bool:
    return not isinstance(value, Symbol) and value == 0.0


def _is_vector(value: Any) -> bool:
    return isinstance(value, (tuple, list, np.ndarray)) and np.shape(value) == (3,)


def as_sval(value: Any) -> SVal | None:
    """Numbers and symbols as s-vals without accelerations; None for what is not a scalar."""
    if isinstance(value, SVal):
        return value
    if isinstance(value, np.ndarray) and value.shape == ():
        value = value.item()
    return SVal(value) if isinstance(value, (int, float, np.floating, np.integer, Symbol)) else None
