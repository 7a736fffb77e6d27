"""The element TypeDefinitions of a model description: quantities of real variables, words of enumerations."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping
from xml.etree.ElementTree import Element, SubElement

from cosim_export.interface.unit_definitions import DISPLAY_UNITS

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
"""By unit: what is measured in it here, in the words of the Modelica Standard Library's types."""


def declared_types(units: Iterable[str], names_of_variables: Iterable[str]) -> dict[str, str]:
    """Names of types by unit, sorted; none that is the name of a variable, which FMI does not want.

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
    """Names of types by the words that a variable is one of, after the first variable that has them.

    Parameters
    ----------
    named : iterable of (str, tuple of str)
        Names of variables, and their words.
    reserved : iterable of str
        Names that no type may have.

    Examples
    --------
    >>> enumeration_types([("car.mode", ("eco", "sport")), ("bus.mode", ("on", "off"))], ["Mode"])
    {('eco', 'sport'): 'Mode_2', ('on', 'off'): 'Mode_3'}
    """
    used, types = set(reserved), dict[tuple[str, ...], str]()
    for variable, words in named:
        if words in types:
            continue
        plain = variable.rpartition(".")[2].partition("[")[0]
        base = plain[:1].upper() + plain[1:]
        numbered = (f"{base}_{i}" for i in itertools.count(2))
        name = next(n for n in itertools.chain([base], numbered) if n not in used)
        used.add(name)
        types[words] = name
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
    for words, name in (enumerations or {}).items():
        if version == 2:
            listed = SubElement(SubElement(root, "SimpleType", {"name": name}), "Enumeration")
        else:
            listed = SubElement(root, "EnumerationType", {"name": name})
        for number, word in enumerate(words, start=1):
            SubElement(listed, "Item", {"name": word, "value": str(number)})
    return root
