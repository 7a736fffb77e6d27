"""Definitions of units and types in model descriptions, for FMI 2.0 and 3.0."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from typing import NamedTuple
from xml.etree.ElementTree import Element, SubElement

from cosim.kit import conversion, parse_unit
from cosim_export.interface.fmu_variable import FmuVariable

DISPLAY_UNITS = {"rad": "deg", "rad/s": "deg/s", "rad/s2": "deg/s2", "Pa": "bar", "J": "kJ", "W": "kW"}
"""Units for display in place of those of the computation."""
BASE_UNITS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


def unit_definitions(
    units: Iterable[str], meanings: Mapping[str, tuple[Sequence[float], float, float]] | None = None
) -> Element | None:
    """Definitions of all units in use, by the exponents of FMI's base units, sorted; None without any.

    Parameters
    ----------
    units : iterable of str
        Modelica unit expressions; "1" needs no definition.
    meanings : mapping of str to (exponents, factor, offset), optional
        Definitions of units that are no unit expressions.

    Examples
    --------
    >>> from xml.etree.ElementTree import tostring
    >>> tostring(unit_definitions(["N.m/rad", "1"])[0]).decode()
    '<Unit name="N.m/rad"><BaseUnit kg="1" m="2" s="-2" rad="-1" /></Unit>'
    """
    used = sorted(set(units) - {"1"})
    if not used:
        return None
    root = Element("UnitDefinitions")
    for name in used:
        definition = (meanings or {}).get(name)
        if definition is None:
            unit = parse_unit(name)
            definition = unit.exponents, unit.factor, unit.offset
        powers, factor, offset = definition
        exponents = {b: f"{e:g}" for b, e in zip(BASE_UNITS, powers, strict=True) if e}
        if factor != 1.0:
            exponents["factor"] = repr(float(factor))
        if offset != 0.0:
            exponents["offset"] = repr(float(offset))
        element = SubElement(root, "Unit", {"name": name})
        if all(exponent == int(exponent) for exponent in powers):  # FMI has no roots
            SubElement(element, "BaseUnit", exponents)
        shown = DISPLAY_UNITS.get(name)
        if shown is not None:
            factor, _ = conversion(name, shown)
            SubElement(element, "DisplayUnit", {"name": shown, "factor": repr(factor)})
    return root


QUANTITIES = {
    "kg": "Mass",
    "m": "Length",
    "m/s": "Velocity",
    "m/s2": "Acceleration",
    "N": "Force",
    "N/m": "TranslationalSpringConstant",
    "kg.m2": "MomentOfInertia",
    "rad": "Angle",
    "rad/s": "AngularVelocity",
    "N.m": "Torque",
    "N.m/rad": "RotationalSpringConstant",
    "N.m.s/rad": "RotationalDampingConstant",
    "s": "Time",
    "J": "Energy",
    "W": "Power",
}
"""The quantity of each unit, named as in the types of the Modelica Standard Library."""


def declared_types(units: Iterable[str], names_of_variables: Iterable[str]) -> dict[str, str]:
    """Names of types by unit, sorted, without those that are names of variables: FMI forbids that.

    Examples
    --------
    >>> declared_types(["m", "1", "rad", "m"], ["SI.Angle"])
    {'m': 'SI.Length'}
    """
    names = {unit: f"SI.{QUANTITIES[unit]}" for unit in sorted(set(units) & set(QUANTITIES))}
    variables = set(names_of_variables)
    return {unit: name for unit, name in names.items() if name not in variables}


def enumeration_types(
    named: Iterable[tuple[str, tuple[str, ...]]], reserved: Iterable[str]
) -> dict[tuple[str, ...], str]:
    """Names of enumeration types by their items, after the first variable that has these.

    Parameters
    ----------
    named : iterable of (str, tuple of str)
        Names of variables, and their items.
    reserved : iterable of str
        Names that no type may have.

    Examples
    --------
    >>> enumeration_types([("car.mode", ("eco", "sport")), ("bus.mode", ("on", "off"))], ["Mode"])
    {('eco', 'sport'): 'Mode_2', ('on', 'off'): 'Mode_3'}
    """
    used, types = set(reserved), dict[tuple[str, ...], str]()
    for variable, items in named:
        if items in types:
            continue
        plain = variable.rpartition(".")[2].partition("[")[0]
        base = plain[:1].upper() + plain[1:]
        numbered = (f"{base}_{i}" for i in itertools.count(2))
        name = next(n for n in itertools.chain([base], numbered) if n not in used)
        used.add(name)
        types[items] = name
    return types


def type_definitions(
    types: dict[str, str], version: int, enumerations: Mapping[tuple[str, ...], str] | None = None
) -> Element | None:
    """The definitions, for FMI 2.0 or 3.0; None without any.

    Parameters
    ----------
    types : dict of str to str
        From `declared_types`.
    version : int
        2 or 3.
    enumerations : mapping of tuple of str to str, optional
        From `enumeration_types`.
    """
    if not types and not enumerations:
        return None
    root = Element("TypeDefinitions")
    for unit, name in types.items():
        details = {"quantity": QUANTITIES[unit], "unit": unit}
        if unit in DISPLAY_UNITS:
            details["displayUnit"] = DISPLAY_UNITS[unit]
        if version == 2:
            SubElement(SubElement(root, "SimpleType", {"name": name}), "Real", details)
        else:
            SubElement(root, "Float64Type", {"name": name, **details})
    for items, name in (enumerations or {}).items():
        if version == 2:
            listed = SubElement(SubElement(root, "SimpleType", {"name": name}), "Enumeration")
        else:
            listed = SubElement(root, "EnumerationType", {"name": name})
        for number, item in enumerate(items, start=1):
            SubElement(listed, "Item", {"name": item, "value": str(number)})
    return root


class Types(NamedTuple):
    """Names of the declared types of variables: of real ones by unit, of enumerations by items."""

    by_unit: dict[str, str]
    by_items: dict[tuple[str, ...], str]


def types_of(variables: Sequence[FmuVariable]) -> Types:
    """The declared types of these variables."""
    names = [v.name for v in variables]
    by_unit = declared_types((v.unit for v in variables if v.type == "Real"), names)
    named = [(v.name, v.items) for v in variables if v.type == "Enumeration"]
    return Types(by_unit, enumeration_types(named, [*names, *by_unit.values()]))
