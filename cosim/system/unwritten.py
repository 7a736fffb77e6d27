"""What an assembly asks for and no function writes: results, derivatives, values that are read."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from cosim.system.signals import split_derivative

if TYPE_CHECKING:
    Assembly = Any


def check_results(assembly: Assembly, written: set[int]) -> None:
    """Derivatives of states, and outputs, that no function writes."""
    for name, part in assembly.parts_by_name.items():
        for declaration in part.declarations.values():
            is_state = declaration.kind in ("position", "speed", "auxiliary")
            is_output = declaration.kind == "output" and not declaration.accumulates
            if not (is_state or is_output) or not declaration.size:
                continue
            result = f"{declaration.name}_dot" if is_state else declaration.name
            if assembly.layout.region_of(assembly.layout.slots[name][result].offset) not in written:
                assembly.problem(
                    name,
                    f"nothing computes {result}: give {type(part).__name__} a kernel function that "
                    f"writes {result}[0] = …",
                )


def mark_unknown(assembly: Assembly, written: set[int]) -> None:
    """A declared derivative that is not computed is not a number."""
    for name, part in assembly.parts_by_name.items():
        for declared in part.declarations:
            base, order = split_derivative(declared)
            slot = assembly.layout.slots[name].get(declared) if order and base in part.declarations else None
            if slot and slot.array == "c" and assembly.layout.region_of(slot.offset) not in written:
                assembly.nan_slots.append(slot)


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
