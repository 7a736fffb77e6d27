"""The joints as the tree sees them: from the inner body to the outer one."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import cosim
from cosim_dynamics.reversed_joint_blocks import ReversedJoint, reversed_pose_block, reversed_velocity_block
from cosim_dynamics.solver_blocks import rows_from, solver_block
from cosim_dynamics.tree import Tree
from cosim_mechanics.spatial import IDENTITY

if TYPE_CHECKING:
    from cosim.kit import Assembly, Block, Slot
    from cosim_mechanics import contracts


@dataclass(frozen=True)
class OrientedJoint:
    """A joint as the tree sees it: with F on the inner body and M on the outer one.

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


def orient_joints(assembly: Assembly, tree: Tree) -> list[OrientedJoint]:
    """The joint of each link; the slots of reversed ones are allocated."""
    joints = []
    begin_as_identity = {cls: _begins_as_identity(cls) for cls in {type(link.joint) for link in tree.links}}
    for link in tree.links:
        joint = link.joint
        frames = [assembly.slot(joint, name) for name in ("frame_on_parent", "frame_on_child")]
        motion = [assembly.slot(joint, name) for name in ("X_FM", "H_FM", "HDotU_FM")]
        if link.reversed:
            frames.reverse()
            sizes = (12, 6 * joint.nu, 6)
            motion = [assembly.allocate(f"dynamics: {joint.name} reversed", size) for size in sizes]
        axes = None if link.reversed else type(joint).axes
        only_turns = axes == (2,) and begin_as_identity[type(joint)]
        (X_PF, X_BM), (X_FM, H_FM, HDotU_FM) = frames, motion
        joints.append(OrientedJoint(X_PF, X_BM, X_FM, H_FM, HDotU_FM, axes, only_turns))
    return joints


def schedule_reversed_joints(assembly: Assembly, tree: Tree, joints: list[OrientedJoint]) -> list[Block]:
    """The blocks that exchange F and M of the reversed joints: poses, then velocity terms."""
    turned = [
        (link.joint, oriented) for link, oriented in zip(tree.links, joints, strict=True) if link.reversed
    ]
    moving = [(joint, oriented) for joint, oriented in turned if joint.nu]

    def record(joint: contracts.Joint, oriented: OrientedJoint) -> ReversedJoint:
        names = ("X_FM", "H_FM", "HDotU_FM", *(["u"] if joint.nu else []))
        declared = {name: assembly.slot(joint, name).offset for name in names}
        return ReversedJoint(
            speeds=joint.nu,
            X_MF=oriented.X_FM.offset,
            H_MF=oriented.H_FM.offset,
            HDotU_MF=oriented.HDotU_FM.offset,
            **declared,
        )

    def reads(joints: list[tuple[contracts.Joint, OrientedJoint]], *names: str) -> list[Slot]:
        return [assembly.slot(joint, name) for joint, _ in joints for name in names]

    blocks = []
    if turned:
        rows = rows_from([record(joint, oriented) for joint, oriented in turned])
        writes = [slot for _, oriented in turned for slot in (oriented.X_FM, oriented.H_FM)]
        blocks.append(
            solver_block(
                reversed_pose_block,
                rows,
                cosim.Stage.POSITION,
                reads(turned, "X_FM", "H_FM"),
                writes,
                "reversed joints",
            )
        )
    if moving:
        rows = rows_from([record(joint, oriented) for joint, oriented in moving])
        blocks.append(
            solver_block(
                reversed_velocity_block,
                rows,
                cosim.Stage.VELOCITY,
                reads(moving, "X_FM", "H_FM", "u", "HDotU_FM"),
                [oriented.HDotU_FM for _, oriented in moving],
                "velocity terms of reversed joints",
            )
        )
    return blocks


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
        kernel.call_by_name(q=np.zeros(joint.nq), X_FM=X_FM, H_FM=np.zeros(6 * joint.nu))
    except (ArithmeticError, ValueError):
        return False
    return bool(np.array_equal(X_FM, IDENTITY))
