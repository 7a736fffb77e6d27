"""What changes at the end of a step in a system: auto-update variables, and what histories remember."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.system.assembly import Assembly
from cosim.system.signals import main_output

BREAK_ORDER = "break_order"
"""Name of the cache slots in which delays say that a break has arrived."""


class Swaps(NamedTuple):
    """Auto-update variables in one array of the State.

    Attributes
    ----------
    array : str
        "d" or "k".
    updates, variables, stages : ndarray of int64, shape (n,)
        Of each variable the offset of its new value in the cache, its own offset, and the stage that a
        change invalidates.
    """

    array: str
    updates: NDArray[np.int64]
    variables: NDArray[np.int64]
    stages: NDArray[np.int64]


def list_swaps(assembly: Assembly) -> list[Swaps]:
    """The auto-update variables of a system, those in d before those in k."""
    swaps = []
    for array in "dk":
        rows = [
            (update.offset + i, variable.offset + i, assembly.base_stage(variable))
            for update, variable in assembly.swaps
            for i in range(variable.size)
            if variable.array == array
        ]
        if rows:
            updates, variables, stages = np.array(rows, dtype=np.int64).T
            swaps.append(Swaps(array, updates, variables, stages))
    return swaps


def list_smoothness(assembly: Assembly) -> list[tuple[int, bool]]:
    """List where updates read the smoothness, and whether a source follows a delayed signal at once.

    A source that follows it through an integration at least is one order smoother.
    """
    layout = assembly.layout
    delayed = [
        layout.slots[name][main_output(part)]
        for declarations, names, parts in assembly.alike
        if BREAK_ORDER in declarations
        for name, part in zip(names, parts, strict=True)
    ]
    follows = assembly.graph.followers([s for s in delayed if s.array == "c"])
    smoothness = []
    for name, slot in assembly.smoothness.items():
        sources = [s.offset for s in assembly.remembered.get(name, ()) if s.array == "c"]
        smoothness.append((slot.offset, any(layout.region_of(at) in follows for at in sources)))
    return smoothness
