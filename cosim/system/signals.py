"""From a path that people type to a slot."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass

from cosim.component.component import Component
from cosim.component.declarations import Declaration
from cosim.errors import CosimError, LookUpError, ModelError
from cosim.system.layout import Layout
from cosim.system.schedule import Slot

PATH = re.compile(r"^(?P<part>[A-Za-z_]\w*)(?:\.(?P<name>[A-Za-z_]\w*))?(?:\[(?P<index>\d+)\])?$")
DERIVATIVE = re.compile(r"^(?P<base>\w+?)_dot(?P<order>\d*)$")
NOT_READABLE = ("attachment", "collect", "history", "option")


@dataclass(frozen=True)
class Signal:
    """What a path stands for.

    Attributes
    ----------
    part, name : str
        Owner and declared name.
    slot : Slot
    units : tuple of str
        One for all elements or one for each.
    declaration : Declaration
    """

    part: str
    name: str
    slot: Slot
    units: tuple[str, ...]
    declaration: Declaration

    def unit(self, index: int) -> str:
        """Unit of one element."""
        return self.units[index] if len(self.units) > 1 else self.units[0]

    @property
    def is_scalar(self) -> bool:
        return self.slot.size == 1


def resolve_path(path: str, parts: Mapping[str, Component], layout: Layout) -> Signal:
    """Find ``part``, ``part.name``, ``part.name[i]`` or ``part.alias``.

    Raises
    ------
    LookUpError
        With the nearest name and what exists.
    """
    match = PATH.match(path)
    if match is None:
        raise LookUpError("signal", path, [], "A path is part, part.name or part.name[index].")
    part_name, name, index = match["part"], match["name"], match["index"]
    if part_name not in parts:
        raise LookUpError("part", part_name, parts)
    part = parts[part_name]
    if name is None:
        name = main_output(part)
    if name in part.signals:
        slot_name, element, unit = part.signals[name]
        declaration = part.declarations[slot_name]
        return Signal(part_name, name, layout.slots[part_name, slot_name].part(element), (unit,), declaration)
    key = (part_name, name)
    declared = name.removesuffix("_dot") if name not in part.declarations else name
    if key not in layout.slots or part.declarations.get(declared) is None:
        names = [n for n, d in part.declarations.items() if d.kind not in NOT_READABLE] + list(part.signals)
        raise LookUpError("signal", path, [f"{part_name}.{n}" for n in names])
    declaration = part.declarations[declared]
    units = _units(part, declaration, parts, layout)
    if declared != name:
        units = tuple(_per_second(u) for u in units)
    slot = layout.slots[key]
    if index is None:
        return Signal(part_name, name, slot, units, declaration)
    if int(index) >= slot.size:
        raise LookUpError("signal", path, [f"{part_name}.{name}[{i}]" for i in range(slot.size)])
    unit = units[int(index)] if len(units) > 1 else units[0]
    return Signal(part_name, name, slot.part(int(index)), (unit,), declaration)


def _units(
    part: Component, declaration: Declaration, parts: Mapping[str, Component], layout: Layout
) -> tuple[str, ...]:
    """Declared units; a measure may have those of its source."""
    base, order = split_derivative(declaration.name)
    source = getattr(part, "unit_from", "") if base == "value" else ""
    given = part.values.attachments.get(source) if source else None
    path = given.name if isinstance(given, Component) else given
    if not path or path.partition(".")[0] == part.name:
        return declaration.units
    try:
        units = resolve_path(path, parts, layout).units
        for _ in range(order):
            units = tuple(_per_second(unit) for unit in units)
        return units
    except (CosimError, RecursionError):  # reported where the source itself is wired
        return declaration.units


def _per_second(unit: str) -> str:
    top, _, bottom = unit.partition("/")
    return f"{top}/({bottom}.s)" if bottom else f"{top}/s"


def split_derivative(name: str) -> tuple[str, int]:
    """``value_dot2`` is the second derivative of ``value``; other names are of order 0."""
    match = DERIVATIVE.match(name)
    return (match["base"], int(match["order"] or 1)) if match else (name, 0)


def main_output(part: Component) -> str:
    """What a part's bare name means: a measure's value, or its only output."""
    if "value" in part.declarations and part.declarations["value"].kind not in NOT_READABLE:
        return "value"
    outputs = [n for n, d in part.declarations.items() if d.kind == "output"]
    if len(outputs) == 1:
        return outputs[0]
    named = [f"{part.name}.{n}" for n, d in part.declarations.items() if d.kind not in NOT_READABLE]
    named += [f"{part.name}.{n}" for n in part.signals]
    raise ModelError.of(
        part.name, f"'{part.name}' has no value of its own; name one of {', '.join(sorted(named))}"
    )
