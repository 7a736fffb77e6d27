"""Checks the connections of a coupling before anything is instantiated: all faults at once."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any

import cosim
from cosim.kit import ParticipantDescription
from cosim_master.coupling.connection import Connection, Link, make_link
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.coupling.ports import Descriptions, PortVariable, find_port


def check_connections(
    descriptions: Descriptions, unknown: Sequence[str], connections: Sequence[Any]
) -> tuple[list[Link], list[WiringProblem]]:
    """Links of the connections that are right, and what is wrong with the others.

    Checked are existence (with the nearest name), causality, type, items of enumerations, physical unit,
    shape, and that every input has one source. A parameter may feed a parameter. An output may
    feed many inputs; an array feeds an array of the same shape, element by element.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    unknown : sequence of str
        Participants whose description could not be read: their variables are not judged.
    connections : sequence
        What `Connection.of` takes.
    """
    if isinstance(connections, str) or not isinstance(connections, Iterable):
        needs = 'needs a list: ["plant.felt -> controller.speed"]'
        return [], [problem(("connections",), f"is {connections!r}, {needs}")]
    links: list[Link] = []
    problems: list[WiringProblem] = []
    taken: dict[str, int] = {}  # by input the connection that feeds it
    outputs = [f"{n}.{v}" for n, d in descriptions.items() for v in d.variables if _gives(d, v)]
    inputs = [
        f"{name}.{variable.name}"
        for name, description in descriptions.items()
        for variable in description.variables.values()
        if variable.causality == "input"
    ]
    for i, text_or_table in enumerate(connections):
        try:
            connection = Connection.of(text_or_table)
            if connection.is_bus:
                parts = connection.expanded(outputs, inputs)
            else:
                parts = _elements(descriptions, connection)
        except ValueError as error:
            problems.append(problem(("connections", i), str(error)))
            continue
        for part in parts:
            start, end, faults = _find_ends(descriptions, unknown, part)
            problems += [problem(("connections", i, key), fault) for key, fault in faults.items()]
            if part.end in taken:
                first = f"connections[{taken[part.end]}]"
                text = f"{part.end} has a source already, {first}: an input has one source"
                problems.append(problem(("connections", i, "to"), text))
            taken.setdefault(part.end, i)
            if start is not None and end is not None:
                try:
                    links.append(make_link(descriptions, start, end, part))
                except (ValueError, cosim.UnitError) as error:
                    problems.append(problem(("connections", i), str(error)))
    return links, problems


def _find_ends(
    descriptions: Descriptions, unknown: Sequence[str], connection: Connection
) -> tuple[PortVariable | None, PortVariable | None, dict[str, str]]:
    """The ports of a connection, and what is wrong with them, by the key of the end."""
    is_of_parameter = _is_parameter(descriptions, connection.end)
    start_role, end_role = ("calculated", "parameter") if is_of_parameter else ("output", "input")
    if connection.reads_any:
        start_role = ""
    start, start_fault = find_port(descriptions, unknown, connection.start, start_role)
    end, end_fault = find_port(descriptions, unknown, connection.end, end_role)
    faults = {"from": start_fault, "to": end_fault}
    return start, end, {key: fault for key, fault in faults.items() if fault}


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


def _gives(description: ParticipantDescription, name: str) -> bool:
    """Whether a variable can be the start of a connection."""
    causality = description.variables[name].causality
    return causality == "output" or name in description.readable
