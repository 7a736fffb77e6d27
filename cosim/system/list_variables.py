"""What users can read of a system, by its paths."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.component.component import Component
from cosim.component.declaration import Declaration
from cosim.contracts.measure import Measure
from cosim.system.signals import NOT_READABLE, main_output_or_none
from cosim.system.variable import Variable

if TYPE_CHECKING:
    System = Any


class Quantity(NamedTuple):
    """A variable that a part declares: what stands behind the name of the part in its path, and its kind."""

    behind: str
    kind: str
    declaration: Declaration


def is_listed(declaration: Declaration) -> bool:
    """Whether what is declared is a variable that users can read."""
    is_shown = declaration.kind not in NOT_READABLE and not declaration.options.get("internal")
    return is_shown and declaration.size > 0


def listed_quantities(parts: Iterable[Component]) -> Iterator[tuple[Component, list[Quantity]]]:
    """Each part with the variables that it declares, in order; those of a class are listed once."""
    listed: dict[int, list[Quantity]] = {}
    for part in parts:
        key = id(part.declarations)  # those of a class, or of parts: both live as long as the parts
        if key not in listed:
            listed[key] = list(_quantities_of(part))
        yield part, listed[key]


def _quantities_of(part: Component) -> Iterator[Quantity]:
    bare = main_output_or_none(part)
    for name, declaration in part.declarations.items():
        if not is_listed(declaration):
            continue
        kind = declaration.kind
        if kind in ("cache", "output") and bare == name:
            kind = "measure" if name == "value" else "output"
        yield Quantity(f".{name}" if kind != "measure" else "", kind, declaration)
        if isinstance(part, Measure) and name == "value" and kind != "measure":
            yield Quantity("", "measure", declaration)  # a value that is a parameter or a state, besides


def list_variables(system: System) -> Iterator[Variable]:
    """In order of parts, then of declaration; then what a part calls its signals."""
    starts: dict[bytes, tuple[float, ...]] = {}
    layout, units = system.assembly.layout, system.assembly.wiring.paths.units
    for part, quantities in listed_quantities(system.parts.values()):
        name, slots = part.name, layout.slots[part.name]
        for behind, kind, declaration in quantities:
            start = part.values.numbers.get(declaration.name) if kind != "measure" else None
            numbers: tuple[float, ...] = ()
            if start is not None:
                if start.size == 1 != declaration.size:
                    start = np.repeat(start, declaration.size)
                key = start.tobytes()  # equal starts are kept once
                numbers = starts[key] if key in starts else starts.setdefault(key, tuple(start.tolist()))
            slot = slots[declaration.name]
            yield Variable(
                name + behind,
                kind,
                slot,
                units(part, declaration),
                system.stage_of(slot),
                numbers,
                _about_measure(part) if kind == "measure" else declaration.description,
                declaration,
            )
        for alias, (slot_name, element, unit, *text_of) in part.signals.items():
            slot = slots[slot_name].part(element)
            text = f"{part.declarations[slot_name].description or slot_name}, element {element}"
            text = text_of[0].format(part=name) if text_of else text
            stage, text = system.stage_of(slot), intern(text)
            yield Variable(f"{name}.{alias}", "cache", slot, (unit,), stage, description=text)


def nominal_sizes(system: System) -> NDArray[np.float64]:
    """The ``nominal`` of every continuous state, 0 where none is listed that its author has declared."""
    sizes = [0.0] * system.ny
    listed: dict[int, list[Declaration]] = {}  # those with a ``nominal``, of parts with the same quantities
    for part, quantities in listed_quantities(system.parts.values() if sizes else ()):
        if id(quantities) not in listed:
            listed[id(quantities)] = [q.declaration for q in quantities if q.declaration.nominal]
        if not (declarations := listed[id(quantities)]):
            continue
        slots = system.assembly.layout.slots[part.name]
        for declaration in declarations:
            array, first, size = slots[declaration.name]
            if array == "y":
                sizes[first : first + size] = [declaration.nominal or 0.0] * size
        for slot_name, element, *_ in part.signals.values():
            array, first, _ = slots[slot_name]
            if array == "y":
                sizes[first + element] = 0.0
    return np.array(sizes)


def _about_measure(part: Component) -> str:
    """What the value of a measure is: what its class says, and of which signals."""
    summary = (type(part).__doc__ or "").partition("\n")[0].strip().rstrip(".")
    of = [str(getattr(v, "name", v)) for v in part.values.attachments.values() if v is not None]
    return f"{summary} (of {', '.join(of)})" if of else summary
