"""The blocks of an evaluation on which only its results depend, not the course of the run."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim import System
from cosim.kit import (
    Block,
    Corrections,
    MethodSlots,
    Plan,
    Run,
    has_constraints,
    place_in,
    rows_of,
    width_of,
)
from cosim_lowering.program import Program

TABLES_AT = 2 * len(Run.PARTS) + width_of(Plan)
"""Where the tables of the array `program` begin, behind the directory and the plan."""


def reported_alone(program: Program, raising: Collection[str]) -> list[int]:
    """Rows of an evaluation of the derivatives on which nothing in a run depends.

    Neither derivatives nor what limits steps, witnesses, handlers, updates and corrections depend on them;
    outputs may. Rows whose functions can raise (`raising` has their names) are left out.
    """
    slots = program.arrays["slots"]
    if slots.size and has_constraints(rows_of(Corrections, slots, 0, 1)[0]):
        return []  # constraints are corrected by blocks whose reads are declared nowhere
    system, table = program.system, program.arrays["table"]
    names = {number: name for name, number in program.numbers.items()}
    read_regions = _regions_read_elsewhere(program)
    first, last = system.derivative_range
    alone = []
    for i in reversed(range(first, last)):
        block = system.blocks[i]
        only_computes = all(slot.array == "c" for slot in (*block.writes, *block.adds))
        can_raise = names[int(table[i, 0])] in raising
        is_read = bool(_regions(system, block, "writes", "adds") & read_regions)
        if only_computes and not can_raise and not is_read:
            alone.append(i)
        else:
            read_regions |= _regions(system, block, "reads", "adds")
    return alone[::-1]


def _regions_read_elsewhere(program: Program) -> set[int]:
    """Regions of the cache that are read by others than blocks of the evaluation and of reports."""
    system, arrays = program.system, program.arrays
    slots = np.delete(
        arrays["slots"], [place_in(MethodSlots, name) for name in ("inner_first", "inner_last")]
    )
    # Numbers that are no offsets are taken for offsets, too: then more is computed than necessary.
    offsets = np.concatenate(
        [np.arange(system.ny), slots, _table_entries(arrays["program"]), arrays["probe"]]
    )
    size = arrays["c"].size
    read_regions = {system.assembly.layout.region_of(int(at)) for at in offsets if 0 <= at < size}
    first, last = system.derivative_range
    reports = range(last, rows_of(Plan, arrays["program"], 0, 1)[0].report_end)
    for i, block in enumerate(system.blocks):
        if i not in reports and not first <= i < last:
            read_regions |= _regions(system, block, "reads", "adds")
    return read_regions


def _regions(system: System, block: Block, *kinds: str) -> set[int]:
    """The regions of the slots that a block ``reads``, ``writes`` or ``adds``."""
    layout = system.assembly.layout
    return {region for kind in kinds for region in layout.regions_of(getattr(block, kind))}


def _table_entries(program: NDArray[np.int64]) -> NDArray[np.int64]:
    """The entries of the tables, without the places of blocks and of other tables in the rows of handlers."""
    entries = program.copy()
    arrays: Any = (entries if name == "program" else None for name in Run._fields)
    for handler in Run(*arrays).handlers:
        handler.block = handler.times_at = handler.results_at = -1
    return entries[TABLES_AT:]
