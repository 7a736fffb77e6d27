"""Wiring: signals as slots of the cache, and which input reads which."""

from __future__ import annotations

from array import array
from collections.abc import Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING, Any

import numpy as np

from cosim.component.argument import Argument
from cosim.component.component import Component
from cosim.component.declaration import Declaration
from cosim.errors import CosimError, ModelError, UnitError
from cosim.stage import Stage
from cosim.system import copy_blocks
from cosim.system.alike_parts import parts_with
from cosim.system.blocks import Block, Slot, element_by_element
from cosim.system.connection import Connection
from cosim.system.port_types import type_fault
from cosim.system.signals import Paths, Signal, split_derivative
from cosim.system.unit_inference import UnitInference
from cosim.unit_text import unit_product
from cosim.units import conversion
from cosim.value_text import quote

if TYPE_CHECKING:
    Assembly = Any


class Wiring:
    """Brings signals to where they are read.

    What lies in the cache already, in the right unit, is read where it lies; everything else is copied or
    converted by a block. What is connected to nothing becomes an input of the system.

    Parameters
    ----------
    assembly : Assembly
        Its layout, blocks and problems are added to.
    """

    def __init__(self, assembly: Assembly) -> None:
        self.assembly = assembly
        self._copied: dict[Slot, Slot] = {}
        self._converted: dict[tuple[str, str, int], Slot] = {}
        self._sources: dict[str, str] = {}
        self._connections: dict[str, Connection] = {}  # by input
        self._taken_from: dict[tuple[str, str], str] = {}
        self._computed_derivatives: dict[tuple[str, int], bool] = {}  # derivatives, by path and order
        self.paths = Paths(assembly.parts_by_name, assembly.layout)

    def connect(self, connections: Sequence[Connection | tuple[str, str]]) -> None:
        """Connect sources to inputs; faults become problems of the assembly, all of them."""
        sources: dict[str, str] = {}
        for pair in connections:
            if not isinstance(pair, tuple) or not 2 <= len(pair) <= len(Connection._fields):
                text = f"{quote(pair)} is not a connection: write model.connect(source, input)"
                self.assembly.problem("connections", text)
                continue
            connection = Connection(*pair)
            source, target = connection[:2]
            where = f"{source} → {target}"
            try:
                port = self.signal(target)
                if port.declaration.kind != "input" or port.name != port.declaration.name:
                    self.assembly.problem(where, f"'{target}' is not an input. {self._inputs()}")
                elif "[" in target:
                    self.assembly.problem(where, f"inputs are connected whole: {port.part}.{port.name}")
                elif target in sources:
                    self.assembly.problem(
                        where,
                        f"'{target}' is already connected to '{sources[target]}'; an input has one source.",
                    )
                elif port.name in (given := self.assembly.parts_by_name[port.part].values.given):
                    text = (
                        f"its value, {quote(given[port.name])}, has no effect: it is connected to '{source}'"
                    )
                    self.assembly.problem(target, text)
                else:
                    sources[target] = source
                    self._connections[target] = connection
            except CosimError as error:
                self.assembly.problem(where, str(error))
        self._find_units()
        for name, part, inputs in parts_with(self.assembly.alike, _inputs):
            for port_name in inputs:
                if (path := f"{name}.{port_name}") not in sources:
                    self._free_input(path, name, port_name, part.values.numbers[port_name])
        self._sources = sources
        wired: set[str] = set()
        for target in sources:
            self._wire(target, sources, wired, ())

    def _find_units(self) -> None:
        """Infer the units that are not declared, and bring numbers that were given with one into them."""
        assembly = self.assembly
        links: list[tuple[str, str, str, str]] = []
        for target, connection in self._connections.items():
            owner, _, port = target.partition(".")
            links.append((connection.source, owner, port, connection.factor_unit))
        for name, part, attachments in parts_with(assembly.alike, _sources):
            for attachment in attachments:
                value = part.values.attachments.get(attachment)
                if value is not None:
                    path = value.name if isinstance(value, Component) else str(value)
                    links.append((path, name, attachment, "1"))
        inference = UnitInference(assembly.parts_by_name, links, self.paths.place, assembly.problem)
        self.paths.inferred_units, self._taken_from = inference.units, inference.taken_from
        for name, part in assembly.parts_by_name.items():
            for quantity in part.values.given_units:
                slot = assembly.layout.slots[name][quantity]
                if slot.array in assembly.start:
                    numbers = np.resize(part.values.numbers[quantity], slot.size)
                    assembly.start[slot.array][slot.offset : slot.offset + slot.size] = array("d", numbers)

    def signal(self, path: str) -> Signal:
        """The signal of a path."""
        return self.paths.signal(path)

    def source(self, path: str, unit: str | None = None, order: int = 0) -> Slot:
        """A signal in the cache, in a unit, or its time derivative of this order; NaN for none."""
        signal = self.signal(path)
        size = signal.slot.size
        scales = [(1.0, 0.0) if unit is None else self._scale(signal, i, unit, path) for i in range(size)]
        value = self._value(signal, path) if order == 0 else self._derivative(signal, order)
        if all(scale == (1.0, 0.0) for scale in scales):
            return value
        key = (path, str(unit), order)
        if key not in self._converted:
            self._converted[key] = self.assembly.allocate(f"{path} in {unit}", size)
            self._convert(value, self._converted[key], scales, order, path)
        return self._converted[key]

    def has_derivative(self, path: str, order: int) -> bool:
        """Whether a time derivative of a signal is computed, out of what is known itself.

        The derivative of an input of the whole system does not count: whoever sets the input may give
        it, or not. In a circle it is known if nothing else in the circle is missing.
        """
        computed, needed, pending = self._computed_derivatives, {}, [(path, order)]
        while pending:
            at = pending.pop()
            if at not in computed and at not in needed:
                needed[at] = self._needed(*at)
                pending += needed[at] or ()
        missing = [at for at, requirements in needed.items() if requirements is None]
        missing += {
            below
            for requirements in needed.values()
            for below in requirements or ()
            if not computed.get(below, True)
        }
        needed_by: dict[tuple[str, int], list[tuple[str, int]]] = {}
        for at, requirements in needed.items():
            for below in requirements or ():
                needed_by.setdefault(below, []).append(at)
        lost: set[tuple[str, int]] = set()
        while missing:
            at = missing.pop()
            if at not in lost:
                lost.add(at)
                missing += needed_by.get(at, ())
        computed.update({at: at not in lost for at in needed})
        return computed[path, order]

    def forget_derivatives(self) -> None:
        """Discard the results of `has_derivative`: they rest on an assumption that was wrong."""
        self._computed_derivatives.clear()

    def _needed(self, path: str, order: int) -> list[tuple[str, int]] | None:
        """The derivatives that a derivative is computed from; None where it is not computed."""
        try:
            signal = self.signal(path)
        except CosimError:
            return None
        base, base_order = self._base(signal)
        order += base_order
        if signal.slot.array == "y" and order == 1:
            return []
        if signal.declaration.kind == "input":
            connected = self._sources.get(f"{signal.part}.{signal.declaration.name}")
            return None if connected is None else [(connected, order)]
        part = self.assembly.part(signal.part)
        name = derivative_name(base, order)
        for n, kernel in part.kernels.items():
            arguments = part.arguments[n]
            writes = any(a.name == name and a.effect == "write" for a in arguments)
            if writes and kernel.applies_to(partial(self.assembly.conditions.is_met, part)):
                read = [a for a in arguments if a.slot.startswith("value_dot") and a.role == "offered"]
                return [at for a in read for at in self._source_derivative(part, a)]
        return None

    @staticmethod
    def _source_derivative(part: Component, argument: Argument) -> list[tuple[str, int]]:
        """The derivative of a source that a kernel function reads; none where it does without the source."""
        source = part.values.attachments.get(argument.of)
        if source is None:
            return []
        path = source.name if isinstance(source, Component) else str(source)
        return [(path, int(argument.slot.removeprefix("value_dot") or 1))]

    def in_cache(self, slot: Slot, label: str) -> Slot:
        """A slot of the cache that holds the same numbers."""
        if slot.array == "c":
            return slot
        if slot not in self._copied:
            self._copied[slot] = self.assembly.allocate(label, slot.size)
            self._copy(slot, self._copied[slot], f"copy of {label}")
        return self._copied[slot]

    def _wire(self, target: str, sources: dict[str, str], wired: set[str], above: tuple[str, ...]) -> None:
        """Connect one input, after the input that its source may be."""
        if target in wired:
            return
        if target in above:
            path = " → ".join([*above[above.index(target) :], target][::-1])
            self.assembly.problem(target, f"inputs that are connected to each other in a circle: {path}")
            wired.add(target)
            return
        source = sources[target]
        try:
            signal, port = self.signal(source), self.signal(target)
            source_port = f"{signal.part}.{signal.declaration.name}"
            if source_port in sources:
                self._wire(source_port, sources, wired, (*above, target))
                if target in wired:
                    return
                signal = self.signal(source)
            self._connect_one(source, signal, port)
        except CosimError as error:
            self.assembly.problem(f"{source} → {target}", str(error))
        wired.add(target)

    def _connect_one(self, source: str, signal: Signal, port: Signal) -> None:
        size, layout = port.slot.size, self.assembly.layout
        if signal.slot.size != size:
            raise ModelError.of("", f"'{source}' has {signal.slot.size} elements, the input has {size}.")
        connection = self._connections[f"{port.part}.{port.name}"]
        is_scaled = (connection.factor, connection.offset) != (1.0, 0.0)
        fault = type_fault(source, signal.declaration, port.declaration, is_scaled)
        if fault:
            raise ModelError.of("", fault)
        scales = [self._scale(signal, i, port.unit(i), source, connection) for i in range(size)]
        value, rate = self._value(signal, source), self._derivative(signal)
        slots, name, dot = layout.slots[port.part], port.name, f"{port.name}_dot"
        if all(scale == (1.0, 0.0) for scale in scales):
            slots[name], slots[dot] = value, rate
        else:
            self._convert(value, slots[name], scales, 0, source)
            self._convert(rate, slots[dot], scales, 1, source)

    def _scale(
        self, signal: Signal, index: int, target_unit: str, source: str, connection: Connection | None = None
    ) -> tuple[float, float]:
        """Factor and offset to a unit; the error says where the units come from and what to do."""
        factor_unit = connection.factor_unit if connection else "1"
        unit = unit_product((factor_unit, signal.unit(index)))
        unit_source = self._taken_from.get((signal.part, signal.declaration.name))
        try:
            scale, shift = conversion(unit, target_unit)
        except UnitError as error:
            origin = f", taken from {unit_source}" if unit_source else ""
            missing = unit_product((target_unit,), (signal.unit(index),))
            remedy = f"give the connection, or a measures.scale between them, a factor = '… {missing}'"
            raise UnitError(
                f"'{source}' is in {signal.unit(index)}{origin}, {target_unit} is needed here: {error} "
                f"Correct the unit of one of them, or {remedy}."
            ) from None
        factor, offset = connection.numbers(unit) if connection else (1.0, 0.0)
        return scale * factor, scale * offset + shift

    def _value(self, signal: Signal, path: str) -> Slot:
        return self.in_cache(signal.slot, path)

    def _derivative(self, signal: Signal, order: int = 1) -> Slot:
        """The slot of a derivative of a signal; a slot of NaN where it is not computed."""
        slots, slot = self.assembly.layout.slots[signal.part], signal.slot
        if slot.array == "y" and order == 1:
            return Slot("c", slot.offset, slot.size)
        base, base_order = self._base(signal)
        name = derivative_name(base, order + base_order)
        part = self.assembly.part(signal.part)
        written = any(
            a.name == name and a.effect == "write"
            for n, kernel in part.kernels.items()
            if kernel.applies_to(partial(self.assembly.conditions.is_met, part))
            for a in part.arguments[n]
        )
        if name in slots and slots[name].array == "c" and (signal.declaration.kind == "input" or written):
            named = base if not base_order else derivative_name(base, base_order)
            return slots[name].part(slot.offset - slots[named].offset, slot.size)
        return self.assembly.nan_slot(slot.size)

    @staticmethod
    def _base(signal: Signal) -> tuple[str, int]:
        """The declared quantity that a signal is, and which derivative of it."""
        if signal.name in (signal.declaration.name, f"{signal.declaration.name}_dot"):
            return split_derivative(signal.name)
        return signal.declaration.name, 0  # a name for one of its elements

    def _convert(
        self, slot: Slot, target: Slot, scales: Sequence[tuple[float, float]], order: int, label: str
    ) -> None:
        """A value or a derivative of this order, each by itself: a reader of one waits for no other."""
        rows = []
        for i, (factor, offset) in enumerate(scales):
            at = self.assembly.constant("p", (factor, 0.0 if order else offset)).offset
            rows.append([slot.offset + i, target.offset + i, at, at + 1])
        self._add(copy_blocks.convert, rows, (slot,), (target,), f"unit of {label}")

    def _free_input(self, path: str, part: str, name: str, numbers: Any) -> None:
        """Add an input that nothing feeds: value, slope (NaN: held) and time in d; a block evaluates it."""
        assembly, size = self.assembly, len(numbers)
        value = assembly.constant("d", numbers)
        slope = assembly.constant("d", [float("nan")] * size)
        since = assembly.constant("d", [0.0] * size)
        assembly.free_inputs[path], assembly.input_courses[path] = value, (slope, since)
        target, rate = (assembly.layout.slots[part][quantity] for quantity in (name, f"{name}_dot"))
        row = [value.offset, slope.offset, since.offset, target.offset, rate.offset, size]
        reads, writes = (value, slope, since), (target, rate)
        self._add(copy_blocks.follow_course, [row], reads, writes, f"input {path}")

    def _copy(self, source: Slot, target: Slot, label: str) -> None:
        row = [source.offset, target.offset, source.size]
        self._add(copy_blocks.COPIES[source.array], [row], (source,), (target,), label)

    def _add(
        self, function: Any, rows: Any, reads: tuple[Slot, ...], writes: tuple[Slot, ...], label: str
    ) -> None:
        block = Block(
            function, rows, Stage.INSTANCE, reads, writes, (), label,
            mergeable=True, find_flows=element_by_element,
        )  # fmt: skip
        self.assembly.blocks.append(block)

    def _inputs(self) -> str:
        parts = parts_with(self.assembly.alike, _inputs)
        inputs = [f"{name}.{port_name}" for name, _, names in parts for port_name in names]
        return f"Inputs: {', '.join(inputs)}." if inputs else "There are no inputs."


def _inputs(listed: Mapping[str, Declaration]) -> list[str]:
    """The inputs among what is declared."""
    return [d.name for d in listed.values() if d.kind == "input"]


def _sources(listed: Mapping[str, Declaration]) -> list[str]:
    """The attachments among what is declared that read a signal."""
    return [d.name for d in listed.values() if d.kind == "attachment" and d.options["provides"] == "source"]


def derivative_name(name: str, order: int) -> str:
    """The name of the time derivative of a declared quantity: ``value_dot``, ``value_dot2``."""
    return f"{name}_dot" if order == 1 else f"{name}_dot{order}"
