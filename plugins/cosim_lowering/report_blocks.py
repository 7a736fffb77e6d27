"""The blocks of an evaluation that only readers of its results need."""

from __future__ import annotations

from collections.abc import Collection
from typing import Any

import numpy as np
from numpy.typing import NDArray

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
"""Place of the tables, behind the plan and the directory of a program."""


def reported_alone(program: Program, raising: Collection[str]) -> list[int]:
    """Rows of the table, of an evaluation of the derivatives, that nothing in a run depends on.

    Neither derivatives nor what limits steps, witnesses, handlers, updates and corrections depend on them;
    outputs may. One that can raise (`raising` has their names) is none of them.
    """
    system, arrays = program.system, program.arrays
    slots, (first, last) = arrays["slots"], system.derivative_range
    if slots.size and has_constraints(rows_of(Corrections, slots, 0, 1)[0]):
        return []  # constraints are corrected by blocks that say nowhere what they read
    layout_of = system.assembly.layout
    reports = range(last, rows_of(Plan, arrays["program"], 0, 1)[0].report_end)

    def regions(block: Block, *kinds: str) -> set[int]:
        return {region for kind in kinds for region in layout_of.regions_of(getattr(block, kind))}

    # Numbers that are no offsets are taken for some, too: that only leaves more to be computed.
    slots = np.delete(slots, [place_in(MethodSlots, name) for name in ("inner_first", "inner_last")])
    looked_at = np.concatenate([np.arange(system.ny), slots, _listed(arrays["program"]), arrays["probe"]])
    size = arrays["c"].size
    read_regions = {layout_of.region_of(int(offset)) for offset in looked_at if 0 <= offset < size}
    for i, block in enumerate(system.blocks):
        if i not in reports and not first <= i < last:
            read_regions |= regions(block, "reads", "adds")
    names = {number: name for name, number in program.numbers.items()}
    alone = []
    for i in range(last - 1, first - 1, -1):
        block = system.blocks[i]
        only_computes = all(slot.array == "c" for slot in (*block.writes, *block.adds))
        can_raise = names[int(arrays["table"][i, 0])] in raising
        if only_computes and not can_raise and not regions(block, "writes", "adds") & read_regions:
            alone.append(i)
        else:
            read_regions |= regions(block, "reads", "adds")
    return alone[::-1]


def _listed(program: NDArray[np.int64]) -> NDArray[np.int64]:
    """The entries of the tables, except places of blocks and of other tables in the rows of handlers."""
    listed = program.copy()
    arrays: Any = (listed if name == "program" else None for name in Run._fields)
    for handler in Run(*arrays).handlers:
        handler.block = handler.times_at = handler.results_at = -1
    return listed[TABLES_AT:]
