"""The page of units."""

from __future__ import annotations

from page_parts import table_lines

from cosim import units
from cosim.unit import BASE_UNITS


def unit_page() -> str:
    """A table of all unit symbols with their factors."""
    lines = [
        "# Units",
        "",
        'Unit expressions are Modelica\'s: `N.m/rad`, `kg.m2`, `m/s2`; text with a number has one: `"5 kN"`.',
        "",
    ]
    rows = []
    for name, prefixed in units.unit_symbols().items():
        unit = units.parse_unit(name)
        powers = zip(BASE_UNITS, unit.exponents, strict=True)
        product = (
            ".".join(f"{symbol}{power if power != 1 else ''}" for symbol, power in powers if power) or "1"
        )
        rows.append(
            (
                f"`{name}`",
                f"{unit.factor:.10g}",
                f"`{product}`",
                f"{unit.offset:g}" if unit.offset else "",
                "yes" if prefixed else "",
            )
        )
    return "\n".join(
        [*lines, *table_lines(("symbol", "factor", "in base units", "offset", "prefixes"), rows), ""]
    )
