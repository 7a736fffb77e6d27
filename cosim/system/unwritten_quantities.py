"""Quantities of an assembly that no function writes: results, derivatives, values that are read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from cosim.component.declaration import Declaration
from cosim.system.alike_parts import parts_with
from cosim.system.layout import STATE_KINDS
from cosim.system.signals import split_derivative

if TYPE_CHECKING:
    Assembly = Any


def check_results(assembly: Assembly, written: set[int]) -> None:
    """Report derivatives of states and outputs that no function writes."""
    parts, slots = assembly.parts_by_name, assembly.layout.slots
    listed = [
        (name, result, slots[name][result])
        for name, _, results in parts_with(assembly.alike, _results)
        for result in results
    ]
    regions = assembly.layout.first_regions(slot for *_, slot in listed)
    for (name, result, _), region in zip(listed, regions, strict=True):
        if region not in written:
            cls = type(parts[name]).__name__
            text = f"nothing computes {result}: give {cls} a kernel function that writes {result}[0] = …"
            assembly.problem(name, text)


def mark_unknown(assembly: Assembly, written: set[int]) -> None:
    """Have declared derivatives that no function writes set to NaN."""
    with_derivatives = parts_with(assembly.alike, _declared_derivatives)
    slots = [assembly.layout.slots[name].get(key) for name, _, keys in with_derivatives for key in keys]
    in_cache = [slot for slot in slots if slot is not None and slot.array == "c"]
    regions = assembly.layout.first_regions(in_cache)
    unwritten = (slot for slot, region in zip(in_cache, regions, strict=True) if region not in written)
    assembly.nan_slots.extend(unwritten)


def check_sources(assembly: Assembly, written: set[int]) -> None:
    """Report each value that a component reads from the cache and that no block computes, once."""
    if assembly.has_problems:
        return
    computed = written.union(assembly.graph.adds.numbers.tolist())
    computed.update(
        assembly.layout.regions_of((*assembly.nan_slots, assembly.side, *assembly.smoothness.values()))
    )
    updates = (block for blocks in assembly.updates.values() for block in blocks)
    updates_and_handlers = (
        (block, assembly.layout.regions_of(block.reads)) for block in (*updates, *assembly.handlers.values())
    )
    for block, regions in (*zip(assembly.blocks, assembly.graph.reads, strict=True), *updates_and_handlers):
        for region in () if computed.issuperset(regions) or not block.owners else regions:
            if region not in computed:
                computed.add(region)
                name = assembly.layout.region_name(region)
                reader = f"{block.owners[0]} ({block.label})"
                assembly.problem(
                    name.partition(".")[0], f"{reader} reads {name}, which nothing here computes"
                )


def _results(listed: Mapping[str, Declaration]) -> list[str]:
    """The derivatives of states and the outputs that functions have to write."""
    results = []
    for declaration in listed.values():
        is_output = declaration.kind == "output" and not declaration.accumulates
        if declaration.size and (is_output or declaration.kind in STATE_KINDS):
            results.append(declaration.name if is_output else f"{declaration.name}_dot")
    return results


def _declared_derivatives(listed: Mapping[str, Declaration]) -> list[str]:
    """The quantities that are derivatives of others, by their names."""
    derivatives = []
    for name in listed:
        base, order = split_derivative(name)
        if order and base in listed:
            derivatives.append(name)
    return derivatives
