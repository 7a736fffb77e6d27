"""The tables of what is remembered: histories, auto-update variables, and blocks that read the past."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from cosim.component.declaration import Declaration
from cosim.component.history import RING
from cosim.contracts.method_kernels import SMOOTH_UNTIL, slots_named
from cosim.preparation.run_layout import RunLayout
from cosim.run_data.records.past import ON_ALL, ON_MOTION, ON_REPORTS, PastRow, Smoothness
from cosim.stage import Stage
from cosim.step.histories import ROOM_FOR_REFINEMENT, ROOM_FOR_STEP
from cosim.system.alike_parts import parts_with
from cosim.system.auto_updates import BREAK_ORDER
from cosim.system.blocks import Block, Slot
from cosim.system.part_conditions import source_slot
from cosim.system.system import System

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
        for name, _, listed in parts_with(system.alike, _noticed)
        for declaration in listed
    ]


def _noticed(declarations: Mapping[str, Declaration]) -> list[Declaration]:
    return [d for d in declarations.values() if d.kind == "cache" and d.options.get("notice")]


def write_updates(system: System, layout: RunLayout) -> None:
    """Write which rows update what is remembered, and when."""
    plan = layout.plan
    for rows, name in (
        (plan.end_updates, "end"),
        (plan.inside_updates, "inside"),
        (plan.between_updates, "between"),
    ):
        updates = system.update_ranges[name]
        rows.first, rows.last = updates.start, updates.stop
    plan.remembers = int(system.has_updates)
    refines = not plan.between_updates.is_empty()
    plan.room = ROOM_FOR_STEP + (ROOM_FOR_REFINEMENT if refines else 0)


def write_checked_rows(system: System, layout: RunLayout, first_row: int) -> list[int]:
    """Write which blocks check histories between the ends of steps; they are watched from `first_row` on.

    The table holds two lists of rows: first those that compute the values alone, then those that compute
    the values with their derivatives. Each ends with the updates themselves.
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
    rows = [*for_values, *updates, *for_all, *updates]  # up to `checked_values`, then the rest
    layout.add_table("checked_blocks", rows)
    return rows


def write_memories(system: System, layout: RunLayout, notices: list[Notice], may_wait: bool) -> None:
    """Write the sources of histories, auto-update variables, rings, notices and blocks that read the past.

    With `may_wait` blocks that nothing needs before the end of the next step wait for it.
    """
    layout.add_records(
        "smoothness", [Smoothness(offset, int(at_once)) for offset, at_once in system.smoothness]
    )
    swaps = [
        np.column_stack([updates, np.full_like(updates, "ypdk".index(array)), variables, _dependents(stages)])
        for array, updates, variables, stages in system.swaps
    ]
    layout.add_table("swaps", np.concatenate(swaps) if swaps else [])
    layout.add_table("rings", [ring.offset for ring in system.rings])
    layout.add_table("followed_states", followed_states(system))
    offsets = [notice.offset for notice in notices]
    layout.add_table("notices", offsets)
    read_by_step = {*slots_named(system, SMOOTH_UNTIL), *slots_named(system, BREAK_ORDER), *offsets}
    past, past_results = past_rows(system, read_by_step if may_wait else None)
    layout.add_records("past", past)
    layout.add_table("past_results", past_results)
    layout.reserve("past_results_before", "scratch", len(past_results))


def followed_states(system: System) -> list[int]:
    """The index of the state that each history remembers; -1 if it remembers another signal."""
    followed: list[int] = []
    for name in dict.fromkeys(system.remembering):
        for declaration in system.parts[name].declarations.values():
            if declaration.kind == "history":
                rings = system.assembly.layout.slots[name][f"{declaration.name}_ring"].size // RING
                slot = source_slot(system.assembly, system.parts[name], declaration.options["of"])
                is_state = slot is not None and slot.array == "y" and slot.size == rings
                followed += [slot.offset + i if slot is not None and is_state else -1 for i in range(rings)]
    return followed


def past_rows(system: System, read_by_step: set[int] | None) -> tuple[list[PastRow], list[int]]:
    """The blocks of an evaluation that read histories, and what others read of their results.

    Some of these blocks wait: they run at the end of the next step, or when they are read. See
    `_waiting_rows`; with None for `read_by_step` no block waits.

    Parameters
    ----------
    system : System
    read_by_step : set of int, optional
        Offsets in the cache that the Step itself reads, so that what computes them cannot wait.

    Returns
    -------
    past : list of PastRow
    results : list of int
        Offsets in the cache.

    Both are empty where a block that reads histories does more than write results of its own.
    """
    first, last = system.derivative_range
    blocks = {i: system.blocks[i] for i in range(first, last)}
    reading = _rows_reading_histories(system, blocks)
    if not reading or any(_writes_elsewhere(blocks[i]) for i in reading):
        return [], []
    waiting = [] if read_by_step is None else _waiting_rows(system, blocks, reading, read_by_step)
    layout = system.assembly.layout
    others = (block for i, block in blocks.items() if i not in reading and i not in waiting)
    read_by_others = {region for block in others for region in layout.regions_of((*block.reads, *block.adds))}
    results = [
        offset
        for i in reading
        for slot in blocks[i].writes
        if slot.size and layout.region_of(slot.offset) in read_by_others
        for offset in range(slot.offset, slot.offset + slot.size)
    ]
    return [PastRow(i, int(i in waiting)) for i in sorted({*reading, *waiting})], results


def _rows_reading_histories(system: System, blocks: dict[int, Block]) -> list[int]:
    """The blocks that read a history, or the indices of its ring."""
    if not system.rings and not system.assembly.layout.sizes["h"]:
        return []
    rings = {slot.offset for slot in system.rings}

    def is_of_history(slot: Slot) -> bool:
        return slot.array == "h" or (slot.array == "k" and slot.offset in rings)

    return [i for i, block in blocks.items() if any(map(is_of_history, block.reads))]


def _writes_elsewhere(block: Block) -> bool:
    """Whether a block adds to a variable, or writes outside of the cache."""
    return bool(block.adds) or any(slot.array != "c" for slot in block.writes)


def _waiting_rows(
    system: System, blocks: dict[int, Block], reading: list[int], read_by_step: set[int]
) -> list[int]:
    """The blocks that may wait: those that read histories, and those that read their results.

    A block may not wait where derivatives need it, or the Step, which reads `read_by_step`. None waits where
    one of them adds to a variable, since its term would be missing until then.
    """
    layout = system.assembly.layout
    needed = {*system.inner_blocks, *system.needed_blocks(read_by_step)}
    changed = {region for i in reading for region in layout.regions_of(blocks[i].writes)}
    waiting: list[int] = []
    for i, block in blocks.items():
        if i not in needed and (i in reading or set(layout.regions_of(block.reads)) & changed):
            waiting.append(i)
            changed |= set(layout.regions_of(block.writes))
    return [] if any(blocks[i].adds for i in waiting) else waiting


def _dependents(stages: Integers) -> Integers:
    """The rows that depend on variables of these stages: all, the motion, or reports alone."""
    beyond = np.where(stages <= Stage.ACCELERATION, ON_MOTION, ON_REPORTS)
    return np.where(stages <= Stage.INSTANCE, ON_ALL, beyond)
