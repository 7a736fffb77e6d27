"""A link of a connection whose ends are known."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_master.coupling.connection import Connection
from cosim_master.coupling.link import Link
from cosim_master.coupling.unit_match import conversion_of

End = tuple[str, ParticipantVariable]
Items = Sequence[tuple[str, int]]
KINDS: dict[str, type] = {"real": float, "integer": int, "boolean": bool, "clock": bool}
WIDENED = {("integer", "real"), ("boolean", "real"), ("boolean", "integer")}
"""Types of an output and of an input that go together without a map, though they differ."""
MAPPED = {("integer", "boolean")}
"""What needs a map to go together: not every integer is a boolean."""
BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


def make_link(
    descriptions: Mapping[str, ParticipantDescription], start: End, end: End, connection: Connection
) -> Link:
    """The link from one variable to another.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    start, end : tuple
        Participant and variable.
    connection : Connection
        Its transformation.

    Raises
    ------
    ValueError
        Types, items of enumerations or physical units do not go together.
    """
    (source, output), (target, read) = start, end
    names = f"{source}.{output.name}", f"{target}.{read.name}"
    kinds = (output.type, read.type)
    kind = KINDS.get(read.type, object)
    if output.type != read.type and kinds not in WIDENED and not (connection.mapping and kinds in MAPPED):
        hint = ", or a map says what each value becomes" if kinds in MAPPED else ""
        raise ValueError(
            f"{names[0]} is {output.type}, {names[1]} is {read.type}: the types have to agree{hint}"
        )
    transform, shift = connection.factor, connection.offset
    if (transform, shift) != (1.0, 0.0) and read.type != "real":
        raise ValueError(f"{names[1]} is {read.type}: only real inputs take a factor and an offset")
    items = [descriptions[name].enumerations.get(variable.name) for name, variable in (start, end)]
    if connection.mapping:
        table = _table(names, (output, read), items, connection.mapping)
        return Link(source, output.name, target, read.name, transform, shift, kind, table)
    if None not in items and items[0] != items[1]:
        said = [", ".join(f"{item} = {number}" for item, number in known or ()) for known in items]
        raise ValueError(
            f"{names[0]} is an enumeration of {said[0]}; {names[1]} of {said[1]}: they have to agree"
        )
    factor, offset = 1.0, 0.0
    if output.type == read.type == "real" and connection.converts:
        try:
            factor, offset = conversion_of(output.unit, descriptions[source], read.unit, descriptions[target])
        except cosim.UnitError as error:
            raise ValueError(
                f"{names[0]} [{output.unit}] cannot feed {names[1]} [{read.unit}]: {error}"
            ) from None
    scale = (factor, offset)
    if (transform, shift) != (1.0, 0.0):
        scale = (factor * transform, factor * shift + offset)
    return Link(source, output.name, target, read.name, *scale, kind)


def _table(
    names: tuple[str, str],
    variables: tuple[ParticipantVariable, ParticipantVariable],
    items: Sequence[Items | None],
    mapping: Sequence[tuple[Any, Any]],
) -> dict[Any, Any]:
    """What each value becomes, in the types of the two variables."""
    kinds = [variable.type for variable in variables]
    if kinds[0] not in ("boolean", "integer"):
        raise ValueError(f"{names[0]} is {kinds[0]}: only booleans, integers and enumerations are mapped")
    table = {
        _value(names[0], kinds[0], items[0], key): _value(names[1], kinds[1], items[1], value)
        for key, value in mapping
    }
    known = dict(items[1] or ()).values()
    wrong = next((value for value in table.values() if known and value not in known), None)
    if wrong is not None:
        raise ValueError(f"{wrong} is no item of {names[1]}, which has {', '.join(map(str, known))}")
    return table


def _value(name: str, kind: str, items: Items | None, given: Any) -> Any:
    """A value of a map as the variable has it."""
    text = str(given).strip()
    if kind == "boolean" and text.lower() in BOOLEANS:
        return BOOLEANS[text.lower()]
    if kind == "integer" and not isinstance(given, bool):
        known = dict(items or ())
        if text in known:
            return known[text]
        try:
            return int(text)
        except ValueError:
            if known:
                raise ValueError(str(cosim.LookUpError(f"item of {name}", text, known))) from None
    if kind == "real" and isinstance(given, (int, float)) and not isinstance(given, bool):
        return float(given)
    raise ValueError(f"{given!r} is no value of {name}, which is {kind}")
