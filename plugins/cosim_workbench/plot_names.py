"""Texts of axes and notes in pictures."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from cosim.kit import printable

QUANTITIES = {
    "m": "position",
    "mm": "length",
    "rad": "angle",
    "m/s": "speed",
    "rad/s": "angular speed",
    "m/s2": "acceleration",
    "rad/s2": "angular acceleration",
    "N": "force",
    "N.m": "torque",
    "J": "energy",
    "W": "power",
    "Pa": "pressure",
    "V": "voltage",
    "A": "current",
    "K": "temperature",
    "kg": "mass",
}
"""The usual quantity of a unit."""
RAISED = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
MOST_LISTED = 4


def axis_label(names: Sequence[str], unit: str) -> str:
    """The label of a panel: the signal, or the common part of its signals' names, and the unit.

    >>> axis_label(["car.ax"], "m/s2"), axis_label(["left.load", "right.load"], "N")
    ('car.ax in m/s²', 'load in N')
    >>> axis_label(["wheel.x", "road"], "m"), axis_label(["a", "b"], "1")
    ('position in m', 'value')
    """
    ends = {name.rpartition(".")[2] for name in names}
    if len(names) == 1:
        (quantity,) = names
    elif len(ends) == 1 and len(max(ends)) > 2:
        (quantity,) = ends
    else:
        quantity = QUANTITIES.get(unit, "value")
    return f"{quantity} in {pretty_unit(unit)}" if pretty_unit(unit) else quantity


def literal(text: str) -> str:
    r"""A text that matplotlib draws letter by letter; names come from files of others.

    Two dollar signs would enclose mathematics, a first underscore would hide a line from the legend, and a
    control character makes an SVG file invalid.

    >>> literal("a$b$"), literal("_x"), literal("\x1b[2J")
    ('a\\$b\\$', ' _x', '\\x1b[2J')
    """
    return " " * text.startswith("_") + printable(text).replace("$", r"\$")


def pretty_unit(unit: str) -> str:
    """A unit expression as it is printed: ``N.m/rad``, ``m/s2`` as N·m/rad, m/s²; nothing for "1".

    >>> pretty_unit("kg.m2"), pretty_unit("s-1"), pretty_unit("1")
    ('kg·m²', 's⁻¹', '')
    """
    raised = re.sub(r"(?<=[A-Za-zµΩ%°])-?\d+", lambda match: match.group().translate(RAISED), unit)
    return "" if unit == "1" else raised.replace(".", "·")


def listed(texts: Iterable[str]) -> str:
    """The first few, and how many more.

    >>> listed("abcdef")
    'a, b, c, d and 2 more'
    """
    texts = list(texts)
    more = len(texts) - MOST_LISTED
    return ", ".join(texts[:MOST_LISTED]) + (f" and {more} more" if more > 0 else "")
