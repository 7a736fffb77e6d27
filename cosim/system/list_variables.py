"""The variables of a system that users can read, by their paths."""

from __future__ import annotations

from collections.abc import Callable, Container, Iterable, Iterator, Mapping, Sequence
from itertools import chain, repeat
from sys import intern
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.component.component import Component
from cosim.component.declaration import Declaration
from cosim.contracts.measure import Measure
from cosim.system.alike_parts import Alike
from cosim.system.blocks import Slot
from cosim.system.layout import STATE_KINDS
from cosim.system.signals import NOT_READABLE, main_output_or_none
from cosim.system.variable import Variable

if TYPE_CHECKING:
    System = Any


SIGNAL = "cache"
"""The kind of what a part calls its signals."""


class Quantity(NamedTuple):
    """A variable that a part declares: what stands behind the name of the part in its path, and its kind."""

    behind: str
    kind: str
    declaration: Declaration


def is_listed(declaration: Declaration) -> bool:
    """Whether what is declared is a variable that users can read."""
    is_shown = declaration.kind not in NOT_READABLE and not declaration.options.get("internal")
    return is_shown and declaration.size > 0


def listed_quantities(
    all_alike: Iterable[Alike], is_wanted: Callable[[Quantity], object] | None = None
) -> Iterator[tuple[Alike, list[Quantity]]]:
    """Parts that share their declarations with those of their variables that are wanted, in order."""
    listed: dict[int, list[Quantity]] = {}
    for alike in all_alike:
        key = id(alike.declarations)
        if key not in listed:
            listed[key] = list(filter(is_wanted, _quantities_of(alike.parts[0])))
        yield alike, listed[key]


def _quantities_of(part: Component) -> Iterator[Quantity]:
    """The variables that a part declares; a value that its bare name means has no name behind that."""
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


def list_variables(system: System, kinds: Container[str] | None = None) -> Iterator[Variable]:
    """The variables of a system in the order of parts, then of declarations; last the signals of each part.

    For parts that follow each other and share their declarations each variable is a column.

    Parameters
    ----------
    system : System
    kinds : container of str, optional
        The kinds of variables to list, by default all.
    """

    def is_wanted(quantity: Quantity) -> bool:
        return kinds is None or quantity.kind in kinds

    starts: dict[bytes, tuple[float, ...]] = {}
    lists_signals = kinds is None or SIGNAL in kinds
    for alike, quantities in listed_quantities(system.alike, is_wanted):
        slots_of = [system.assembly.layout.slots[name] for name in alike.names]
        columns = [_column_of_quantity(system, alike, slots_of, q, starts) for q in quantities]
        if lists_signals:
            columns += [_column_of_signal(system, alike, slots_of, alias) for alias in alike.parts[0].signals]
        yield from chain.from_iterable(zip(*columns, strict=True))


def _column_of_quantity(
    system: System,
    alike: Alike,
    slots_of: Sequence[Mapping[str, Slot]],
    quantity: Quantity,
    starts: dict[bytes, tuple[float, ...]],
) -> Iterable[Variable]:
    """The variables of one quantity that parts declare; `starts` has the start values met before."""
    names, parts, declaration = alike.names, alike.parts, quantity.declaration
    slots = [slots_of_part[declaration.name] for slots_of_part in slots_of]
    is_measure = quantity.kind == "measure"
    fields = (
        [name + quantity.behind for name in names],
        repeat(quantity.kind),
        slots,
        system.assembly.wiring.paths.units_of_parts(names, declaration),
        system.stages_of(slots),
        repeat(()) if is_measure else [_start(part, declaration, starts) for part in parts],
        _about_measures(parts) if is_measure else repeat(declaration.description),
        repeat(declaration),
    )
    return map(tuple.__new__, repeat(Variable), zip(*fields, strict=False))  # as in `Layout`


def _column_of_signal(
    system: System, alike: Alike, slots_of: Sequence[Mapping[str, Slot]], alias: str
) -> list[Variable]:
    """The variables that parts have under one of the names of their elements."""
    slot_name, element, unit, *text_of = alike.parts[0].signals[alias]
    slots = [slots_of_part[slot_name].part(element) for slots_of_part in slots_of]
    description = alike.declarations[slot_name].description or slot_name
    text = text_of[0] if text_of else f"{description}, element {element}"
    texts = [intern(text.format(part=name) if text_of else text) for name in alike.names]
    return [
        Variable(f"{name}.{alias}", SIGNAL, slot, (unit,), stage, description=text)
        for name, slot, stage, text in zip(alike.names, slots, system.stages_of(slots), texts, strict=True)
    ]


def _start(
    part: Component, declaration: Declaration, starts: dict[bytes, tuple[float, ...]]
) -> tuple[float, ...]:
    """The start values of a variable that a part declares; equal ones are kept once."""
    numbers = part.values.numbers.get(declaration.name)
    if numbers is None:
        return ()
    if numbers.size == 1 != declaration.size:
        numbers = np.repeat(numbers, declaration.size)
    key = numbers.tobytes()
    return starts[key] if key in starts else starts.setdefault(key, tuple(numbers.tolist()))


def nominal_sizes(system: System) -> NDArray[np.float64]:
    """The ``nominal`` of every continuous state, 0 where none is listed that its author has declared."""
    sizes = [0.0] * system.ny
    for alike, states in listed_quantities(system.alike if sizes else (), _is_state_with_nominal):
        for part in alike.parts if states else ():
            slots = system.assembly.layout.slots[part.name]
            for _, _, declaration in states:
                _, first, size = slots[declaration.name]
                sizes[first : first + size] = [declaration.nominal or 0.0] * size
            for slot_name, element, *_ in part.signals.values():
                array, first, _ = slots[slot_name]
                if array == "y":
                    sizes[first + element] = 0.0
    return np.array(sizes)


def _is_state_with_nominal(quantity: Quantity) -> bool:
    """Whether the author of a part has declared how large one of its states usually is."""
    return quantity.declaration.kind in STATE_KINDS and bool(quantity.declaration.nominal)


def _about_measures(parts: Sequence[Component]) -> list[str]:
    """The description of the value of each measure: that of its class, with its signals."""
    summary, about = (type(parts[0]).__doc__ or "").partition("\n")[0].strip().rstrip("."), []
    for part in parts:
        of = [str(getattr(v, "name", v)) for v in part.values.attachments.values() if v is not None]
        about.append(f"{summary} (of {', '.join(of)})" if of else summary)
    return about
