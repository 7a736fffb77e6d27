"""The quantities in a constraint's equations: symbols when they are traced, otherwise numbers."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

import cosim
from cosim_dynamics.sval import SVal, as_sval
from cosim_dynamics.sval_triple import SValTriple
from cosim_dynamics.symbol import SymbolGraph, cos, sin, sqrt
from cosim_dynamics.symbol_kernel import TIME
from cosim_dynamics.traced_part import TracedPart
from cosim_mechanics import contracts


@dataclass(frozen=True)
class Attached:
    """Stands for an attachment of a constraint while its equations are written."""

    name: str


class TracedConstraint(TracedPart):
    """Stands for `self` in ``create_constraint_equations``."""

    def __getattr__(self, name: str) -> Any:
        declaration = self._part.declarations.get(name)
        if declaration is not None and declaration.kind == "attachment":
            return Attached(name)
        return super().__getattr__(name)


class ConstraintEquations:
    """The `s` of ``create_constraint_equations(self, s)``: what a constraint's equations are made of.

    Vectors are in Ground, points in the frame of their body.

    Parameters
    ----------
    constraint : Constraint
    known : callable
        From the name and the element of what a kernel function of the constraint may ask for to a symbol or
        a number.
    unknown : callable
        From the name of an attachment and 0 … 5 (of a body: angular acceleration, then that of its origin)
        or 0 (of a coordinate) to an `SVal`.
    """

    def __init__(
        self,
        constraint: contracts.Constraint,
        known: Callable[[str, int], Any],
        unknown: Callable[[str, int], SVal],
    ) -> None:
        self._constraint, self._known, self._unknown = constraint, known, unknown
        self._where = f"{type(constraint).__name__}.create_constraint_equations"

    @property
    def time(self) -> Any:
        """Time, s."""
        return self._known(TIME, 0)

    def acceleration(self, coordinate: Any) -> SVal:
        """du/dt of a coordinate."""
        return self._unknown(self._name(coordinate, "coordinate"), 0)

    def coordinate(self, coordinate: Any) -> Any:
        """The coordinate q itself."""
        return self._offered(coordinate, "coordinate", "q")

    def speed(self, coordinate: Any) -> Any:
        """The speed u of a coordinate."""
        return self._offered(coordinate, "coordinate", "u")

    def source(self, source: Any, order: int = 0) -> Any:
        """A signal, or its time derivative of an order up to 3."""
        suffix = ("", "_dot", "_dot2", "_dot3")[order]
        return self._known(self._name(source, "source") + suffix, 0)

    def slot(self, name: str, first: int = 0, size: int = 1) -> Any:
        """`size` elements of a declared quantity, such as a cache slot, that kernel functions fill."""
        result = np.empty(size, dtype=object)
        result[:] = [self._known(name, first + i) for i in range(size)]
        return result if size > 1 else result[0]

    def angular_acceleration(self, body: Any) -> SValTriple:
        """Angular acceleration of a body."""
        name = self._name(body, "body")
        return SValTriple(*[self._unknown(name, i) for i in range(3)])

    def origin_acceleration(self, body: Any) -> SValTriple:
        """Acceleration of a body's origin."""
        name = self._name(body, "body")
        return SValTriple(*[self._unknown(name, 3 + i) for i in range(3)])

    def point_acceleration(self, body: Any, point: Any) -> SValTriple:
        """Acceleration of a point that is fixed on a body."""
        arm = self.rotation(body) @ _vector(point)
        w = self.angular_velocity(body)
        return (
            self.origin_acceleration(body)
            + self.angular_acceleration(body).cross(arm)
            + _cross(w, _cross(w, arm))
        )

    def rotation(self, body: Any) -> Any:
        """R_GB, shape (3, 3): the columns are the body's axes."""
        return self._array(body, "X_GB", 0, 9).reshape(3, 3)

    def origin(self, body: Any) -> Any:
        """Position of a body's origin, shape (3,), m."""
        return self._array(body, "X_GB", 9, 12)

    def angular_velocity(self, body: Any) -> Any:
        """Angular velocity of a body, shape (3,), rad/s."""
        return self._array(body, "V_GB", 0, 3)

    def position(self, body: Any, point: Any) -> Any:
        """Position of a point that is fixed on a body, shape (3,), m."""
        return self.origin(body) + self.rotation(body) @ _vector(point)

    def velocity(self, body: Any, point: Any) -> Any:
        """Velocity of a point that is fixed on a body, shape (3,), m/s."""
        arm = self.rotation(body) @ _vector(point)
        return self._array(body, "V_GB", 3, 6) + _cross(self.angular_velocity(body), arm)

    def cross(self, a: Any, b: Any) -> Any:
        """The product a x b of known vectors."""
        return _cross(a, b)

    sin = staticmethod(sin)
    cos = staticmethod(cos)
    sqrt = staticmethod(sqrt)

    def _array(self, body: Any, slot: str, first: int, last: int) -> Any:
        result = np.empty(last - first, dtype=object)
        for i in range(first, last):
            result[i - first] = self._offered(body, "body", slot, i)
        return result

    def _offered(self, attached: Any, kind: str, slot: str, i: int = 0) -> Any:
        return self._known(offered_name(slot, self._name(attached, kind), kind), i)

    def _name(self, attached: Any, kind: str) -> str:
        if not isinstance(attached, Attached):
            raise cosim.ContractError(
                f"{self._where}: {attached!r} is not a {kind} of the constraint: pass one that it declares, "
                f"such as self.{kind}1"
            )
        provides = self._constraint.declarations[attached.name].options["provides"]
        if provides != kind:
            raise cosim.ContractError(f"{self._where}: self.{attached.name} is a {provides}, needs a {kind}")
        return attached.name


def written_equations(
    constraint: contracts.Constraint, known: Callable[[str, int], Any], unknown: Callable[[str, int], SVal]
) -> list[SVal]:
    """The result of the constraint's ``create_constraint_equations``, as s-vals.

    Raises
    ------
    cosim.ContractError
        When it is not one s-val for each equation.
    """
    returned = type(constraint).create_constraint_equations(
        TracedConstraint(constraint, known),  # type: ignore[arg-type]
        ConstraintEquations(constraint, known, unknown),
    )
    where = f"{type(constraint).__name__}.create_constraint_equations"
    if not isinstance(returned, (list, tuple, SValTriple)) or len(returned) != constraint.equations:
        raise cosim.ContractError(
            f"{where}: returned {returned!r}, needs a list of {constraint.equations} s-vals: the number in "
            "`equations` of the class"
        )
    equations = []
    for i, value in enumerate(returned):
        equation = as_sval(value)
        if equation is None:
            raise cosim.ContractError(
                f"{where}: equation {i} is {value!r}, which contains no acceleration; build it from "
                "s.acceleration, s.point_acceleration and s.angular_acceleration"
            )
        equations.append(equation)
    return equations


@dataclass(frozen=True)
class TracedConstraintEquations:
    """The equations of a constraint, taken apart.

    Attributes
    ----------
    graph : SymbolGraph
    attachments : list of (str, int)
        Those whose accelerations may occur: name, and 6 for a body or 1 for a coordinate.
    results : list of (Symbol or float)
        Equation by equation the coefficients for each attachment; then the constants.
    """

    graph: SymbolGraph
    attachments: list[tuple[str, int]]
    results: list[Any]

    @property
    def width(self) -> int:
        """Number of coefficients of each equation."""
        return sum(size for _, size in self.attachments)


def trace_constraint(constraint: contracts.Constraint) -> TracedConstraintEquations:
    """Call ``create_constraint_equations`` with symbols and take the result apart.

    Raises
    ------
    cosim.ContractError
        When it is not one s-val for each equation, or an equation contains no acceleration.
    """
    graph = SymbolGraph()
    equations = written_equations(constraint, graph.slot, lambda name, i: SVal.acceleration((name, i)))
    for i, equation in enumerate(equations):
        if not equation.carries_accelerations:
            raise cosim.ContractError(
                f"{type(constraint).__name__}.create_constraint_equations: equation {i} is "
                f"{equation.bias!r}, which contains no acceleration; build it from s.acceleration, "
                "s.point_acceleration and s.angular_acceleration"
            )
    sizes = {"body": 6, "coordinate": 1}
    attachments = [
        (name, sizes[d.options["provides"]])
        for name, d in constraint.declarations.items()
        if d.kind == "attachment" and d.options["provides"] in sizes
    ]
    keys = [(name, i) for name, size in attachments for i in range(size)]
    results = [e.coefficient(key) for e in equations for key in keys] + [e.bias for e in equations]
    return TracedConstraintEquations(graph, attachments, results)


def offered_name(slot: str, attachment: str, kind: str) -> str:
    """The argument name of a slot that an attachment of a kind offers.

    >>> offered_name("X_GB", "body1", "body"), offered_name("q", "crank", "coordinate")
    ('X_GB1', 'q_crank')
    """
    return slot + (attachment[len(kind) :] if attachment.startswith(kind) else "_" + attachment)


def _vector(point: Any) -> Any:
    values = point if isinstance(point, np.ndarray) else np.array(point, dtype=object)
    if values.shape != (3,):
        raise cosim.ContractError(f"a point has three coordinates, not {point!r}")
    return values


def _cross(a: Any, b: Any) -> Any:
    result = np.empty(3, dtype=object)
    result[:] = [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]]
    return result
