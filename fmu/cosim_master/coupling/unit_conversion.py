"""Conversion from the unit of an output to the unit of an input, which may be units that an FMU defines."""

from __future__ import annotations

import math
from typing import NamedTuple

import cosim
from cosim.kit import ParticipantDescription, UnitDefinition, conversion, parse_unit


class Quantity(NamedTuple):
    """A number with its unit; a variable without a unit takes the number as it is.

    Attributes
    ----------
    number : float
    unit : str
        Modelica unit expression.
    """

    number: float
    unit: str


SECOND, RADIAN = 2, 7
"""Places in `UnitDefinition.exponents`: seven base units of the SI, then the radian."""


def conversion_of(
    output_unit: str, source: ParticipantDescription, input_unit: str, target: ParticipantDescription
) -> tuple[float, float]:
    """Factor and offset from the unit of an output to the unit of an input.

    A definition in the UnitDefinitions of an FMU comes before the meaning that its name has as a Modelica
    unit expression. A variable without a unit ("1") can be connected to any other without a conversion,
    since many tools write no units. Radian counts as 1, except where turns (Hz) may be meant.

    Parameters
    ----------
    output_unit, input_unit : str
    source, target : ParticipantDescription
        The participants that use these names.

    Returns
    -------
    factor, offset : float
        number in `input_unit` = factor * number in `output_unit` + offset.

    Raises
    ------
    UnitError
        The units do not measure the same quantity, or one cannot be read.
    """
    if "1" in (output_unit, input_unit):
        return 1.0, 0.0
    first, second = _defined(output_unit, source), _defined(input_unit, target)
    if output_unit == input_unit and (first == second or None in (first, second)):
        return 1.0, 0.0
    if _agrees_with_name(output_unit, first) and _agrees_with_name(input_unit, second):
        return conversion(output_unit, input_unit)
    first = first if first is not None else _parsed(output_unit)
    second = second if second is not None else _parsed(input_unit)
    return scale_between(output_unit, first, input_unit, second)


def scale_between(
    output_unit: str, output_definition: UnitDefinition, input_unit: str, input_definition: UnitDefinition
) -> tuple[float, float]:
    """Factor and offset from one definition to another; the names are for messages.

    Raises
    ------
    UnitError
        The units do not measure the same quantity.
    """
    first, second = output_definition, input_definition
    is_same_quantity = first.exponents[:RADIAN] == second.exponents[:RADIAN]
    if not is_same_quantity or (_is_rate(first) and first.exponents != second.exponents):
        raise cosim.UnitError(f"'{output_unit}' and '{input_unit}' do not measure the same thing")
    return first.factor / second.factor, (first.offset - second.offset) / second.factor


def definition_of(unit: str, description: ParticipantDescription) -> UnitDefinition | None:
    """The participant's own definition of a unit, else the meaning of its name; None for an unknown unit."""
    if unit == "1":
        return None
    try:
        definition = _defined(unit, description)
        return _parsed(unit) if definition is None else definition
    except cosim.UnitError:
        return None


def _defined(unit: str, description: ParticipantDescription) -> UnitDefinition | None:
    """The participant's own definition of a unit, if there is one."""
    if unit not in description.unit_definitions:
        return None
    definition = UnitDefinition(*description.unit_definitions[unit])
    if definition.factor == 0.0:
        raise cosim.UnitError(f"the FMU defines '{unit}' with the factor 0")
    return definition


def _parsed(unit: str) -> UnitDefinition:
    """The meaning of a Modelica unit expression."""
    parsed = parse_unit(unit)
    return UnitDefinition(parsed.exponents, parsed.factor, parsed.offset)


def _agrees_with_name(unit: str, definition: UnitDefinition | None) -> bool:
    """Whether a definition is the meaning that the name has as a unit expression."""
    if definition is None:
        return True
    try:
        parsed = _parsed(unit)
    except cosim.UnitError:
        return False
    return (
        parsed.exponents[:RADIAN] == definition.exponents[:RADIAN]
        and math.isclose(parsed.factor, definition.factor, rel_tol=1e-9)
        and math.isclose(parsed.offset, definition.offset, rel_tol=1e-9)
    )


def _is_rate(definition: UnitDefinition) -> bool:
    """Whether a unit is a power of the second alone: such units with and without rad may differ by 2π."""
    exponents = list(definition.exponents[:RADIAN])
    return exponents.pop(SECOND) != 0 and not any(exponents)
