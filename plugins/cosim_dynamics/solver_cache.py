"""The slots in the cache that every solver allocates."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosim.kit import width_of
from cosim_dynamics.frames_block import JointFrames
from cosim_dynamics.mechanism_table import MechanismTable
from cosim_dynamics.oriented_joint import orient_joints
from cosim_dynamics.tree import Tree

if TYPE_CHECKING:
    from cosim.kit import Assembly, Slot


class SolverCache:
    """A solver's own slots in the cache; it sets where they lie in the table.

    Attributes
    ----------
    references : Slot
        Three reals for each tree under Ground: the point that its motions and forces are taken about.
    joints : list of OrientedJoint
        What the joints tell the tree.
    inverse_frames, frames : Slot
        X_MB and `JointFrames` of each joint.
    rotations : Slot
        R_GF of each joint.
    origins, subspace, velocities, biases, forces, changes : Slot
        Joint origins M; motions for unit speeds; spatial velocities; accelerations at u_dot = 0; forces that
        these take less those applied; accelerations that u_dot adds. About the reference point, in Ground's
        axes.
    zeros : Slot
        Six zeros, which nothing writes.
    """

    def __init__(self, assembly: Assembly, tree: Tree, table: MechanismTable) -> None:
        links = len(tree.links)
        flags = width_of(JointFrames)

        def slot(name: str, length: int) -> Slot:
            return assembly.allocate(f"dynamics: {name}", length)

        self.references = slot("reference points", 3 * sum(link.parent < 0 for link in tree.links))
        self.joints = orient_joints(assembly, tree)
        self.inverse_frames = slot("inverse joint frames", 12 * links)
        self.frames = slot("joint frames", flags * links)
        self.origins = slot("joint origins", 3 * links)
        self.rotations = slot("rotations of joint frames", 9 * links)
        self.subspace = slot("motion subspace", 6 * tree.size)
        self.velocities = slot("velocities", 6 * links)
        self.biases = slot("bias accelerations", 6 * links)
        self.forces = slot("missing forces", 6 * links)
        self.changes = slot("accelerations from u_dot", 6 * links)
        self.zeros = slot("zeros", 6)
        references = iter(range(self.references.offset, self.references.offset + self.references.size, 3))
        slots = table.mechanism.links
        for i, (link, parent) in enumerate(zip(slots, (link.parent for link in tree.links), strict=True)):
            link.reference = next(references) if parent < 0 else slots[parent].reference
            link.X_MB = self.inverse_frames.offset + 12 * i
            link.frames = self.frames.offset + flags * i
            link.origin = self.origins.offset + 3 * i
            link.R_GF = self.rotations.offset + 9 * i
            body = link.body
            body.V = self.velocities.offset + 6 * i
            body.bias = self.biases.offset + 6 * i
            body.force = self.forces.offset + 6 * i
            body.change = self.changes.offset + 6 * i
        for i, dof in enumerate(table.mechanism.dofs):
            dof.S = self.subspace.offset + 6 * i
