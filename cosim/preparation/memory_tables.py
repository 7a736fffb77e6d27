"""The tables of what is remembered: histories, auto-update variables, and blocks that read the past."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.method_kernels import SMOOTH_UNTIL, slots_named
from cosim.preparation.run_layout import RunLayout
from cosim.run_data.records import ON_ALL, ON_MOTION, ON_REPORTS, PastRow, Smoothness
from cosim.stage import Stage
from cosim.step.histories import ROOM_FOR_REFINEMENT, ROOM_FOR_STEP
from cosim.system.blocks import Slot
from cosim.system.system import BREAK_ORDER, System

Integers = NDArray[np.int64]


@dataclass(frozen=True)
class Notice:
    """A variable of the cache that a component sets to another value than 0 to say something."""

    path: str
    text: str
    offset: int


def list_notices(system: System) -> list[Notice]:
    """The notices of all parts."""
    return [
        Notice(
            f"{name}.{declaration.name}",
            str(declaration.options["notice"]),
            system.assembly.layout.slots[name][declaration.name].offset,
        )
        for name, part in system.parts.items()
        for declaration in part.declarations.values()
        if declaration.kind == "cache" and declaration.options.get("notice")
    ]


def write_updates(system: System, layout: RunLayout) -> None:
    """Write which rows update what is remembered, and when."""
    plan = layout.plan
    for rows, name in (
        (plan.end_updates, "end"),
        (plan.inside_updates, "inside"),
        (plan.between_updates, "between"),
    ):
        rows.first, rows.last = system.update_ranges[name]
    plan.remembers = int(system.has_updates)
    refines = not plan.between_updates.is_empty()
    plan.room = ROOM_FOR_STEP + (ROOM_FOR_REFINEMENT if refines else 0)


def write_checked_rows(system: System, layout: RunLayout, first_row: int) -> list[int]:
    """Write which blocks check histories between the ends of steps; they are watched from `first_row` on.

    First those for the values alone, then those for the values with their derivatives.
    """
    plan = layout.plan
    updates = list(range(plan.between_updates.first, plan.between_updates.last))
    if not updates:
        return []
    assembly = system.assembly
    read = [slot for row in updates for slot in system.blocks[row].reads if slot.array == "c"]
    values = [slot for slot in read if slot not in assembly.remembered_rates]
    values += [slot for slots in assembly.remembered.values() for slot in slots if slot in read]
    for_all, for_values = (
        system.needed_blocks({offset for slot in slots for offset in slot.elements})
        for slots in (read, values)
    )
    plan.first_checked, plan.checked_values = first_row, len(for_values) + len(updates)
    rows = [*for_values, *updates, *for_all, *updates]
    layout.add_table("checked_blocks", rows)
    return rows


def write_memories(system: System, layout: RunLayout, notices: list[Notice], may_wait: bool) -> None:
    """Write the sources of histories, auto-update variables, rings, notices and blocks that read the past.

    With `may_wait` blocks that nothing needs before the end of the next step wait for it.
    """
    layout.add_records(
        "smoothness", [Smoothness(offset, int(at_once)) for offset, at_once in system._smoothness]
    )
    swaps = [
        np.column_stack([updates, np.full_like(updates, "ypdk".index(name)), variables, _depends(stages)])
        for name, updates, variables, stages in system._swaps
    ]
    layout.add_table("swaps", np.concatenate(swaps) if swaps else [])
    layout.add_table("rings", [ring.offset for ring in system.rings])
    offsets = [notice.offset for notice in notices]
    layout.add_table("notices", offsets)
    read_by_step = {*slots_named(system, SMOOTH_UNTIL), *slots_named(system, BREAK_ORDER), *offsets}
    past, past_results = past_rows(system, read_by_step if may_wait else None)
    layout.add_records("past", past)
    layout.add_table("past_results", past_results)
    layout.reserve("past_results_before", "scratch", len(past_results))


def past_rows(system: System, read_by_step: set[int] | None) -> tuple[list[PastRow], list[int]]:
    """Blocks of an evaluation that read histories, and where in the cache others read what they found.

    A block may wait: for the end of the next step, or until it is read. Those wait, and what follows them,
    that neither derivatives need nor the Step itself, which reads the places `read_by_step` in the cache;
    none where that is None. Both lists are empty where a block that reads histories does more than write
    results of its own.
    """
    layout = system.assembly.layout
    rings = {slot.offset for slot in system.rings}
    first, last = system.derivative_range

    def regions(*slots: Slot) -> set[int]:
        return set(layout.regions_of(slots))

    blocks = {i: system.blocks[i] for i in range(first, last)}
    rows = [
        i
        for i, block in blocks.items()
        if any(s.array == "h" or (s.array == "k" and s.offset in rings) for s in block.reads)
    ]
    if not rows or any(blocks[i].adds or any(s.array != "c" for s in blocks[i].writes) for i in rows):
        return [], []
    waiting = [] if read_by_step is None else _waiting_rows(system, blocks, rows, read_by_step)
    read: set[int] = set()
    for i, block in blocks.items():
        if i not in rows and i not in waiting:
            read |= regions(*block.reads, *block.adds)
    written = [s for i in rows for s in blocks[i].writes if s.size and layout.region_of(s.offset) in read]
    offsets = [offset for slot in written for offset in range(slot.offset, slot.offset + slot.size)]
    return [PastRow(i, int(i in waiting)) for i in sorted({*rows, *waiting})], offsets


def _waiting_rows(
    system: System, blocks: dict[int, Any], rows: list[int], read_by_step: set[int]
) -> list[int]:
    """Of the blocks that read histories, and of what follows them, those that nothing needs at once."""
    layout = system.assembly.layout
    needed = {*system.inner_blocks, *system.needed_blocks(read_by_step)}
    changed = {region for i in rows for region in layout.regions_of(blocks[i].writes)}
    waiting: list[int] = []
    for i, block in blocks.items():
        if i not in needed and (i in rows or set(layout.regions_of(block.reads)) & changed):
            waiting.append(i)
            changed |= set(layout.regions_of(block.writes))
    return [] if any(blocks[i].adds for i in waiting) else waiting


def _depends(stages: Integers) -> Integers:
    """What depends on variables that invalidate these stages: all, the motion, or reports alone."""
    beyond = np.where(stages <= Stage.ACCELERATION, ON_MOTION, ON_REPORTS)
    return np.where(stages <= Stage.INSTANCE, ON_ALL, beyond)
