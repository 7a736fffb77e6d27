"""The slots of the paths that people type."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple

from cosim.component.component import Component
from cosim.component.declaration import Declaration
from cosim.errors import LookUpError, ModelError
from cosim.system.alike_parts import OfDeclarations
from cosim.system.blocks import Slot
from cosim.system.layout import Layout
from cosim.unit_text import unit_product

PATH = re.compile(r"^(?P<part>[A-Za-z_]\w*)(?:\.(?P<name>[A-Za-z_]\w*))?(?:\[(?P<index>\d+)\])?$")
DERIVATIVE = re.compile(r"^(?P<base>\w+?)_dot(?P<order>\d*)$")
NOT_READABLE = ("attachment", "collect", "history", "option")


class Signal(NamedTuple):
    """The meaning of a path.

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


class SignalColumns(NamedTuple):
    """What many paths stand for, without an object for each.

    Attributes
    ----------
    arrays : list of str
    offsets, sizes : list of int
        Of their slots.
    units : list of tuple of str
        As in `Signal`.
    kinds : list of str
        Of their declarations.
    """

    arrays: list[str]
    offsets: list[int]
    sizes: list[int]
    units: list[tuple[str, ...]]
    kinds: list[str]


class Place(NamedTuple):
    """A `Signal` without its units: an element, or a name for one that has a unit of its own."""

    part: str
    name: str
    slot: Slot
    declaration: Declaration
    element: int | None = None
    unit: str = ""


class _Meaning(NamedTuple):
    """The meaning of a name in parts with the same declarations: a slot or an element, and its own unit."""

    slot: str
    declaration: Declaration
    element: int | None = None
    unit: str = ""


class Paths:
    """From the paths that people type to what they stand for.

    Parameters
    ----------
    parts : mapping of str to Component
    layout : Layout

    Attributes
    ----------
    inferred_units : mapping of (part, name) to tuple of str
        Of what declares none.
    """

    def __init__(self, parts: Mapping[str, Component], layout: Layout) -> None:
        self._parts, self._layout = parts, layout
        self.inferred_units: Mapping[tuple[str, str], tuple[str, ...]] = {}
        self._meanings: OfDeclarations[dict[str, _Meaning]] = OfDeclarations(lambda _: {})  # by names
        self._main_outputs = OfDeclarations(_main_output)

    def signal(self, path: str) -> Signal:
        """Find ``part``, ``part.name``, ``part.name[i]`` or ``part.alias``.

        Raises
        ------
        LookUpError
            With the nearest name and what exists.
        """
        part, name, slot, declaration, _, unit = place = self.place(path)
        units = (unit,) if unit else self._units_at(place)
        return Signal(part, name, slot, units, declaration)

    def columns(self, paths: Sequence[str]) -> SignalColumns:
        """The signals of many paths, by columns; mostly, paths of one part stand together."""
        no_names, no_slots = dict[str, _Meaning](), dict[str, Slot]()
        meanings, slots, of_part = no_names, no_slots, ""
        columns = arrays, offsets, sizes, units, kinds = SignalColumns([], [], [], [], [])
        for path in paths:
            part_name, _, name = path.partition(".")
            if part_name != of_part:
                part, of_part = self._parts.get(part_name), part_name
                meanings = no_names if part is None else self._meanings.of(part.declarations)
                slots = self._layout.slots.get(part_name, no_slots)
            meaning = meanings.get(name)
            if meaning is None:  # asked for the first time: it is searched for
                _, _, (array, offset, size), units_here, declaration = self.signal(path)
            else:
                slot_name, declaration, element, unit = meaning
                array, offset, size = slots[slot_name]
                if element is not None:
                    offset, size = offset + element, 1
                if unit:
                    units_here = (unit,)
                elif declaration.name == name and declaration.unit_rule is None:
                    units_here = declaration.units
                else:
                    units_here = self._units_at(Place(part_name, name, slots[slot_name], declaration))
            arrays.append(array)
            offsets.append(offset)
            sizes.append(size)
            units.append(units_here)
            kinds.append(declaration.kind)
        return columns

    def units(self, part: Component, declaration: Declaration) -> tuple[str, ...]:
        """Declared units, or those that were found."""
        return self.inferred_units.get((part.name, declaration.name), declaration.units)

    def units_of_parts(self, parts: Sequence[str], declaration: Declaration) -> list[tuple[str, ...]]:
        """The units of each of these parts, which share a declaration."""
        name, declared, unit_of = declaration.name, declaration.units, self.inferred_units
        if declaration.unit_rule is None:
            return [declared] * len(parts)
        return [unit_of.get((part, name), declared) for part in parts]

    def source_unit(self, part: Component, declaration: Declaration) -> str | None:
        """The unit that a source is converted to; None where any will do."""
        unit: str | None = declaration.options["unit"]
        return (
            unit if unit is None or "{" not in unit else self.inferred_units[part.name, declaration.name][0]
        )

    def place(self, path: str) -> Place:
        """Find what `signal` finds, without its units."""
        part_name, dot, name = path.partition(".")
        part = self._parts.get(part_name)
        if part is not None and not dot:
            name = self._main_outputs.of(part.declarations)
        meaning = None if part is None else self._meanings.of(part.declarations).get(name)
        if meaning is None:
            return self._searched(path)
        slot_name, declaration, at, unit = meaning
        slot = self._layout.slots[part_name][slot_name]
        return Place(part_name, name, slot if at is None else slot.part(at), declaration, None, unit)

    def _searched(self, path: str) -> Place:
        """The place of a path; a name means the same in all parts that share their declarations."""
        part_name, name, index = self._split(path)
        part, slots = self._parts[part_name], self._layout.slots[part_name]
        if name in part.signals:
            slot_name, element, unit, *_ = part.signals[name]
            declaration = part.declarations[slot_name]
            self._meanings.of(part.declarations)[name] = _Meaning(slot_name, declaration, element, unit)
            return Place(part_name, name, slots[slot_name].part(element), declaration, None, unit)
        declared = name.removesuffix("_dot") if name not in part.declarations else name
        if name not in slots or part.declarations.get(declared) is None:
            raise _unreadable(path, part_name, part, declared)
        declaration, slot = part.declarations[declared], slots[name]
        if index is None:
            self._meanings.of(part.declarations)[name] = _Meaning(name, declaration)
            return Place(part_name, name, slot, declaration)
        if index >= slot.size:
            raise LookUpError("signal", path, [f"{part_name}.{name}[{i}]" for i in range(slot.size)])
        return Place(part_name, name, slot.part(index), declaration, index)

    def _split(self, path: str) -> tuple[str, str, int | None]:
        """The part, the name (that of its main output where there is none) and the index in a path."""
        part_name, _, name = path.partition(".")
        if part_name in self._parts and name.isidentifier():
            return part_name, name, None
        match = PATH.match(path)
        if match is None:
            raise LookUpError("signal", path, [], "A path is part, part.name or part.name[index].")
        part_name, index = match["part"], match["index"]
        if part_name not in self._parts:
            raise LookUpError("part", part_name, self._parts)
        name = main_output(self._parts[part_name]) if match["name"] is None else match["name"]
        return part_name, name, None if index is None else int(index)

    def _units_at(self, place: Place) -> tuple[str, ...]:
        """The units at a place, from those of what is declared there."""
        units = self.units(self._parts[place.part], place.declaration)
        if place.declaration.name != place.name:
            units = tuple(unit_product((unit,), ("s",)) for unit in units)
        return units if place.element is None or len(units) == 1 else (units[place.element],)


def _unreadable(path: str, part_name: str, part: Component, declared: str) -> LookUpError:
    """The error for a name that a part does not have, or that cannot be read."""
    unread = part.declarations.get(declared)
    if unread is not None and unread.options.get("provides") == "source":
        chosen = f"It is the signal that {part_name} reads: choose it before the model is built."
        return LookUpError("signal", path, (), chosen)
    names = [n for n, d in part.declarations.items() if d.kind not in NOT_READABLE]
    return LookUpError("signal", path, [f"{part_name}.{n}" for n in (*names, *part.signals)])


def split_derivative(name: str) -> tuple[str, int]:
    """``value_dot2`` is the second derivative of ``value``; other names are of order 0."""
    match = DERIVATIVE.match(name) if "_dot" in name else None
    return (match["base"], int(match["order"] or 1)) if match else (name, 0)


def main_output_or_none(part: Component) -> str:
    """The output that a part's bare name means: a measure's value, or the only output; else ""."""
    return _main_output(part.declarations)


def _main_output(declarations: Mapping[str, Declaration]) -> str:
    if "value" in declarations and declarations["value"].kind not in NOT_READABLE:
        return "value"
    outputs = [n for n, d in declarations.items() if d.kind == "output"]
    return outputs[0] if len(outputs) == 1 else ""


def main_output(part: Component) -> str:
    """The output that a part's bare name means; `ModelError` if there is none."""
    name = main_output_or_none(part)
    if name:
        return name
    named = [f"{part.name}.{n}" for n, d in part.declarations.items() if d.kind not in NOT_READABLE]
    named += [f"{part.name}.{n}" for n in part.signals]
    raise ModelError.of(
        part.name, f"'{part.name}' has no value of its own; name one of {', '.join(sorted(named))}"
    )
