"""A joint's own torque equations, traced once and checked."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import cosim
from cosim_dynamics.spatial_sval import SpatialSVal
from cosim_dynamics.sval import SVal, as_sval
from cosim_dynamics.symbol import Symbol, SymbolGraph
from cosim_dynamics.traced_part import TracedPart, part_of
from cosim_mechanics import contracts


@dataclass(frozen=True)
class JointEquations:
    """The equations of a joint, and the force that it transmits.

    Attributes
    ----------
    coefficients : list of list of (Symbol or float), nu by nu
        Of the joint's own accelerations, symmetric.
    constants : list of (Symbol or float), nu
        Everything else, with ``-tau``.
    """

    coefficients: list[list[Any]]
    constants: list[Any]

    @property
    def results(self) -> list[Any]:
        """Coefficients row by row, then the constants."""
        return [*(value for row in self.coefficients for value in row), *self.constants]


class EquationWriter:
    """The `s` of ``create_equations(self, s)``: what a joint's equations are made of.

    Parameters
    ----------
    joint : Joint
        The equations that are written belong to it; nothing of other joints is visible.
    wrench : sequence of six SVal
    acceleration : callable
        From the index of a speed of the joint to its acceleration, an `SVal`.
    value : callable
        From the name and the element of a declared quantity to a symbol or a number.
    """

    def __init__(
        self,
        joint: contracts.Joint,
        wrench: Any,
        acceleration: Callable[[int], SVal],
        value: Callable[[str, int], Any],
    ) -> None:
        self._joint, self._wrench, self._acceleration, self._value = joint, wrench, acceleration, value
        self._where = f"{type(joint).__name__}.create_equations"

    def wrench(self, joint: Any) -> SpatialSVal:
        """The spatial force that the joint transmits from parent to child, moment first.

        About M's origin, expressed in F. It holds the inertia of everything that hangs on the joint and the
        forces on that.
        """
        self._check(joint, "wrench")
        return SpatialSVal(self._wrench[:3], self._wrench[3:])

    def acceleration(self, joint: Any, i: int = 0) -> SVal:
        """du_i/dt of the joint as an s-val."""
        self._check(joint, "acceleration")
        if not 0 <= i < self._joint.nu:
            raise cosim.ContractError(
                f"{self._where}: s.acceleration(self, {i}): the joint has {self._joint.nu} speeds"
            )
        return self._acceleration(i)

    def value(self, name: str, i: int = 0) -> Any:
        """Element `i` of a declared quantity of the joint (a parameter, ``q``, ``u``, ``H_FM`` …)."""
        declarations = self._joint.declarations
        if name not in declarations:
            raise cosim.LookUpError(
                "declared quantity",
                name,
                declarations,
                f"It is read by {self._where}.",
            )
        if not 0 <= i < declarations[name].size:
            raise cosim.ContractError(
                f"{self._where}: s.value('{name}', {i}): {name} has {declarations[name].size} elements"
            )
        return self._value(name, i)

    def _check(self, joint: Any, name: str) -> None:
        if part_of(joint) is not self._joint:
            raise cosim.ContractError(
                f"{self._where}: s.{name}(…) takes the joint itself: a joint's equation holds "
                "its own accelerations; what couples joints is a force element or a constraint"
            )


def has_own_equations(joint: contracts.Joint) -> bool:
    """Whether the class of the joint brings equations of its own."""
    return type(joint).create_equations is not contracts.Joint.create_equations


def own_equations(
    joint: contracts.Joint,
    equations: EquationWriter,
    look_up: Callable[[str, int], Any],
    has_rotors: bool = True,
) -> list[SVal]:
    """The result of the joint's ``create_equations``, as s-vals; `look_up` gives ``self.<name>``.

    With `has_rotors` the inertias that force elements add are in it.

    Raises
    ------
    cosim.ContractError
        When it is not one s-val for each speed.
    """
    returned = type(joint).create_equations(TracedPart(joint, look_up), equations)  # type: ignore[arg-type]
    where = f"{type(joint).__name__}.create_equations"
    if not isinstance(returned, (list, tuple)) or len(returned) != joint.nu:
        raise cosim.ContractError(
            f"{where}: returned {returned!r}, needs a list of {joint.nu} s-vals, one for each speed"
        )
    svals = []
    for i, value in enumerate(returned):
        equation = as_sval(value)
        if equation is None:
            raise cosim.ContractError(f"{where}: equation {i} is a {type(value).__name__}, needs an s-val")
        svals.append(equation)
    if not has_rotors:
        return svals
    return [
        equation + look_up("added_inertia", i) * equations.acceleration(joint, i)
        for i, equation in enumerate(svals)
    ]


def trace(joint: contracts.Joint, has_rotors: bool) -> tuple[SymbolGraph, JointEquations]:
    """Call a joint's ``create_equations`` with symbols and take the result apart.

    Parameters
    ----------
    joint : Joint
    has_rotors : bool
        Whether force elements add inertias to its coordinates.

    Raises
    ------
    cosim.ContractError
        With the reason, when the mass matrix would not stay symmetric.
    """
    graph = SymbolGraph()
    wrench = [SVal(0.0, {("wrench", k): 1.0}) for k in range(6)]
    symbols = EquationWriter(joint, wrench, SVal.acceleration, graph.slot)
    equations = own_equations(joint, symbols, graph.slot, has_rotors)
    where = f"{type(joint).__name__}.create_equations"
    for i, equation in enumerate(equations):
        for k in range(6):
            factor = equation.coefficient(("wrench", k))
            if factor is not graph.slot("H_FM", 6 * i + k):
                raise cosim.ContractError(
                    f"{where}: equation {i} has {factor!r} times wrench[{k}], needs H_FM[{6 * i + k}]: with "
                    "another factor the mass matrix would not be symmetric and the joint would make or lose "
                    "energy. Start from super().create_equations(s) and add the joint's own terms"
                )
    coefficients = [[equation.coefficient(j) for j in range(joint.nu)] for equation in equations]
    for i in range(joint.nu):
        for j in range(i):
            if not _same(coefficients[i][j], coefficients[j][i]):
                raise cosim.ContractError(
                    f"{where}: equation {i} has {coefficients[i][j]!r} times acceleration {j}, equation {j} "
                    f"has {coefficients[j][i]!r} times acceleration {i}: these two must be the same "
                    "expression, otherwise the mass matrix is not symmetric"
                )
    return graph, JointEquations(coefficients, [equation.bias for equation in equations])


def _same(a: Any, b: Any) -> bool:
    return a is b or (not isinstance(a, Symbol) and not isinstance(b, Symbol) and a == b)
