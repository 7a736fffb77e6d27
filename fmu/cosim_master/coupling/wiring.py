"""Checks a coupling before anything is instantiated: all faults at once."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from numbers import Integral, Real
from typing import Any

import numpy as np

import cosim
from cosim.kit import (
    ParticipantDescription,
    ParticipantVariable,
    accuracy_fault,
)
from cosim_master.coupling.connection import Connection, Link, make_link
from cosim_master.coupling.convert_value import Quantity
from cosim_master.coupling.coupling import CommunicationPoints
from cosim_master.coupling.errors import WiringProblem, problem

ACCEPTED: dict[str, tuple[tuple[type, ...], Callable[[Any], Any]]] = {
    "integer": ((Integral,), int),
    "boolean": ((bool, np.bool_), bool),
    "string": ((str,), str),
    "binary": ((bytes, bytearray), bytes),
}
Descriptions = Mapping[str, ParticipantDescription]


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
    links: list[Link] = []
    problems: list[WiringProblem] = []
    taken: dict[str, int] = {}
    if isinstance(connections, str) or not isinstance(connections, Iterable):
        needs = 'needs a list: ["plant.felt -> controller.speed"]'
        return links, [problem(("connections",), f"is {connections!r}, {needs}")]
    outputs = [f"{n}.{v}" for n, d in descriptions.items() for v in d.variables if _gives(d, v)]
    inputs = [
        f"{name}.{variable.name}"
        for name, description in descriptions.items()
        for variable in description.variables.values()
        if variable.causality == "input"
    ]
    for i, given in enumerate(connections):
        try:
            connection = Connection.of(given)
            if connection.is_bus:
                parts = connection.expanded(outputs, inputs)
            else:
                parts = _elements(descriptions, connection)
        except ValueError as error:
            problems.append(problem(("connections", i), str(error)))
            continue
        for part in parts:
            ends = []
            wanted = (
                ("calculated", "parameter") if _is_parameter(descriptions, part.end) else ("output", "input")
            )
            for key, path, causality in zip(("from", "to"), (part.start, part.end), wanted, strict=True):
                if key == "from" and part.reads_any:
                    causality = ""
                port, fault = _find_port(descriptions, unknown, path, causality)
                if fault:
                    problems.append(problem(("connections", i, key), fault))
                ends.append(port)
            if part.end in taken:
                first = f"connections[{taken[part.end]}]"
                text = f"{part.end} has a source already, {first}: an input has one source"
                problems.append(problem(("connections", i, "to"), text))
            taken.setdefault(part.end, i)
            if ends[0] is not None and ends[1] is not None:
                try:
                    links.append(make_link(descriptions, ends[0], ends[1], part))
                except (ValueError, cosim.UnitError) as error:
                    problems.append(problem(("connections", i), str(error)))
    return links, problems


def check_starts(
    descriptions: Descriptions, unknown: Sequence[str], starts: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Any]], list[WiringProblem]]:
    """Start values by participant, in the units of their variables.

    Parameters
    ----------
    starts : mapping of str to object
        ``{"plant.mass": 2.0}``; a real number may be given as text with a unit, an array as nested lists, an
        item of an enumeration by its name.
    """
    values: dict[str, dict[str, Any]] = {name: {} for name in descriptions}
    problems: list[WiringProblem] = []
    for path, value in _start_elements(descriptions, starts, problems).items():
        participant, _, name = path.partition(".")
        key = ("participants", participant, "parameters", name)
        port, fault = _find_port(descriptions, unknown, path, "")
        if port is None:
            if fault:
                problems.append(problem(key, fault))
            continue
        description = descriptions[participant]
        variable = description.variables[name]
        items = dict(description.enumerations.get(name, ()))
        if items and isinstance(value, str) and value not in items:
            text = f"{path} is {value!r}, needs one of {', '.join(map(repr, items))}"
            problems.append(problem(key, text))
            continue
        value = items.get(value, value) if isinstance(value, str) else value
        settable = description.settable
        if not (variable.causality in ("parameter", "input") if settable is None else name in settable):
            problems.append(problem(key, f"{path} is {_a(variable.causality)}, which takes no start value"))
            continue
        try:
            values[participant][name] = _start_value(variable, value)
        except (ValueError, cosim.UnitError) as error:
            problems.append(problem(key, f"{path} {error}"))
    return values, problems


def _start_elements(
    descriptions: Descriptions, starts: Mapping[str, Any], problems: list[WiringProblem]
) -> dict[str, Any]:
    """Start values of whole arrays as those of their elements, row by row."""
    by_path: dict[str, Any] = {}
    for path, value in starts.items():
        participant, _, name = path.partition(".")
        known = descriptions[participant].arrays if participant in descriptions else {}
        if name not in known:
            by_path[path] = value
            continue
        shape, elements = known[name]
        try:
            given = np.array(value, dtype=object)
        except ValueError:
            given = np.array(None)
        if given.shape != shape:
            text = f"{path} has the shape {_shape_text(given.shape)}, needs {_shape_text(shape)}"
            problems.append(problem(("participants", participant, "parameters", name), text))
            continue
        values = zip(elements, given.ravel().tolist(), strict=True)
        by_path.update({f"{participant}.{element}": value for element, value in values})
    return by_path


def _shape_text(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) if shape else "of a scalar"


def check_steps(
    participants: Mapping[str, Any],
    steps: Mapping[str, float | str],
    step: float,
    algorithm: cosim.MasterAlgorithm | None,
) -> tuple[dict[str, int], list[WiringProblem]]:
    """For each participant with a step of its own the multiple of the common one, and what is wrong."""
    step_multiple: dict[str, int] = {}
    problems = []
    for name, given in steps.items():
        key = ("participants", name, "step")
        if name not in participants:
            text = str(cosim.LookUpError("participant", name, participants))
            problems.append(problem(("participants", name), text))
            continue
        try:
            own = cosim.parse_quantity(given, "s") if isinstance(given, str) else float(given)
        except (cosim.UnitError, TypeError, ValueError) as error:
            problems.append(problem(key, str(error)))
            continue
        multiple = own / step if own > 0.0 else 0.0
        if not 1.0 - 1e-9 <= multiple < 2.0**53 or abs(multiple - round(multiple)) > 1e-9 * multiple:
            text = f"is {own:g} s, needs a multiple of the communication step, {step:g} s"
            problems.append(problem(key, text))
            continue
        step_multiple[name] = round(multiple)
        if step_multiple[name] > 1 and algorithm is not None and not algorithm.fixed_sequence:
            text = (
                f"is longer than the communication step, which {type(algorithm).__name__} here cannot deal "
                "with: take jacobi or gauss_seidel without extrapolation"
            )
            problems.append(problem(key, text))
    return step_multiple, problems


def check_copies(descriptions: Descriptions) -> list[WiringProblem]:
    """A problem for each FMU that is used twice although it can be instantiated only once in a process."""
    first: dict[str, str] = {}
    problems = []
    for name, description in descriptions.items():
        identity = description.only_once
        if identity and identity in first:
            text = f"is the same FMU as {first[identity]}, and it can be instantiated only once in a process"
            problems.append(problem(("participants", name), text))
        first.setdefault(identity, name)
    return problems


def check_clocks(descriptions: Descriptions) -> list[WiringProblem]:
    """A problem for each clock that has to tick by itself and does not say when."""
    return [
        problem(("participants", name), f"clock {clock} cannot tick: {reason}")
        for name, description in descriptions.items()
        for clock, reason in description.clocks_without_interval.items()
    ]


def check_abilities(
    descriptions: Descriptions, algorithm: cosim.MasterAlgorithm | None
) -> list[WiringProblem]:
    """A problem for each participant that cannot do what the algorithm wants of it."""
    if algorithm is None:
        return []
    kind = type(algorithm).__name__
    problems = []
    for name, description in descriptions.items():
        if algorithm.restores and not description.can_restore:
            text = (
                f"cannot save and restore its state, which {kind} needs: take one of the algorithms that do "
                f"without, {', '.join(_forward(descriptions))}"
            )
            problems.append(problem(("participants", name), text))
        if algorithm.varies_step and not description.variable_step:
            text = (
                f"cannot vary its communication step, which {kind} does: take one of the algorithms that do "
                f"not, {', '.join(_steady(descriptions))}"
            )
            problems.append(problem(("participants", name), text))
    return problems


def _forward(descriptions: Descriptions) -> list[str]:
    """Algorithms for participants that cannot go back."""
    steady = _steady(descriptions)
    vary = all(description.variable_step for description in descriptions.values())
    return [name for name, kind in _algorithms() if not kind.restores and (vary or name in steady)]


def _steady(descriptions: Descriptions) -> list[str]:
    """Algorithms for participants that cannot vary their step."""
    back = all(description.can_restore for description in descriptions.values())
    return [name for name, kind in _algorithms() if not kind.varies_step and (back or not kind.restores)]


def _algorithms() -> list[tuple[str, Any]]:
    entries = cosim.registry().entries("master_algorithm")
    return [(e.id.removeprefix("fmu."), e.cls) for e in entries if e.id != "fmu.joint"]  # it takes another


def check_last_step(
    descriptions: Descriptions, step_multiple: Mapping[str, int], points: CommunicationPoints
) -> list[WiringProblem]:
    """A problem for each participant whose last step would be a shorter one, which it cannot take."""
    last = points.time(points.count) - points.time(points.count - 1) if points.count else points.step
    problems = []
    for name, description in descriptions.items():
        cut = abs(last - points.step) > 1e-9 * points.step or points.count % step_multiple.get(name, 1) != 0
        if cut and not description.variable_step:
            own = step_multiple.get(name, 1) * points.step
            text = (
                f"{name} cannot vary its communication step, and the end, {points.until:g} s, is not a "
                f"multiple of {own:g} s away from the start: choose the end or the step so"
            )
            problems.append(problem(("master", "until"), text))
    return problems


def _is_parameter(descriptions: Descriptions, path: str) -> bool:
    name, _, variable = path.partition(".")
    known = descriptions[name].variables if name in descriptions else {}
    return variable in known and known[variable].causality == "parameter"


def _elements(descriptions: Descriptions, connection: Connection) -> list[Connection]:
    """A connection of whole arrays as those of their elements, row by row."""
    shapes, names = [], []
    for path in (connection.start, connection.end):
        name, _, variable = path.partition(".")
        known = descriptions[name].arrays if name in descriptions else {}
        shape, elements = known.get(variable, ((), (variable,)))
        shapes.append(shape)
        names.append([f"{name}.{element}" for element in elements])
    if shapes == [(), ()]:
        return [connection]
    if len(names[0]) == len(names[1]) == 1:  # an array of one element goes with a scalar
        return [replace(connection, start=names[0][0], end=names[1][0])]
    if shapes[0] != shapes[1]:
        listed = [
            f"{path} is {'×'.join(map(str, shape)) if shape else 'a scalar'}"
            for path, shape in zip((connection.start, connection.end), shapes, strict=True)
        ]
        raise ValueError(f"{listed[0]}, {listed[1]}: the shapes have to agree")
    return [replace(connection, start=a, end=b) for a, b in zip(*names, strict=True)]


def _gives(description: ParticipantDescription, name: str) -> bool:
    causality = description.variables[name].causality
    return causality == "output" or name in description.readable


def _find_port(
    descriptions: Descriptions, unknown: Sequence[str], path: str, causality: str
) -> tuple[tuple[str, ParticipantVariable] | None, str]:
    """The variable of ``participant.variable``, or what is wrong with it."""
    name, dot, variable = path.partition(".")
    if name in unknown:
        return None, ""
    if not dot or not variable:
        return None, f"is '{path}', needs participant.variable: 'plant.felt'"
    if name not in descriptions:
        return None, str(cosim.LookUpError("participant", name, [*descriptions, *unknown]))
    variables = descriptions[name].variables
    if variable not in variables:
        if variable in descriptions[name].arrays:
            first = descriptions[name].arrays[variable][1][:1]
            return (
                None,
                f"{path} is an array: name one of its elements, {', '.join(first) or 'it has none'} …",
            )
        fitting = [v.name for v in variables.values() if causality in ("", v.causality)]
        what = f"{causality or 'variable'} of {name}"
        return None, str(cosim.LookUpError(what, variable, fitting or variables))
    known = variables[variable]
    if causality == "calculated":
        if known.causality == "parameter" or variable in descriptions[name].calculated:
            return (name, known), ""
        return None, f"{path} is {_a(known.causality)}, but a parameter gets its value once, from a parameter"
    if causality == "parameter" and variable in descriptions[name].structural:
        return None, f"{path} decides the sizes of arrays: give it a start value instead of a connection"
    starts_there = causality == "output" and variable in descriptions[name].readable
    if causality and not starts_there and (reason := descriptions[name].refused.get(variable)):
        return None, f"{path} cannot be connected: {reason}"
    if starts_there:
        return (name, known), ""
    if causality not in ("", known.causality):
        others = [v.name for v in variables.values() if v.causality == causality]
        has = (
            f"{causality.capitalize()}s of {name}: {', '.join(others[:12])}{' …' if len(others) > 12 else ''}"
        )
        return (
            None,
            f"{path} is {_a(known.causality)}, needs {_a(causality)}. {has if others else 'There are none'}.",
        )
    return (name, known), ""


def _start_value(variable: ParticipantVariable, value: Any) -> Any:
    """The value as the participant's own type; ``ValueError`` with the rest of a sentence."""
    if isinstance(value, Quantity):
        unit = value.unit if variable.unit != "1" else "1"
        return cosim.parse_quantity(f"{value.number!r} {unit}", variable.unit)
    if variable.type == "real":
        if isinstance(value, str):
            return cosim.parse_quantity(value, variable.unit)
        if isinstance(value, (bool, np.bool_)) or not isinstance(value, Real):
            raise ValueError(f"is {value!r}, needs a number [{variable.unit}]")
        if not math.isfinite(value):
            raise ValueError(f"is {value}, needs a finite number [{variable.unit}]")
        return float(value)
    if variable.type in ("integer", "boolean") and isinstance(value, Real) and not isinstance(value, bool):
        is_whole = math.isfinite(value) and value == math.floor(value)
        if is_whole and (variable.type == "integer" or value in (0, 1)):
            value = math.floor(value) if variable.type == "integer" else bool(value)
    accepted, make = ACCEPTED[variable.type]
    if not isinstance(value, accepted) or (variable.type == "integer" and isinstance(value, bool)):
        raise ValueError(f"is {value!r}, needs a value of type {variable.type}")
    return make(value)


def _a(causality: str) -> str:
    return f"an {causality}" if causality[:1] in "aeiou" else f"a {causality}"


PYTHON_TYPES: dict[str, tuple[type, ...]] = {
    "real": (Real,),
    "integer": (Integral,),
    "boolean": (bool, np.bool_, int),
    "clock": (bool, np.bool_, int),
    "string": (str,),
    "binary": (bytes, bytearray),
}


def check_values(description: ParticipantDescription, names: Sequence[str], values: Sequence[Any]) -> None:
    """Refuse a value that is not of the type of its variable.

    Raises
    ------
    CosimError
        With a sentence.
    """
    for name, value in zip(names, values, strict=True):
        kind = description.variables[name].type
        if not isinstance(value, PYTHON_TYPES[kind]):
            raise cosim.CosimError(f"get returned {value!r:.80} for {name}, declared as {kind}")


def check_tolerances(
    participants: Mapping[str, Any], common: Any, given: Mapping[str, Any]
) -> tuple[dict[str, float | None], list[WiringProblem]]:
    """The tolerance of each participant, None where it takes its own, and what is wrong."""
    tolerances_of: dict[str, float | None] = {}
    problems = []
    if common is not None and (fault := accuracy_fault(common)):
        problems.append(problem(("master", "tolerance"), fault))
        common = None
    for name in given:
        if name not in participants:
            text = str(cosim.LookUpError("participant", name, participants))
            problems.append(problem(("participants", name), text))
    for name in participants:
        own = given.get(name, common)
        if own is not None and (fault := accuracy_fault(own)):
            problems.append(problem(("participants", name, "tolerance"), fault))
            own = None
        tolerances_of[name] = None if own is None else float(own)
    return tolerances_of, problems
