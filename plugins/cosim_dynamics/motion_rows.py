"""Rows of the blocks for poses and velocities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cosim
from cosim_dynamics import pose_block as po
from cosim_dynamics import velocity_block as ve
from cosim_dynamics.rows import NOWHERE, block, table
from cosim_dynamics.tree import Tree
from cosim_dynamics.work import Work

if TYPE_CHECKING:
    from cosim import Assembly, Block


def pose_of(assembly: Assembly, tree: Tree, work: Work) -> Block:
    """The block of the position stage."""
    slot = assembly.slot
    bodies, reads, writes = [], [], [work.references, work.origins, work.subspace]
    for i, link in enumerate(tree.links):
        body, joint = link.body, link.joint
        reads += [
            slot(joint, "X_FM"),
            slot(joint, "H_FM"),
            slot(joint, "frame_on_parent"),
            slot(joint, "frame_on_child"),
        ]
        writes.append(slot(body, "X_GB"))
        parent = slot(tree.links[link.parent].body, "X_GB").offset if link.parent >= 0 else NOWHERE
        bodies.append(
            [
                parent,
                work.reference[i],
                slot(joint, "frame_on_parent").offset,
                slot(joint, "frame_on_child").offset,
                slot(joint, "X_FM").offset,
                slot(joint, "H_FM").offset,
                slot(body, "X_GB").offset,
                link.first_dof,
                joint.nu,
            ]
        )
    rows = table(po.WIDTH, [work.origins.offset, work.subspace.offset], bodies)
    return block(po.pose_block, rows, cosim.Stage.POSITION, reads, writes, "poses")


def velocity_of(assembly: Assembly, tree: Tree, work: Work) -> Block:
    """The block of the velocity stage."""
    slot = assembly.slot
    bodies, reads, writes = [], [work.references, work.origins, work.subspace], [work.velocities, work.biases]
    for i, link in enumerate(tree.links):
        body, joint = link.body, link.joint
        reads += [slot(joint, "HDotU_FM"), slot(joint, "frame_on_parent"), slot(body, "X_GB")]
        reads += [slot(joint, "u")] if joint.nu else []
        writes.append(slot(body, "V_GB"))
        parent = tree.links[link.parent].body if link.parent >= 0 else body
        bodies.append(
            [
                link.parent,
                work.reference[i],
                slot(parent, "X_GB").offset,
                slot(joint, "frame_on_parent").offset,
                slot(body, "X_GB").offset,
                slot(body, "V_GB").offset,
                slot(joint, "u").offset if joint.nu else 0,
                slot(joint, "HDotU_FM").offset,
                link.first_dof,
                joint.nu,
            ]
        )
    header = [work.origins.offset, work.subspace.offset, work.velocities.offset, work.biases.offset]
    rows = table(ve.WIDTH, header, bodies)
    return block(ve.velocity_block, rows, cosim.Stage.VELOCITY, reads, writes, "velocities")
