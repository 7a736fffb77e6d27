"""Checks of the types of start values, which are converted to their variables, and of values of outputs."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from numbers import Integral, Real
from typing import Any

import numpy as np

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_master.coupling.errors import WiringProblem, problem
from cosim_master.coupling.ports import Descriptions, find_port, with_article
from cosim_master.coupling.unit_conversion import Quantity

START_TYPES: dict[str, tuple[tuple[type, ...], Callable[[Any], Any]]] = {
    "integer": ((Integral,), int),
    "boolean": ((bool, np.bool_), bool),
    "string": ((str,), str),
    "binary": ((bytes, bytearray), bytes),
}
"""The accepted types of a start value by the type of its variable, and what converts them."""
OUTPUT_TYPES: dict[str, tuple[type, ...]] = {
    "real": (Real,),
    "integer": (Integral,),
    "boolean": (bool, np.bool_, int),
    "clock": (bool, np.bool_, int),
    "string": (str,),
    "binary": (bytes, bytearray),
}
"""The accepted types of a value that a participant returns."""


def check_starts(
    descriptions: Descriptions, unknown: Sequence[str], starts: Mapping[str, Any]
) -> tuple[dict[str, dict[str, Any]], list[WiringProblem]]:
    """Start values by participant, in the units of their variables, and the problems of the others.

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    unknown : sequence of str
        Participants whose description could not be read.
    starts : mapping of str to object
        ``{"plant.mass": 2.0}``. A real number may be a text with a unit, an array nested lists, an item of an
        enumeration its name.
    """
    values: dict[str, dict[str, Any]] = {name: {} for name in descriptions}
    elements, problems = _start_elements(descriptions, starts)
    for path, value in elements.items():
        participant, _, name = path.partition(".")
        variable, fault = find_port(descriptions, unknown, path, "")
        if variable is not None:
            try:
                values[participant][name] = _converted(descriptions[participant], path, variable, value)
            except (ValueError, cosim.UnitError) as error:
                fault = str(error)
        if fault:
            problems.append(problem(("participants", participant, "parameters", name), fault))
    return values, problems


def _converted(
    description: ParticipantDescription, path: str, variable: ParticipantVariable, value: Any
) -> Any:
    """A start value in the unit and type of its variable; `ValueError` with a sentence if it has none."""
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
    descriptions: Descriptions, starts: Mapping[str, Any]
) -> tuple[dict[str, Any], list[WiringProblem]]:
    """The start values with arrays split into their elements, and a problem for each wrong shape."""
    by_path: dict[str, Any] = {}
    problems: list[WiringProblem] = []
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
    return by_path, problems


def _shape_text(shape: Sequence[int]) -> str:
    return "×".join(map(str, shape)) if shape else "of a scalar"


def _start_value(variable: ParticipantVariable, value: Any) -> Any:
    """A number or text in the type of a variable; `ValueError` with the rest of a sentence."""
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
    accepted, convert = START_TYPES[variable.type]
    if not isinstance(value, accepted) or (variable.type == "integer" and isinstance(value, bool)):
        raise ValueError(f"is {value!r}, needs a value of type {variable.type}")
    return convert(value)


def check_values(description: ParticipantDescription, names: Sequence[str], values: Sequence[Any]) -> None:
    """Refuse values of outputs that do not have the types of their variables.

    Raises
    ------
    CosimError
        With a sentence about the first such value.
    """
    for name, value in zip(names, values, strict=True):
        kind = description.variables[name].type
        if not isinstance(value, OUTPUT_TYPES[kind]):
            raise cosim.CosimError(f"get returned {value!r:.80} for {name}, declared as {kind}")
