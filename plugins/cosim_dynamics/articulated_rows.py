"""Rows of the block that solves by recursion."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cosim
from cosim_dynamics import articulated_block as ab
from cosim_dynamics.matrix_rows import body_row, force_on
from cosim_dynamics.own_terms import OwnTerms
from cosim_dynamics.rows import NOWHERE, block, table
from cosim_dynamics.tree import Tree
from cosim_dynamics.work import Work

if TYPE_CHECKING:
    from cosim import Assembly, Block


def articulated_of(assembly: Assembly, tree: Tree, work: Work, own: OwnTerms) -> Block:
    """The block of the acceleration stage."""
    slot = assembly.slot
    inertias = assembly.allocate("dynamics: articulated inertias", 23 * len(tree.links))
    eliminated = assembly.allocate("dynamics: eliminated speeds", 7 * tree.size)
    bodies, dofs = [], []
    reads = [work.references, work.subspace, work.velocities, work.biases, *own.slots.values()]
    writes = [inertias, eliminated, work.forces, work.changes]
    for i, link in enumerate(tree.links):
        row, used = body_row(assembly, work, link, i)
        reads += [*used, slot(link.body, "V_GB")]
        writes.append(slot(link.body, "A_GB"))
        bodies.append([*row, slot(link.body, "V_GB").offset, slot(link.body, "A_GB").offset, *tree.place(i)])
        for a in range(link.joint.nu):
            tau = force_on(assembly, work, link, own, a)
            u_dot = assembly.derivative(link.joint, "u").part(a)
            reads += [] if own.of(link.joint, a) else [tau]
            writes.append(u_dot)
            dofs.append([tau.offset, u_dot.offset, *(own.of(link.joint, a) or (NOWHERE, NOWHERE))])
    arrays = (work.subspace, work.velocities, work.biases, inertias, work.forces, eliminated, work.changes)
    rows = table(ab.WIDTH, [[len(bodies), *(s.offset for s in arrays)]], bodies, dofs)
    return block(ab.articulated_block, rows, cosim.Stage.ACCELERATION, reads, writes, "accelerations")
