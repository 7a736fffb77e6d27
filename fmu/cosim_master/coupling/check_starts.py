"""Checks start values of a coupling, and converts them to the units and types of their variables."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_master.coupling.convert_value import Quantity
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.coupling.ports import Descriptions, find_port, with_article

ACCEPTED: dict[str, tuple[tuple[type, ...], Callable[[Any], Any]]] = {
    "integer": ((Integral,), int),
    "boolean": ((bool, np.bool_), bool),
    "string": ((str,), str),
    "binary": ((bytes, bytearray), bytes),
}
"""By the type of a variable: types in Python, and what makes a value of them."""


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
        port, fault = find_port(descriptions, unknown, path, "")
        if port is not None:
            try:
                values[participant][name] = _converted(descriptions[participant], path, port[1], value)
            except (ValueError, cosim.UnitError) as error:
                fault = str(error)
        if fault:
            problems.append(problem(("participants", participant, "parameters", name), fault))
    return values, problems


def _converted(
    description: ParticipantDescription, path: str, variable: ParticipantVariable, value: Any
) -> Any:
    """A start value in the unit and type of its variable; ``ValueError`` with a sentence."""
    items = dict(description.enumerations.get(variable.name, ()))
    if items and isinstance(value, str) and value not in items:
        raise ValueError(f"{path} is {value!r}, needs one of {', '.join(map(repr, items))}")
    number = items.get(value, value) if isinstance(value, str) else value
    settable = description.settable
    is_settable = variable.causality in ("parameter", "input")
    if settable is not None:
        is_settable = variable.name in settable
    if not is_settable:
        raise ValueError(f"{path} is {with_article(variable.causality)}, which takes no start value")
    try:
        return _start_value(variable, number)
    except (ValueError, cosim.UnitError) as error:
        raise ValueError(f"{path} {error}") from None


def _start_elements(
    descriptions: Descriptions, starts: Mapping[str, Any], problems: list[WiringProblem]
) -> dict[str, Any]:
    """Start values of whole arrays as those of their elements, row by row."""
    by_path: dict[str, Any] = {}
    for path, value in starts.items():
        participant, _, name = path.partition(".")
        arrays = descriptions[participant].arrays if participant in descriptions else {}
        if name not in arrays:
            by_path[path] = value
            continue
        shape, elements = arrays[name]
        try:
            array = np.array(value, dtype=object)
        except ValueError:
            array = np.array(None)
        if array.shape != shape:
            text = f"{path} has the shape {_shape_text(array.shape)}, needs {_shape_text(shape)}"
            problems.append(problem(("participants", participant, "parameters", name), text))
            continue
        values = zip(elements, array.ravel().tolist(), strict=True)
        by_path.update({f"{participant}.{element}": value for element, value in values})
    return by_path


def _shape_text(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) if shape else "of a scalar"


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
