"""What becomes of a value on its way through connectors: units, then transformations."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.coupling.unit_match import definition_of, scale_between
from cosim_ssp.structure import Transformation, Unit

BOOLEANS = {"true": 1, "false": 0}
WHOLE = ("boolean", "integer")
"""Types of variables that are mapped: false is 0, true is 1, an item of an enumeration its number."""
Items = Mapping[str, int]


@dataclass(frozen=True)
class Leg:
    """A part of a way.

    Attributes
    ----------
    unit : Unit or None
        At its end; None leaves the unit that came.
    items : mapping of str to int
        Of the enumeration at its end; empty when there is none.
    suppresses_units : bool
    transformation : Transformation or None
    place : str
    """

    unit: Unit | None
    items: Items
    suppresses_units: bool
    transformation: Transformation | None
    place: str


@dataclass(frozen=True)
class Way:
    """What a value becomes along some legs: what the table says, then ``factor * value + offset``.

    Attributes
    ----------
    factor, offset : float
        In the unit at the end.
    table : mapping of int to int
        Of whole numbers; those that it does not name stay as they are.
    """

    factor: float = 1.0
    offset: float = 0.0
    table: Mapping[int, int] = field(default_factory=dict)

    @property
    def is_linear(self) -> bool:
        """Whether numbers are scaled or shifted."""
        return (self.factor, self.offset) != (1.0, 0.0)


def unit_of(description: ParticipantDescription, variable: str) -> Unit | None:
    """The unit of a variable of a component, or of an array; None when there is none."""
    name = _first(description, variable)
    if name is None:
        return None
    unit = description.variables[name].unit
    definition = definition_of(unit, description)
    return None if definition is None else Unit(unit, definition)


def items_of(description: ParticipantDescription, variable: str) -> Items:
    """The items of the enumeration of a variable of a component, or of an array."""
    name = _first(description, variable)
    return {} if name is None else dict(description.enumerations.get(name, ()))


def way_along(legs: Sequence[Leg], kinds: tuple[str, str], unit: Unit | None, items: Items) -> Way:
    """What becomes of values along the legs.

    Parameters
    ----------
    legs : sequence of Leg
    kinds : tuple of str
        Types of the variables at both ends: "real", "integer", "boolean" …
    unit : Unit or None
        At the beginning; None takes that at the end of the first leg.
    items : mapping of str to int
        Of the enumeration at the beginning.

    Raises
    ------
    ValueError
        With the place of the leg whose units do not go together, or whose transformation does not go with
        the values there.
    """
    factor, offset, table = 1.0, 0.0, dict[int, int]()
    for leg in legs:
        if kinds[1] == "real" and leg.unit is not None and unit is not None and not leg.suppresses_units:
            try:
                scale, shift = scale_between(unit.name, unit.definition, leg.unit.name, leg.unit.definition)
            except cosim.UnitError as error:
                hint = 'mend the units, or say suppressUnitConversion="true"'
                raise ValueError(f"{leg.place}: {error}: {hint}") from None
            factor, offset = scale * factor, scale * offset + shift
        unit = leg.unit if leg.unit is not None else unit
        change = leg.transformation
        if change is not None and change.entries:
            if kinds[0] not in WHOLE or (factor, offset) != (1.0, 0.0):
                refused = f"{kinds[0]} values" if kinds[0] not in WHOLE else "values that were scaled before"
                raise ValueError(
                    f"{leg.place}: {refused} cannot be mapped: only booleans, integers and enumerations can"
                )
            entries = {
                _number(source, items, change.names_items, leg): _number(
                    target, leg.items or items, change.names_items, leg
                )
                for source, target in change.entries
            }
            table = {**entries, **{source: entries.get(value, value) for source, value in table.items()}}
        elif change is not None:
            if kinds[1] != "real" and (change.factor, change.offset) != (1.0, 0.0):
                raise ValueError(f"{leg.place}: a linear transformation goes with real values alone")
            factor, offset = change.factor * factor, change.factor * offset + change.offset
        items = leg.items or items
    return Way(factor, offset, table)


def _first(description: ParticipantDescription, variable: str) -> str | None:
    """The first scalar of a variable; None when there is none of that name."""
    first = description.arrays.get(variable, ((), (variable,)))[1][:1]
    return first[0] if first and first[0] in description.variables else None


def _number(text: str, items: Items, names_items: bool, leg: Leg) -> int:
    """The number of an entry of a mapping; files in use name items in tables of integers, too."""
    numbers = {**BOOLEANS, **items}
    if names_items and text in numbers:
        return numbers[text]
    try:
        return int(text)
    except ValueError:
        if text in numbers:
            return numbers[text]
    raise ValueError(f"{leg.place}: " + str(cosim.LookUpError("value to map", text, numbers)))
