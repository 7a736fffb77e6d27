"""The forces of one part of a system, separated from the sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim import Stage
from cosim.kit import Block, BlockRow, Slot

if TYPE_CHECKING:
    from cosim import State, System


@dataclass(frozen=True)
class ForceContribution:
    """The forces of one element.

    Attributes
    ----------
    bodies : dict of str to ndarray, shape (6,)
        By body the spatial force about the body's origin, in Ground: moment (N.m),
        then force (N).
    coordinates : dict of str to ndarray, shape (nu,)
        By joint the generalized forces, N.m or N.
    inertias : dict of str to ndarray, shape (nu,)
        By joint the inertias of rotors that it adds, kg.m2 or kg.
    """

    bodies: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    coordinates: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    inertias: dict[str, NDArray[np.float64]] = field(default_factory=dict)


class _Row(NamedTuple):
    """A call of a kernel function for one part."""

    address: int
    first: int  # its integers in `ints`
    stage: Stage
    adds: tuple[Slot, ...]  # the accumulators of this part


@dataclass(frozen=True)
class _Plan:
    """The blocks that compute the forces of a part: determined once for each part of a system."""

    stage: Stage
    rows: list[_Row]
    targets: dict[tuple[str, str], Slot]

    @property
    def table(self) -> NDArray[np.int64]:
        """The rows as a table of blocks."""
        rows = [BlockRow(row.address, row.first, 1) for row in self.rows]
        return np.array(rows, dtype=np.int64).reshape(len(rows), len(BlockRow._fields))


def force_contribution(state: State, name: str) -> ForceContribution:
    """The forces of the part `name` on bodies and coordinates; realizes the State as far as needed."""
    system = state.system
    plans: dict[str, _Plan] = system.__dict__.setdefault("_contribution_plans", {})
    if name not in plans:
        plans[name] = _plan(system, name)
    plan = plans[name]
    state.realize(plan.stage)
    cache = system.arrays(state).c.copy()
    for slot in plan.targets.values():
        cache[slot.offset : slot.offset + slot.size] = 0.0
    arrays = system.arrays(state)._replace(c=cache)
    failed = system.walk_blocks(plan.table, 0, len(plan.rows), state.time, arrays)
    if failed:
        raise system.failure(state, _index_of(system.table[: len(system.blocks)], plan.rows[failed - 1]))
    contribution = ForceContribution()
    for (owner, quantity), slot in plan.targets.items():
        values = cache[slot.offset : slot.offset + slot.size]
        if quantity == "F_GB":
            contribution.bodies[owner] = values
        elif quantity == "tau":
            contribution.coordinates[owner] = values
        elif quantity == "added_inertia":
            contribution.inertias[owner] = values
    return contribution


def _plan(system: System, name: str) -> _Plan:
    blocks = system.blocks[: system.derivative_range[1]]
    rows = [
        row for i, block in enumerate(blocks) for row in _rows_of(name, i, block, system.table) if row.adds
    ]
    added = [slot for row in rows for slot in row.adds]
    slots = system.assembly.layout.slots
    return _Plan(
        max([Stage.DYNAMICS, *(row.stage for row in rows)]),
        rows,
        {
            (part, quantity): slot
            for part, slots_of_part in slots.items()
            for quantity, slot in slots_of_part.items()
            if any(slot.overlaps(accumulator) for accumulator in added)
        },
    )


def _rows_of(name: str, index: int, block: Block, table: Any) -> list[_Row]:
    """The rows of a block that belong to a part."""
    count = block.rows.shape[0]
    if name not in block.owners or len(block.owners) != count:
        return []
    size = len(block.adds) // count  # accumulators of each row
    width = block.rows.shape[1]
    merged = BlockRow(*table[index])
    return [
        _Row(merged.function, merged.first + i * width, block.stage, block.adds[i * size : (i + 1) * size])
        for i, owner in enumerate(block.owners)
        if owner == name
    ]


def _index_of(table: Any, row: _Row) -> int:
    """The index of the block that contains a row."""
    blocks = BlockRow(*table.T)
    return int(np.flatnonzero((blocks.function == row.address) & (blocks.first <= row.first))[-1])
