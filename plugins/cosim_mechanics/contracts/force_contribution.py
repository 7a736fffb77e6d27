"""The forces of one part of a system, separated from the sums."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from cosim import Stage
from cosim.kit import Block, Slot

if TYPE_CHECKING:
    from cosim import State, System


@dataclass(frozen=True)
class ForceContribution:
    """The forces of one element.

    Attributes
    ----------
    bodies : dict of str to ndarray, shape (6,)
        For each body that it acts on the spatial force about the body's origin, in Ground: moment (N.m),
        then force (N).
    coordinates : dict of str to ndarray, shape (nu,)
        For each joint that it acts on the generalized forces, N.m or N.
    inertias : dict of str to ndarray, shape (nu,)
        For each joint to which it adds the inertia of a rotor, that, kg.m2 or kg.
    """

    bodies: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    coordinates: dict[str, NDArray[np.float64]] = field(default_factory=dict)
    inertias: dict[str, NDArray[np.float64]] = field(default_factory=dict)


@dataclass(frozen=True)
class _Plan:
    """The blocks that compute the forces of a part: determined once for each part of a system."""

    stage: Stage
    rows: list[Any]
    targets: dict[tuple[str, str], Slot]


def force_contribution(state: State, name: str) -> ForceContribution:
    """The forces of the part `name` on bodies and coordinates; realizes the State as far as needed."""
    system = state.system
    plans: dict[str, _Plan] = system.__dict__.setdefault("_contribution_plans", {})
    if name not in plans:
        plans[name] = _plan(system, name)
    plan = plans[name]
    state.realize(plan.stage)
    y, p, d, k, h, cache = system.arrays(state)
    cache = cache.copy()
    for slot in plan.targets.values():
        cache[slot.offset : slot.offset + slot.size] = 0.0
    table = np.array(plan.rows, dtype=np.int64).reshape(len(plan.rows), 3)
    failed = system.walk_blocks(table, 0, len(plan.rows), state.time, (y, p, d, k, h, cache))
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
    rows = [row for i, block in enumerate(blocks) for row in _rows_of(name, i, block, system.table) if row[2]]
    added = [slot for _, _, adds in rows for slot in adds]
    slots = system.assembly.layout.slots
    return _Plan(
        max([Stage.DYNAMICS, *(stage for _, stage, _ in rows)]),
        [entry for entry, _, _ in rows],
        {
            (part, quantity): slot
            for part, slots_of_part in slots.items()
            for quantity, slot in slots_of_part.items()
            if any(slot.overlaps(at) for at in added)
        },
    )


def _rows_of(name: str, index: int, block: Block, table: Any) -> list[tuple[Any, Stage, tuple[Slot, ...]]]:
    """(address, first integer, 1), stage and accumulators of the rows that belong to a part."""
    count = block.rows.shape[0]
    if name not in block.owners or len(block.owners) != count:
        return []
    each = len(block.adds) // count
    address, start, _ = table[index]
    return [
        ((address, start + i * block.rows.shape[1], 1), block.stage, block.adds[i * each : (i + 1) * each])
        for i, owner in enumerate(block.owners)
        if owner == name
    ]


def _index_of(table: Any, entry: Any) -> int:
    """The block that an entry for one row was taken from."""
    return int(np.flatnonzero((table[:, 0] == entry[0]) & (table[:, 1] <= entry[1]))[-1])
