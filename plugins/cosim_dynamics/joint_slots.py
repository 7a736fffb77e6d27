"""The slots of the joints as the tree sees them: from the inner body to the outer one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import cosim
from cosim_dynamics import reversed_block as re
from cosim_dynamics.rows import block, table
from cosim_dynamics.tree import Tree

if TYPE_CHECKING:
    from cosim.kit import Assembly, Block, Slot


@dataclass(frozen=True)
class JointSlots:
    """What a joint tells the tree: with F on the inner body and M on the outer one.

    Of a joint that stands the right way these are its own slots; of one that is reversed, F and M are
    exchanged.

    Attributes
    ----------
    X_PF, X_BM : Slot
        Pose of F on the inner, of M on the outer body.
    X_FM, H_FM, HDotU_FM : Slot
        As `cosim_mechanics.Joint` declares them.
    """

    X_PF: Slot
    X_BM: Slot
    X_FM: Slot
    H_FM: Slot
    HDotU_FM: Slot


def slots_of(assembly: Assembly, tree: Tree) -> list[JointSlots]:
    """The slots of each link's joint; those of reversed joints are allocated."""
    found = []
    for link in tree.links:
        joint = link.joint
        frames = [assembly.slot(joint, name) for name in ("frame_on_parent", "frame_on_child")]
        own = [assembly.slot(joint, name) for name in ("X_FM", "H_FM", "HDotU_FM")]
        if link.reversed:
            frames.reverse()
            sizes = (12, 6 * joint.nu, 6)
            own = [assembly.allocate(f"dynamics: {joint.name} reversed", size) for size in sizes]
        found.append(JointSlots(*frames, *own))
    return found


def reversed_of(assembly: Assembly, tree: Tree, slots: list[JointSlots]) -> list[Block]:
    """The blocks that exchange F and M of the reversed joints: poses, then velocity terms."""
    slot = assembly.slot
    turned = [(link.joint, slots[i]) for i, link in enumerate(tree.links) if link.reversed]
    moving = [(joint, seen) for joint, seen in turned if joint.nu]
    poses = [
        [slot(j, "X_FM").offset, slot(j, "H_FM").offset, j.nu, s.X_FM.offset, s.H_FM.offset]
        for j, s in turned
    ]
    terms = [
        [
            *(slot(j, name).offset for name in ("X_FM", "H_FM")),
            j.nu,
            *(slot(j, name).offset for name in ("u", "HDotU_FM")),
            s.HDotU_FM.offset,
        ]
        for j, s in moving
    ]
    result = []
    if turned:
        reads = [slot(j, name) for j, _ in turned for name in ("X_FM", "H_FM")]
        writes = [written for _, s in turned for written in (s.X_FM, s.H_FM)]
        rows = table(re.POSE_WIDTH, poses)
        result.append(block(re.pose_block, rows, cosim.Stage.POSITION, reads, writes, "reversed joints"))
    if moving:
        reads = [slot(j, name) for j, _ in moving for name in ("X_FM", "H_FM", "u", "HDotU_FM")]
        rows, writes = table(re.TERMS_WIDTH, terms), [s.HDotU_FM for _, s in moving]
        what = "velocity terms of reversed joints"
        result.append(block(re.terms_block, rows, cosim.Stage.VELOCITY, reads, writes, what))
    return result
