"""A quantity that a component declares: its shape, its units, the names of its elements."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from cosim.component.class_line import class_line
from cosim.component.declaration import Declaration
from cosim.errors import ContractError, UnitError
from cosim.units import parse_unit
from cosim.value_text import quote

Shape = int | str | tuple[int | str, ...]


def axes_of(shape: Shape) -> tuple[int | str, ...]:
    """The axes of a shape; `ContractError` unless each is a number of elements or a name."""
    axes = shape if isinstance(shape, tuple) else (shape,)
    for axis in axes:
        is_name = isinstance(axis, str) and axis.partition("+")[0].isidentifier()
        is_number = isinstance(axis, int) and not isinstance(axis, bool) and axis >= 0
        if not is_name and not is_number:
            raise ContractError(
                f"{class_line()}: shape is {quote(shape)}, "
                "needs numbers of elements, or names: 3, (2, 2), 'order'"
            )
    return axes


def shape_of(shape: Shape) -> tuple[int, ...]:
    """The number of elements of each axis; 0 for one that has a name instead."""
    return tuple(0 if isinstance(axis, str) else axis for axis in axes_of(shape))


def free_length(shape: Shape) -> tuple[str, ...]:
    """The name of each axis, empty for one of a fixed length; no names at all where all are fixed."""
    axes = axes_of(shape)
    if not any(isinstance(axis, str) for axis in axes):
        return ()
    return tuple(axis if isinstance(axis, str) else "" for axis in axes)


def units_of(unit: str | Sequence[str] | None, shape: Shape = ()) -> tuple[str, ...]:
    """One unit, or one for each element; `ContractError` names the line of the class that gives them."""
    if unit is None or (isinstance(unit, str) and "{" in unit):
        return ("1",)
    if not isinstance(unit, (str, list, tuple)):
        meant = f"; a default is given by name: default={unit!r}" if isinstance(unit, (int, float)) else ""
        raise ContractError(
            f"{class_line()}: unit is {quote(unit)}, needs text, 'N/m', or a list of texts{meant}"
        )
    units = (unit,) if isinstance(unit, str) else tuple(unit)
    size = math.prod(shape_of(shape))
    if len(units) not in (1, size):
        raise ContractError(f"{class_line()}: {len(units)} units for {size} elements: give one, or {size}")
    for text in units:
        try:
            parse_unit(text)
        except (UnitError, AttributeError, TypeError) as error:
            raise ContractError(f"{class_line()}: {error}") from error
    return units


def unit_rule(unit: str | Sequence[str] | None) -> str | None:
    """The rule by which a unit is inferred; "" for a unit that is not declared, None for a declared one."""
    if unit is None:
        return ""
    return unit if isinstance(unit, str) and "{" in unit else None


def element_names(elements: Sequence[str], shape: Shape) -> tuple[str, ...]:
    """The names of the elements; `ContractError` unless there is one for each."""
    if len(elements) not in (0, math.prod(shape_of(shape))):
        size = math.prod(shape_of(shape))
        raise ContractError(f"{class_line()}: {len(elements)} names of elements for {size} elements")
    return tuple(elements)


def checked_nominal(nominal: float | None) -> float | None:
    """A usual magnitude; `ContractError` unless it is a finite number greater than 0."""
    if nominal is None:
        return None
    if isinstance(nominal, bool) or not isinstance(nominal, (int, float)) or not 0.0 < nominal < math.inf:
        raise ContractError(f"nominal is {quote(nominal)}, needs a finite number greater than 0")
    return float(nominal)


def declare_quantity(
    kind: str,
    unit: str | Sequence[str] | None,
    shape: Shape,
    start: Any = None,
    *,
    elements: Sequence[str] = (),
    nominal: float | None = None,
    infers_unit: bool = True,
    **more: Any,
) -> Declaration:
    """A quantity with a unit and a shape; with `infers_unit` its unit may follow from other quantities."""
    return Declaration(
        kind,
        shape=shape_of(shape),
        units=units_of(unit, shape),
        start=start,
        free_length=free_length(shape),
        unit_rule=unit_rule(unit) if infers_unit else None,
        elements=element_names(elements, shape),
        nominal=checked_nominal(nominal),
        **more,
    )
