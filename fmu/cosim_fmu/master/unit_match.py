"""Conversion between the units of two participants."""

from __future__ import annotations

import cosim

Definition = tuple[tuple[int, ...], float, float]
RADIAN = 7


def conversion_of(
    given: str, giver: cosim.ParticipantDescription, wanted: str, taker: cosim.ParticipantDescription
) -> tuple[float, float]:
    """Factor and offset from one unit to the other.

    What an FMU defines in its UnitDefinitions counts for the names that it uses, whatever they look
    like; other names are read as Modelica unit expressions. A variable without a unit ("1") goes with
    anything and is not converted: many tools write no units. Radian counts as 1.

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
    if given == wanted or "1" in (given, wanted):
        return 1.0, 0.0
    first, second = _definition(given, giver), _definition(wanted, taker)
    if first is None and second is None:
        return cosim.conversion(given, wanted)
    first = first if first is not None else _parsed(given)
    second = second if second is not None else _parsed(wanted)
    if first[0] != second[0]:
        raise cosim.UnitError(f"'{given}' and '{wanted}' do not measure the same thing")
    return first[1] / second[1], (first[2] - second[2]) / second[1]


def _definition(unit: str, description: cosim.ParticipantDescription) -> Definition | None:
    found = description.extra.get("unit_definitions", {}).get(unit)
    if found is None:
        return None
    exponents, factor, offset = found
    if factor == 0.0:
        raise cosim.UnitError(f"the FMU defines '{unit}' with the factor 0")
    return _without_radian(exponents), factor, offset


def _parsed(unit: str) -> Definition:
    parsed = cosim.parse_unit(unit)
    return _without_radian(parsed.exponents), parsed.factor, parsed.offset


def _without_radian(exponents: tuple[int, ...]) -> tuple[int, ...]:
    return (*exponents[:RADIAN], 0)
