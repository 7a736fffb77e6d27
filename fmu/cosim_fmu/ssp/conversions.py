"""What becomes of a value on its way through connectors: units, then transformations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import cosim
from cosim.kit import ParticipantDescription
from cosim_fmu.master.wiring.unit_match import definition_of, scale_between
from cosim_fmu.ssp.structure import Transformation, Unit

BOOLEANS = {"true": True, "1": True, "false": False, "0": False}


@dataclass(frozen=True)
class Leg:
    """A part of a way.

    Attributes
    ----------
    unit : Unit or None
        At its end; None leaves the unit that came.
    suppresses_units : bool
    transformation : Transformation or None
    place : str
    """

    unit: Unit | None
    suppresses_units: bool
    transformation: Transformation | None
    place: str


def unit_of(description: ParticipantDescription, variable: str) -> Unit | None:
    """The unit of a variable of a component, or of an array; None when there is none."""
    first = description.arrays.get(variable, ((), (variable,)))[1][:1]
    if not first or first[0] not in description.variables:
        return None
    name = description.variables[first[0]].unit
    definition = definition_of(name, description)
    return None if definition is None else Unit(name, definition)


def scale_along(unit: Unit | None, legs: Sequence[Leg]) -> tuple[float, float]:
    """Factor and offset of real values from a unit along the legs, in the unit at their end.

    Raises
    ------
    ValueError
        With the place of the leg whose units do not go together.
    """
    factor, offset = 1.0, 0.0
    for leg in legs:
        if leg.unit is not None and unit is not None and not leg.suppresses_units:
            try:
                more, shift = scale_between(unit.name, unit.definition, leg.unit.name, leg.unit.definition)
            except cosim.UnitError as error:
                hint = 'mend the units, or say suppressUnitConversion="true"'
                raise ValueError(f"{leg.place}: {error}: {hint}") from None
            factor, offset = more * factor, more * offset + shift
        unit = leg.unit if leg.unit is not None else unit
        change = leg.transformation
        if change is not None and not change.entries:
            factor, offset = change.factor * factor, change.factor * offset + change.offset
    return factor, offset


def map_along(kind: str, legs: Sequence[Leg], items: Mapping[str, int] | None) -> dict[Any, Any]:
    """What values of booleans, integers and enumerations become along the legs.

    Parameters
    ----------
    kind : str
        "boolean" or "integer".
    legs : sequence of Leg
    items : mapping of str to int or None
        Of the enumerations on the way, for entries that name them.

    Raises
    ------
    ValueError
        With the place of an entry that names no value.
    """
    table: dict[Any, Any] = {}
    for leg in legs:
        change = leg.transformation
        if change is None or not change.entries:
            if change is not None and (change.factor, change.offset) != (1.0, 0.0):
                raise ValueError(f"{leg.place}: a linear transformation goes with real values alone")
            continue
        own = {_entry(kind, s, items, leg): _entry(kind, t, items, leg) for s, t in change.entries}
        table = {**own, **{source: own.get(value, value) for source, value in table.items()}}
    return table


def _entry(kind: str, text: str, items: Mapping[str, int] | None, leg: Leg) -> Any:
    known = BOOLEANS if kind == "boolean" else items or {}
    if text in known:
        return known[text]
    try:
        if kind == "integer":
            return int(text)
    except ValueError:
        pass
    raise ValueError(f"{leg.place}: " + str(cosim.LookUpError(f"{kind} value", text, known)))
