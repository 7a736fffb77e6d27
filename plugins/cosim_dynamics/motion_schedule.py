"""The blocks for joint frames, poses and velocities."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cosim
from cosim_dynamics.frames_block import frames_block
from cosim_dynamics.mechanism import ANY_MOTION, FIXED_AXES, NOWHERE, PIVOT
from cosim_dynamics.oriented_joint import schedule_reversed_joints
from cosim_dynamics.pose_block import pose_block
from cosim_dynamics.tree_assembly import TreeAssembly
from cosim_dynamics.velocity_block import body_velocity_block, velocity_block

if TYPE_CHECKING:
    from cosim.kit import Block


def schedule_motion(parts: TreeAssembly) -> list[Block]:
    """The blocks up to the velocity stage."""
    _set_joints_and_bodies(parts)
    tree, table, cache, slot = parts.tree, parts.table, parts.cache, parts.assembly.slot
    joints = cache.joints
    moving = [
        (slot(link.joint, "u"), joint.HDotU_FM)
        for link, joint in zip(tree.links, joints, strict=True)
        if link.joint.nu
    ]
    X_GB = parts.bodies("X_GB")
    return [
        table.block(
            frames_block,
            cosim.Stage.INSTANCE,
            [frame for joint in joints for frame in (joint.X_PF, joint.X_BM)],
            [cache.inverse_frames, cache.frames],
            "joint frames",
        ),
        table.block(
            pose_block,
            cosim.Stage.POSITION,
            [
                cache.inverse_frames,
                cache.frames,
                *(read for joint in joints for read in (joint.X_PF, joint.X_FM, joint.H_FM)),
            ],
            [cache.references, cache.origins, cache.rotations, cache.subspace, *X_GB],
            "poses",
        ),
        table.block(
            velocity_block,
            cosim.Stage.VELOCITY,
            [cache.origins, cache.rotations, cache.subspace, *(slot for pair in moving for slot in pair)],
            [cache.velocities, cache.biases],
            "velocities",
        ),
        table.block(
            body_velocity_block,
            cosim.Stage.VELOCITY,
            [cache.references, cache.velocities, *X_GB],
            parts.bodies("V_GB"),
            "velocities of body origins",
            can_be_omitted=True,
        ),
        *schedule_reversed_joints(parts.assembly, tree, joints),
    ]


def _set_joints_and_bodies(parts: TreeAssembly) -> None:
    """Set where in the table what joints and bodies declare lies."""
    slot, cache, mechanism = parts.assembly.slot, parts.cache, parts.mechanism
    for link, joint, slots in zip(parts.tree.links, cache.joints, mechanism.links, strict=True):
        slots.X_PF = joint.X_PF.offset
        slots.X_BM = joint.X_BM.offset
        slots.X_FM = joint.X_FM.offset
        slots.H_FM = joint.H_FM.offset
        # A joint that does not move does not compute it.
        slots.HDotU_FM = (joint.HDotU_FM if link.joint.nu else cache.zeros).offset
        slots.only_turns = joint.only_turns_about_z
        slots.motion = motion_of(joint.axes)
        of_body = parts.assembly.slots(link.body)
        slots.body.X_GB = of_body["X_GB"].offset
        slots.V_GB = of_body["V_GB"].offset
        slots.F_GB = of_body["F_GB"].offset
        slots.mass = of_body["mass"].offset
        slots.center_of_mass = of_body["center_of_mass"].offset
        slots.inertia = of_body["inertia"].offset
        for number, i in enumerate(link.dofs):
            mechanism.dofs[i].u = slot(link.joint, "u").offset + number
            mechanism.dofs[i].axis = NOWHERE if joint.axes is None else joint.axes[number]


def motion_of(axes: tuple[int, ...] | None) -> int:
    """The kind of motion that the axes of a joint describe."""
    if axes is None:
        return ANY_MOTION
    return PIVOT if all(axis < 3 for axis in axes) else FIXED_AXES
