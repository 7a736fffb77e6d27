"""The slots of the joints as the tree sees them: from the inner body to the outer one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import cosim
from cosim_dynamics import reversed_block as re
from cosim_dynamics.rows import block, table
from cosim_dynamics.tree import Tree
from cosim_mechanics.spatial import IDENTITY

if TYPE_CHECKING:
    from cosim.kit import Assembly, Block, Slot
    from cosim_mechanics import contracts


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
    axes : tuple of int, or None
        Likewise; nothing is known of those of a reversed joint.
    only_turns_about_z : bool
        Whether X_FM is a rotation about the common z axis, whatever the State.
    """

    X_PF: Slot
    X_BM: Slot
    X_FM: Slot
    H_FM: Slot
    HDotU_FM: Slot
    axes: tuple[int, ...] | None
    only_turns_about_z: bool


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
        X_PF, X_BM = frames
        X_FM, H_FM, HDotU_FM = own
        axes = None if link.reversed else type(joint).axes
        only_turns = axes == (2,) and _begins_as_identity(type(joint))
        found.append(JointSlots(X_PF, X_BM, X_FM, H_FM, HDotU_FM, axes, only_turns))
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


def _begins_as_identity(joint: type[contracts.Joint]) -> bool:
    """Whether M is F where q is zero, in every State: X_FM is computed from q alone, by a kernel function."""
    writing = [
        name
        for name, arguments in joint.arguments.items()
        if any(a.name == "X_FM" and a.effect != "read" for a in arguments)
    ]
    if writing != ["across"] or {a.name for a in joint.arguments["across"]} != {"q", "X_FM", "H_FM"}:
        return False
    kernel, X_FM = joint.kernels.get("across"), np.zeros(12)
    if kernel is None or kernel.is_python or kernel.when or kernel.unless:
        return False
    try:
        kernel.with_names(q=np.zeros(joint.nq), X_FM=X_FM, H_FM=np.zeros(6 * joint.nu))
    except (ArithmeticError, ValueError):
        return False
    return bool(np.array_equal(X_FM, IDENTITY))
