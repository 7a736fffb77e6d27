"""Rows of the block that solves by recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cosim
from cosim_dynamics import articulated_block as ab
from cosim_dynamics.acceleration_block import WIDTH, acceleration_block
from cosim_dynamics.articulated_inertias import SIZE as INERTIA
from cosim_dynamics.body_terms import REFERENCE, X_GB
from cosim_dynamics.matrix_rows import Factor, Targets, body_row, force_on
from cosim_dynamics.own_terms import OwnTerms
from cosim_dynamics.rows import NOWHERE, block, table
from cosim_dynamics.tree import Tree
from cosim_dynamics.work import Work

if TYPE_CHECKING:
    from cosim.kit import Assembly, Block


def articulated_of(
    assembly: Assembly, tree: Tree, work: Work, own: OwnTerms, targets: Targets
) -> tuple[list[Block], Factor]:
    """The blocks of the acceleration stage."""
    slot = assembly.slot
    inertias = assembly.allocate("dynamics: articulated inertias", INERTIA * len(tree.links))
    eliminated = assembly.allocate("dynamics: eliminated speeds", 8 * tree.size)
    bodies, dofs, moved = [], [], []
    reads = [work.references, work.subspace, work.velocities, work.biases, *own.slots.values()]
    looked_at, found = [work.references, work.biases, work.changes], []
    writes = [inertias, eliminated, work.forces, work.changes]
    for i, link in enumerate(tree.links):
        row, used = body_row(assembly, work, link, i)
        V_GB, A_GB = slot(link.body, "V_GB"), targets.A_GB[i]
        reads += used
        bodies.append(row)
        looked_at += [slot(link.body, "X_GB"), V_GB]
        found.append(A_GB)
        at = [work.changes.offset + 6 * i, work.biases.offset + 6 * i, row[REFERENCE], row[X_GB]]
        moved.append([*at, V_GB.offset, A_GB.offset])
        for a, dof in enumerate(link.dofs):
            tau = force_on(assembly, work, link, own, a)
            u_dot = targets.u_dot[dof]
            reads += [] if own.of(link.joint, a) else [tau]
            writes.append(u_dot)
            dofs.append([tau.offset, u_dot.offset, *(own.of(link.joint, a) or (NOWHERE, NOWHERE))])
    arrays = (work.subspace, work.velocities, work.biases, inertias, work.forces, eliminated, work.changes)
    rows = table(ab.WIDTH, [[len(bodies), *(s.offset for s in arrays)]], bodies, dofs)
    solving = block(ab.articulated_block, rows, cosim.Stage.ACCELERATION, reads, writes, "accelerations")
    starts = [eliminated.offset + 8 * dof for dof in range(tree.size)]
    moving = block(
        acceleration_block, table(WIDTH, moved), cosim.Stage.ACCELERATION, looked_at, found, "bodies"
    )
    return [solving, moving], Factor(eliminated, starts, [start + 7 for start in starts], by_body=True)
