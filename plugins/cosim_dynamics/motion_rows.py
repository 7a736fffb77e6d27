"""Rows of the blocks for joint frames, poses and velocities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cosim
from cosim_dynamics import frames_block as fr
from cosim_dynamics import pose_block as po
from cosim_dynamics import velocity_block as ve
from cosim_dynamics.rows import NOWHERE, block, table
from cosim_dynamics.tree import Tree
from cosim_dynamics.work import Work

if TYPE_CHECKING:
    from cosim.kit import Assembly, Block


def frames_of(assembly: Assembly, tree: Tree, work: Work) -> Block:
    """The block of the instance stage."""
    rows, reads = [], []
    for i, joint in enumerate(work.joints):
        frames = [joint.X_PF, joint.X_BM]
        reads += frames
        rows.append([*(s.offset for s in frames), work.frames.offset + fr.SIZE * i])
    return block(
        fr.frames_block, table(fr.WIDTH, rows), cosim.Stage.INSTANCE, reads, [work.frames], "joint frames"
    )


def pose_of(assembly: Assembly, tree: Tree, work: Work) -> Block:
    """The block of the position stage."""
    slot = assembly.slot
    bodies, reads = [], [work.frames]
    writes = [work.references, work.origins, work.rotations, work.subspace]
    for i, link in enumerate(tree.links):
        X_GB = slot(link.body, "X_GB")
        X_PF, X_FM, H_FM = work.joints[i].X_PF, work.joints[i].X_FM, work.joints[i].H_FM
        reads += [X_PF, X_FM, H_FM]
        writes.append(X_GB)
        parent = slot(tree.links[link.parent].body, "X_GB").offset if link.parent >= 0 else NOWHERE
        offsets = [X_PF.offset, work.frames.offset + fr.SIZE * i, X_FM.offset, H_FM.offset, X_GB.offset]
        kind = [po.packed(work.joints[i].axes), int(work.joints[i].only_turns_about_z)]
        bodies.append([parent, work.reference[i], *offsets, link.first_dof, link.joint.nu, *kind])
    header = [s.offset for s in (work.origins, work.rotations, work.subspace)]
    rows = table(po.WIDTH, [header], bodies)
    return block(po.pose_block, rows, cosim.Stage.POSITION, reads, writes, "poses")


def velocity_of(assembly: Assembly, tree: Tree, work: Work) -> Block:
    """The block of the velocity stage."""
    slot = assembly.slot
    bodies, writes = [], [work.velocities, work.biases]
    reads = [work.origins, work.rotations, work.subspace]
    for i, link in enumerate(tree.links):
        joint = link.joint
        moving = [slot(joint, "u"), work.joints[i].HDotU_FM] if joint.nu else []
        reads += moving
        # A joint that does not move computes neither.
        offsets = [s.offset for s in moving or (work.nothing, work.nothing)]
        bodies.append([link.parent, *offsets, link.first_dof, joint.nu, ve.kind_of(work.joints[i].axes)])
    arrays = (work.origins, work.rotations, work.subspace, work.velocities, work.biases)
    rows = table(ve.WIDTH, [[s.offset for s in arrays]], bodies)
    return block(ve.velocity_block, rows, cosim.Stage.VELOCITY, reads, writes, "velocities")


def body_velocity_of(assembly: Assembly, tree: Tree, work: Work) -> Block:
    """The block of the velocity stage for those who look at bodies."""
    slot = assembly.slot
    bodies, reads, writes = [], [work.references, work.velocities], []
    for i, link in enumerate(tree.links):
        X_GB, V_GB = slot(link.body, "X_GB"), slot(link.body, "V_GB")
        reads.append(X_GB)
        writes.append(V_GB)
        bodies.append([work.velocities.offset + 6 * i, work.reference[i], X_GB.offset, V_GB.offset])
    rows = table(ve.BODY_WIDTH, bodies)
    return block(
        ve.body_velocity_block, rows, cosim.Stage.VELOCITY, reads, writes, "velocities of body origins"
    )
