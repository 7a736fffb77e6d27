"""Access to the table of records that the blocks of a solver share."""

from __future__ import annotations

import cosim
from cosim_dynamics.mechanism import mechanism_at


def row_starts(system: cosim.System) -> dict[str, int]:
    """Return where in the integers the rows of each block of the solver begin, by the block's label."""
    return {
        block.label: int(system.table[i, 1])
        for i, block in enumerate(system.blocks)
        if block.label.startswith("dynamics: ") and "equations of " not in block.label
    }


def mechanism_of(system):
    """Return the mechanism of a system."""
    return mechanism_at(system.ints, row_starts(system)["dynamics: poses"])
