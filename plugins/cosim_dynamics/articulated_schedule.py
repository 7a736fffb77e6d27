"""The blocks that solve by recursion over articulated bodies."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cosim
from cosim.kit import width_of
from cosim_dynamics.acceleration_block import acceleration_block
from cosim_dynamics.articulated_block import articulated_block
from cosim_dynamics.articulated_inertia import ArticulatedInertia
from cosim_dynamics.tree_assembly import TreeAssembly

if TYPE_CHECKING:
    from cosim.kit import Block, Slot

ELIMINATION = 8
"""Of each degree of freedom: six for `DofSlots.gain`, one for `response`, one for `D`."""


def schedule_articulated(parts: TreeAssembly) -> tuple[list[Block], Slot]:
    """The blocks of the acceleration stage, and what they leave behind for constraints."""
    assembly, tree, cache, free = parts.assembly, parts.tree, parts.cache, parts.free
    width = width_of(ArticulatedInertia)
    inertias = assembly.allocate("dynamics: articulated inertias", width * len(tree.links))
    eliminated = assembly.allocate("dynamics: eliminated speeds", ELIMINATION * tree.size)
    parts.mechanism.header.is_by_body = True
    for i, link in enumerate(parts.mechanism.links):
        link.body.carried_inertia = inertias.offset + width * i
    for i, dof in enumerate(parts.mechanism.dofs):
        dof.gain = eliminated.offset + ELIMINATION * i
        dof.response = dof.gain + 6
        dof.D = dof.gain + 7
    parts.place_forces()
    solving = parts.table.block(
        articulated_block,
        cosim.Stage.ACCELERATION,
        [
            *(cache.references, cache.subspace, cache.velocities, cache.biases),
            *parts.force_slots,
            *parts.bodies("X_GB", "F_GB", "mass", "center_of_mass", "inertia"),
        ],
        [inertias, eliminated, cache.forces, cache.changes, *free.u_dot],
        "accelerations",
    )
    moving = parts.table.block(
        acceleration_block,
        cosim.Stage.ACCELERATION,
        [cache.references, cache.biases, cache.changes, *parts.bodies("X_GB", "V_GB")],
        free.A_GB,
        "bodies",
        can_be_omitted=True,
    )
    return [solving, moving], eliminated
