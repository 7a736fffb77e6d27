"""Places in the arrays of a system for all that parts declare, with their start values."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.component.component import Component
from cosim.component.declaration import Declaration
from cosim.component.history import ENTRIES, ENTRY_WIDTH, empty_ring
from cosim.stage import Stage
from cosim.system.alike_parts import OfDeclarations
from cosim.system.blocks import Slot

Assembly = Any


def allocate_quantities(assembly: Assembly) -> None:
    """Give each declared quantity but the states, which have one, a place in the arrays.

    Quantity by quantity: a block has a row for each part of a class, and walks through memory then.
    """
    for parts in _parts_of_one_form(assembly):
        owners = [part.name for part in parts]
        slots_of = [assembly.layout.slots[owner] for owner in owners]
        for declarations in zip(*(part.declarations.values() for part in parts), strict=True):
            name = declarations[0].name
            new_slots = _allocate_column(assembly, parts, owners, declarations[0])
            if new_slots is not None:
                for slots, slot in zip(slots_of, new_slots, strict=True):
                    slots[name] = slot
                continue
            for part, declaration in zip(parts, declarations, strict=True):
                _allocate_declared(assembly, part, declaration)


def _parts_of_one_form(assembly: Assembly) -> Iterator[list[Component]]:
    """The parts that declare the same names, kinds and sizes together, in order of the first of each.

    Which parts are alike follows from what they declare: in another process other objects may say so.
    """
    forms = OfDeclarations(lambda listed: tuple((d.name, d.kind, d.size) for d in listed.values()))
    parts_by_form: dict[Any, list[Component]] = {}
    for alike in assembly.alike:
        parts_by_form.setdefault(forms.of(alike.declarations), []).extend(alike.parts)
    yield from parts_by_form.values()


def _allocate_column(
    assembly: Assembly, parts: Sequence[Component], owners: Sequence[str], declaration: Declaration
) -> list[Slot] | None:
    """Allocate a quantity of all these parts at once; None where that goes part by part."""
    layout, name, kind, size = assembly.layout, declaration.name, declaration.kind, declaration.size
    if kind in ("cache", "output"):
        slots: list[Slot] = layout.allocate_each("c", size, name, owners)
    elif kind == "parameter":
        numbers = [_repeated(part.values.numbers[name], size) for part in parts]
        assembly.start["p"].frombytes(np.concatenate(numbers, dtype=np.float64).tobytes())
        slots = layout.allocate_each("p", size, "", owners)
    elif kind == "option":
        assembly.start["p"].extend(_option_number(part, name) for part in parts)
        slots = layout.allocate_each("p", 1, "", owners)
    else:
        return None
    return slots


def _allocate_declared(assembly: Assembly, part: Component, declaration: Declaration) -> None:
    """Allocate an input, a discrete variable or a history of a part; what else is declared has no place."""
    if declaration.kind == "input":
        _allocate_input(assembly, part, declaration)
    elif declaration.kind in ("discrete", "integer", "signal"):
        _allocate_discrete(assembly, part, declaration)
    elif declaration.kind == "history":
        _allocate_history(assembly, part, declaration.name)


def _allocate_input(assembly: Assembly, part: Component, declaration: Declaration) -> None:
    """Allocate the value of an input, and its derivative."""
    slots = assembly.layout.slots[part.name]
    for name in (declaration.name, f"{declaration.name}_dot"):
        slots[name] = assembly.layout.allocate("c", declaration.size, name, part.name)


def _allocate_discrete(assembly: Assembly, part: Component, declaration: Declaration) -> None:
    """Allocate a variable that events change, in d or k."""
    start = part.values.numbers.get(declaration.name, np.zeros(1))
    array = "d" if declaration.kind == "discrete" else "k"
    slot = assembly.constant(array, _repeated(start, declaration.size))
    assembly.layout.slots[part.name][declaration.name] = slot
    stage = _invalidated_stage(part, declaration)
    assembly.discrete_stage.update({(array, offset): stage for offset in slot.elements})


def _allocate_history(assembly: Assembly, part: Component, name: str) -> None:
    """Allocate the entries of a history, and the ring in k that says where they lie; one for each element."""
    count, room = assembly.elements.get(part.name, 1), ENTRIES * ENTRY_WIDTH
    entries = assembly.layout.allocate("h", count * room)
    starts = [entries.offset + i * room for i in range(count)]
    ring = assembly.constant("k", [number for start in starts for number in empty_ring(start)])
    slots = assembly.layout.slots[part.name]
    slots[name], slots[f"{name}_ring"] = entries, ring
    assembly.discrete_stage.update({("k", offset): Stage.TIME for offset in ring.elements})


def _repeated(numbers: NDArray[np.float64], size: int) -> NDArray[np.float64]:
    """The numbers, one for each element; a single number is repeated."""
    return np.repeat(numbers, size) if numbers.size == 1 != size else numbers


def _invalidated_stage(part: Component, declaration: Declaration) -> Stage:
    """The stage that a discrete variable invalidates; an option may say it."""
    stage = declaration.invalidates
    return stage if isinstance(stage, Stage) else Stage[str(part.values.options[stage]).upper()]


def _option_number(part: Component, name: str) -> float:
    """The number that stands for the value of an option; 0 for text, which only Python reads."""
    value, options = part.values.options[name], part.declarations[name].options
    if options.get("text"):
        return 0.0
    choices = options.get("choices")
    return float(choices.index(value)) if choices is not None and isinstance(value, str) else float(value)
