"""What a solver keeps in the cache for itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosim_dynamics.frames_block import SIZE as FRAMES
from cosim_dynamics.joint_slots import slots_of
from cosim_dynamics.tree import Tree

if TYPE_CHECKING:
    from cosim.kit import Assembly, Slot


class Work:
    """A solver's own slots in the cache.

    Attributes
    ----------
    references : Slot
        Three reals for each tree under Ground: the point that its motions and forces are taken about.
    reference : list of int
        For each link where that point lies in the cache.
    joints : list of JointSlots
        What the joints tell the tree.
    frames : Slot
        What `frames_block` makes of the joints' frames.
    rotations : Slot
        R_GF of each joint.
    origins, subspace, velocities, biases, forces, changes : Slot
        Joint origins M; motions for unit speeds; spatial velocities; accelerations at u_dot = 0; forces that
        these take less those applied; accelerations that u_dot adds. About the reference point, in Ground's
        axes.
    nothing : Slot
        Six zeros, which nothing writes.
    """

    def __init__(self, assembly: Assembly, tree: Tree) -> None:
        bodies = len(tree.links)
        roots = sum(link.parent < 0 for link in tree.links)

        def slot(name: str, length: int) -> Slot:
            return assembly.allocate(f"dynamics: {name}", length)

        references = slot("reference points", 3 * roots)
        self.references = references
        self.joints = slots_of(assembly, tree)
        self.frames = slot("joint frames", FRAMES * bodies)
        self.origins = slot("joint origins", 3 * bodies)
        self.rotations = slot("rotations of joint frames", 9 * bodies)
        self.subspace = slot("motion subspace", 6 * tree.size)
        self.velocities = slot("velocities", 6 * bodies)
        self.biases = slot("bias accelerations", 6 * bodies)
        self.forces = slot("missing forces", 6 * bodies)
        self.changes = slot("accelerations from u_dot", 6 * bodies)
        self.nothing = slot("nothing", 6)
        self.reference: list[int] = []
        points = iter(range(references.offset, references.offset + 3 * roots, 3))
        for link in tree.links:
            self.reference.append(next(points) if link.parent < 0 else self.reference[link.parent])
