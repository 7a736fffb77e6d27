"""Links from connections, which are checked before anything is instantiated: all faults at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, NamedTuple

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_master.coupling.connection import Connection
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.coupling.link import Link
from cosim_master.coupling.ports import Descriptions, find_port
from cosim_master.coupling.unit_conversion import conversion_of

PYTHON_TYPES: dict[str, type] = {"real": float, "integer": int, "boolean": bool, "clock": bool}
WIDENED = {("integer", "real"), ("boolean", "real"), ("boolean", "integer")}
"""Different types of an output and of an input that can be connected without a map."""
MAPPED = {("integer", "boolean")}
"""Types that need a map, since not every integer is a boolean."""
BOOLEANS = {"true": True, "false": False, "1": True, "0": False}


def check_connections(
    descriptions: Descriptions, unknown: Sequence[str], connections: Sequence[Any]
) -> tuple[list[Link], list[WiringProblem]]:
    """The links of the sound connections, and the problems of the others.

    It checks existence (with the closest name), causality, type, items of enumerations, physical unit,
    shape, and that every input has one source. A parameter may feed a parameter. An output may
    feed many inputs; an array feeds an array of the same shape, element by element.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    unknown : sequence of str
        Participants whose description could not be read: their variables are not checked.
    connections : sequence
        Each one in a form that `Connection.of` reads.
    """
    if isinstance(connections, str) or not isinstance(connections, Iterable):
        needs = 'needs a list: ["plant.felt -> controller.speed"]'
        return [], [problem(("connections",), f"is {connections!r}, {needs}")]
    links: list[Link] = []
    problems: list[WiringProblem] = []
    fed_by: dict[str, int] = {}  # the connection that feeds an input
    for i, text_or_table in enumerate(connections):
        try:
            parts = _single_connections(descriptions, Connection.of(text_or_table))
        except ValueError as error:
            problems.append(problem(("connections", i), str(error)))
            continue
        for part in parts:
            link, faults = _check_connection(descriptions, unknown, part)
            if part.end in fed_by:
                first = f"connections[{fed_by[part.end]}]"
                faults.append(
                    _Fault("to", f"{part.end} has a source already, {first}: an input has one source")
                )
            fed_by.setdefault(part.end, i)
            problems += [problem(("connections", i, *fault.keys), fault.text) for fault in faults]
            if link is not None:
                links.append(link)
    return links, problems


class _Fault(NamedTuple):
    """A fault of a connection.

    Attributes
    ----------
    key : str
        The faulty end, "from" or "to"; "" for the connection as a whole.
    text : str
    """

    key: str
    text: str

    @property
    def keys(self) -> tuple[str, ...]:
        return (self.key,) if self.key else ()


def _single_connections(descriptions: Descriptions, connection: Connection) -> list[Connection]:
    """The connections of single variables that a bus or a connection of arrays stands for."""
    if connection.is_bus:
        return connection.expanded(_readable_paths(descriptions), _input_paths(descriptions))
    return _elements(descriptions, connection)


def _check_connection(
    descriptions: Descriptions, unknown: Sequence[str], connection: Connection
) -> tuple[Link | None, list[_Fault]]:
    """The link of a connection of single variables, None for a faulty one, and the faults."""
    start, end, faults = _find_ends(descriptions, unknown, connection)
    if start is None or end is None:
        return None, faults
    try:
        return make_link(start, end, connection), faults
    except (ValueError, cosim.UnitError) as error:
        return None, [*faults, _Fault("", str(error))]


def _find_ends(
    descriptions: Descriptions, unknown: Sequence[str], connection: Connection
) -> tuple[_End | None, _End | None, list[_Fault]]:
    """The ends of a connection, None for a faulty one, and their faults."""
    is_of_parameter = _is_parameter(descriptions, connection.end)
    start_role, end_role = ("calculated", "parameter") if is_of_parameter else ("output", "input")
    if connection.reads_any:
        start_role = ""
    ends, faults = list[_End | None](), list[_Fault]()
    for key, path, role in (("from", connection.start, start_role), ("to", connection.end, end_role)):
        variable, fault = find_port(descriptions, unknown, path, role)
        participant = path.partition(".")[0]
        ends.append(None if variable is None else _End(participant, variable, descriptions[participant]))
        if fault:
            faults.append(_Fault(key, fault))
    start, end = ends
    return start, end, faults


def _is_parameter(descriptions: Descriptions, path: str) -> bool:
    name, _, variable = path.partition(".")
    variables = descriptions[name].variables if name in descriptions else {}
    return variable in variables and variables[variable].causality == "parameter"


def _elements(descriptions: Descriptions, connection: Connection) -> list[Connection]:
    """A connection of whole arrays as those of their elements, row by row."""
    shapes, names = [], []
    for path in (connection.start, connection.end):
        name, _, variable = path.partition(".")
        arrays = descriptions[name].arrays if name in descriptions else {}
        shape, elements = arrays.get(variable, ((), (variable,)))
        shapes.append(shape)
        names.append([f"{name}.{element}" for element in elements])
    if shapes == [(), ()]:
        return [connection]
    if len(names[0]) == len(names[1]) == 1:  # an array of one element goes with a scalar
        return [replace(connection, start=names[0][0], end=names[1][0])]
    if shapes[0] != shapes[1]:
        start, end = (
            f"{path} is {'×'.join(map(str, shape)) if shape else 'a scalar'}"
            for path, shape in zip((connection.start, connection.end), shapes, strict=True)
        )
        raise ValueError(f"{start}, {end}: the shapes have to agree")
    return [replace(connection, start=start, end=end) for start, end in zip(*names, strict=True)]


def _readable_paths(descriptions: Descriptions) -> list[str]:
    """The paths of all variables at which a connection can start."""
    return [
        f"{participant}.{name}"
        for participant, description in descriptions.items()
        for name, variable in description.variables.items()
        if variable.causality == "output" or name in description.readable
    ]


def _input_paths(descriptions: Descriptions) -> list[str]:
    """The paths of all inputs."""
    return [
        f"{participant}.{name}"
        for participant, description in descriptions.items()
        for name, variable in description.variables.items()
        if variable.causality == "input"
    ]


class _End(NamedTuple):
    """One end of a connection: a variable of a participant."""

    participant: str
    variable: ParticipantVariable
    description: ParticipantDescription

    @property
    def path(self) -> str:
        return f"{self.participant}.{self.variable.name}"

    @property
    def items(self) -> dict[str, int]:
        """The items of its enumeration; empty for a variable of another type."""
        return dict(self.description.enumerations.get(self.variable.name, ()))


def make_link(start: _End, end: _End, connection: Connection) -> Link:
    """The link from one variable to another.

    Raises
    ------
    ValueError
        Types, items of enumerations or physical units do not go together.
    """
    output, input = start.variable, end.variable
    types = (output.type, input.type)
    kind = PYTHON_TYPES.get(input.type, object)
    if output.type != input.type and types not in WIDENED and not (connection.mapping and types in MAPPED):
        hint = ", or a map says what each value becomes" if types in MAPPED else ""
        raise ValueError(
            f"{start.path} is {output.type}, {end.path} is {input.type}: the types have to agree{hint}"
        )
    is_scaled = (connection.factor, connection.offset) != (1.0, 0.0)
    if is_scaled and input.type != "real":
        raise ValueError(f"{end.path} is {input.type}: only real inputs take a factor and an offset")
    link = Link(start.participant, output.name, end.participant, input.name, kind=kind)
    if connection.mapping:
        table = _mapping_table(start, end, connection.mapping)
        return replace(link, factor=connection.factor, offset=connection.offset, table=table)
    if start.items and end.items and start.items != end.items:
        start_items, end_items = (
            ", ".join(f"{item} = {number}" for item, number in port.items.items()) for port in (start, end)
        )
        raise ValueError(
            f"{start.path} is an enumeration of {start_items}; {end.path} of {end_items}: they have to agree"
        )
    factor, offset = _unit_conversion(start, end) if connection.converts else (1.0, 0.0)
    if is_scaled:
        factor, offset = factor * connection.factor, factor * connection.offset + offset
    return replace(link, factor=factor, offset=offset)


def _unit_conversion(start: _End, end: _End) -> tuple[float, float]:
    """Factor and offset between the units of two real variables; 1 and 0 between others."""
    output, input = start.variable, end.variable
    if output.type != "real" or input.type != "real":
        return 1.0, 0.0
    try:
        return conversion_of(output.unit, start.description, input.unit, end.description)
    except cosim.UnitError as error:
        raise ValueError(
            f"{start.path} [{output.unit}] cannot feed {end.path} [{input.unit}]: {error}"
        ) from None


def _mapping_table(start: _End, end: _End, mapping: Sequence[tuple[Any, Any]]) -> dict[Any, Any]:
    """The pairs of a map in the types of the two variables."""
    if start.variable.type not in ("boolean", "integer"):
        raise ValueError(
            f"{start.path} is {start.variable.type}: only booleans, integers and enumerations are mapped"
        )
    table = {_mapped_value(start, key): _mapped_value(end, value) for key, value in mapping}
    allowed = end.items.values()
    wrong = next((value for value in table.values() if allowed and value not in allowed), None)
    if wrong is not None:
        raise ValueError(f"{wrong} is not an item of {end.path}, which has {', '.join(map(str, allowed))}")
    return table


def _mapped_value(port: _End, written: Any) -> Any:
    """A value of a map, as a user writes it, in the type of the variable."""
    kind, items = port.variable.type, port.items
    text = str(written).strip()
    if kind == "boolean" and text.lower() in BOOLEANS:
        return BOOLEANS[text.lower()]
    if kind == "integer" and not isinstance(written, bool):
        if text in items:
            return items[text]
        try:
            return int(text)
        except ValueError:
            if items:
                raise ValueError(str(cosim.LookUpError(f"item of {port.path}", text, items))) from None
    if kind == "real" and isinstance(written, (int, float)) and not isinstance(written, bool):
        return float(written)
    raise ValueError(f"{written!r} is not a value of {port.path}, which is {kind}")
