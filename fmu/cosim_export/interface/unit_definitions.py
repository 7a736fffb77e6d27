"""The element UnitDefinitions of a model description."""

from __future__ import annotations

from collections.abc import Iterable
from xml.etree.ElementTree import Element, SubElement

from cosim.kit import conversion, parse_unit

DISPLAY_UNITS = {"rad": "deg", "rad/s": "deg/s", "rad/s2": "deg/s2", "Pa": "bar", "J": "kJ", "W": "kW"}
"""What people read a quantity in, where that is not the unit that is computed in."""

BASE_UNITS = ("kg", "m", "s", "A", "K", "mol", "cd", "rad")


def unit_definitions(units: Iterable[str]) -> Element | None:
    """Definitions of all units in use, by the exponents of FMI's base units, sorted; None without any.

    Parameters
    ----------
    units : iterable of str
        Modelica unit expressions; "1" needs no definition.

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
        unit = parse_unit(name)
        exponents = {b: str(e) for b, e in zip(BASE_UNITS, unit.exponents, strict=True) if e}
        if unit.factor != 1.0:
            exponents["factor"] = repr(float(unit.factor))
        if unit.offset != 0.0:
            exponents["offset"] = repr(float(unit.offset))
        element = SubElement(root, "Unit", {"name": name})
        if all(exponent == int(exponent) for exponent in unit.exponents):  # FMI has no roots
            SubElement(element, "BaseUnit", exponents)
        shown = DISPLAY_UNITS.get(name)
        if shown is not None:
            factor, _ = conversion(name, shown)
            SubElement(element, "DisplayUnit", {"name": shown, "factor": repr(factor)})
    return root
