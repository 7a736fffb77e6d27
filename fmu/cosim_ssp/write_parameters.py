"""Values of parameters in an SSP: the element that holds them, and numbers as text."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, NamedTuple

from cosim.kit import ParticipantDescription
from cosim_ssp.xml_document import Element, add, child_or_new, new_root


class _ParameterValue(NamedTuple):
    """The value of a parameter: one element for a scalar (shape ``()``), else all elements row by row."""

    shape: tuple[int, ...]
    elements: list[Any]


def add_values(
    holder: Element,
    values: Mapping[str, Any],
    name: str,
    version: str,
    description: ParticipantDescription | None = None,
) -> None:
    """Append a parameter binding with values to those that an element has.

    Parameters
    ----------
    holder : Element
        A component or a system.
    values : mapping of str to object
        Values by the path of a variable.
    name : str
        Name of the parameter set.
    version : str
        Version of SSP.
    description : ParticipantDescription, optional
        The description of the component: with it, elements of an array become one parameter that is an array.
    """
    binding = add(child_or_new(holder, "ssd:ParameterBindings"), "ssd:ParameterBinding")
    parameter_set = new_root("ssv:ParameterSet", {}, version=version, name=name)
    add(binding, "ssd:ParameterValues").append(parameter_set)
    parameters = add(parameter_set, "ssv:Parameters")
    for path, value in _by_parameter(values, description).items():
        parameter = add(parameters, "ssv:Parameter", name=path)
        types, texts = zip(*map(typed_text, value.elements), strict=True)
        kind = types[0]
        if value.shape and kind in ("String", "Binary"):
            element = add(parameter, f"ssv:{kind}")
            for text in texts:
                add(element, "ssv:Value", value=text)
        else:
            add(parameter, f"ssv:{kind}", value=" ".join(texts))
        for size in value.shape:
            add(parameter, "ssc:Dimension", size=str(size))


def _by_parameter(
    values: Mapping[str, Any], description: ParticipantDescription | None
) -> dict[str, _ParameterValue]:
    """Values by parameter; elements of an array that have no value get their start value."""
    if description is None:
        return {path: _ParameterValue((), [value]) for path, value in values.items()}
    array_of = {element: array for array, (_, names) in description.arrays.items() for element in names}
    by_parameter: dict[str, _ParameterValue] = {}
    for path, value in values.items():
        if path not in array_of:
            by_parameter[path] = _ParameterValue((), [value])
            continue
        array = array_of[path]
        shape, names = description.arrays[array]
        elements = [values.get(name, description.variables[name].start) for name in names]
        default = type(value)()
        by_parameter[array] = _ParameterValue(shape, [default if e is None else e for e in elements])
    return by_parameter


def typed_text(value: Any) -> tuple[str, str]:
    """Type and text of a value of a parameter."""
    if isinstance(value, bool):
        return "Boolean", "true" if value else "false"
    if isinstance(value, int):
        return "Integer", str(value)
    if isinstance(value, float):
        return "Real", number_text(value)
    if isinstance(value, (bytes, bytearray)):
        return "Binary", bytes(value).hex()
    return "String", str(value)


def number_text(value: float) -> str:
    """The shortest text of a number that reads back as the same number."""
    return repr(float(value))
