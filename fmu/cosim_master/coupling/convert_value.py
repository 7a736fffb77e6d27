"""Values on their way from an output to an input: their units, and their conversion as a kernel function."""

from __future__ import annotations

import math
from typing import NamedTuple

import cosim
from cosim.kit import ParticipantDescription, conversion, parse_unit


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


Definition = tuple[tuple[int, ...], float, float]
RADIAN = 7


def conversion_of(
    given: str, giver: ParticipantDescription, wanted: str, taker: ParticipantDescription
) -> tuple[float, float]:
    """Factor and offset from one unit to the other.

    What an FMU defines in its UnitDefinitions counts for the names that it uses, whatever they look
    like; other names are read as Modelica unit expressions. A variable without a unit ("1") goes with
    anything and is not converted: many tools write no units. Radian counts as 1, except where turns
    (Hz) may be meant.

    Parameters
    ----------
    given, wanted : str
        Units of the output and of the input.
    giver, taker : ParticipantDescription
        The participants that use these names.

    Returns
    -------
    factor, offset : float
        number in `wanted` = factor * number in `given` + offset.

    Raises
    ------
    UnitError
        When they do not measure the same thing, or one cannot be read.
    """
    if "1" in (given, wanted):
        return 1.0, 0.0
    first, second = _definition(given, giver), _definition(wanted, taker)
    if given == wanted and (first == second or None in (first, second)):
        return 1.0, 0.0
    if _says_nothing_new(given, first) and _says_nothing_new(wanted, second):
        return conversion(given, wanted)
    first = first if first is not None else _parsed(given)
    second = second if second is not None else _parsed(wanted)
    return scale_between(given, first, wanted, second)


def scale_between(given: str, first: Definition, wanted: str, second: Definition) -> tuple[float, float]:
    """Factor and offset from one definition to another; the names are for messages.

    Raises
    ------
    UnitError
        They do not measure the same thing.
    """
    if first[0][:RADIAN] != second[0][:RADIAN] or (_is_rate(first) and first[0] != second[0]):
        raise cosim.UnitError(f"'{given}' and '{wanted}' do not measure the same thing")
    return first[1] / second[1], (first[2] - second[2]) / second[1]


def definition_of(unit: str, description: ParticipantDescription) -> Definition | None:
    """What a unit of a participant means: its own definition, else what its name says; None when nothing."""
    if unit == "1":
        return None
    try:
        definition = _definition(unit, description)
        return _parsed(unit) if definition is None else definition
    except cosim.UnitError:
        return None


def _definition(unit: str, description: ParticipantDescription) -> Definition | None:
    definition: Definition | None = description.unit_definitions.get(unit)
    if definition is not None and definition[1] == 0.0:
        raise cosim.UnitError(f"the FMU defines '{unit}' with the factor 0")
    return definition


def _parsed(unit: str) -> Definition:
    parsed = parse_unit(unit)
    return parsed.exponents, parsed.factor, parsed.offset


def _says_nothing_new(unit: str, definition: Definition | None) -> bool:
    """Whether the name alone, as a unit expression, means what the FMU defines."""
    if definition is None:
        return True
    try:
        exponents, factor, offset = _parsed(unit)
    except cosim.UnitError:
        return False
    same = exponents[:RADIAN] == definition[0][:RADIAN] and math.isclose(factor, definition[1], rel_tol=1e-9)
    return same and math.isclose(offset, definition[2], rel_tol=1e-9)


def _is_rate(definition: Definition) -> bool:
    """Something per second and nothing else: with rad and without differ by 2π if it counts turns."""
    exponents = definition[0]
    return exponents[2] != 0 and not any(exponents[:2]) and not any(exponents[3:RADIAN])


def convert_value(value, pairs, factor, offset):
    """Map the value of an output, then scale it.

    Parameters
    ----------
    value : float
    pairs : ndarray, shape (2 * n,)
        Values, and what they become; others stay as they are.
    factor, offset : float
    """
    for i in range(pairs.shape[0] // 2):
        if pairs[2 * i] == value:
            value = pairs[2 * i + 1]
            break
    if factor != 1.0 or offset != 0.0:
        value = factor * value + offset
    return value
