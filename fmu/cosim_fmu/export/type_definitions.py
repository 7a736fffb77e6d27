"""The element TypeDefinitions of a model description: which quantity a real variable is."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

from cosim_fmu.export.unit_definitions import DISPLAY_UNITS

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


def declared_types(units: Iterable[str], taken: Iterable[str]) -> dict[str, str]:
    """Names of types by unit, sorted; none that is the name of a variable, which FMI does not want.

    Examples
    --------
    >>> declared_types(["m", "1", "rad", "m"], ["SI.Angle"])
    {'m': 'SI.Length'}
    """
    names = {unit: f"SI.{QUANTITIES[unit]}" for unit in sorted(set(units) & set(QUANTITIES))}
    variables = set(taken)
    return {unit: name for unit, name in names.items() if name not in variables}


def type_definitions(types: dict[str, str], version: int) -> Element | None:
    """The definitions, for FMI 2.0 or 3.0; None without any.

    Parameters
    ----------
    types : dict of str to str
        From `declared_types`.
    version : int
        2 or 3.
    """
    if not types:
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
    return root
