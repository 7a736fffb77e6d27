"""The parts from which the solvers of a tree make their blocks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from cosim_dynamics.joint_terms import JointTerms
from cosim_dynamics.mechanism import Mechanism
from cosim_dynamics.mechanism_table import MechanismTable
from cosim_dynamics.solver_cache import SolverCache
from cosim_dynamics.tree import Tree

if TYPE_CHECKING:
    from cosim.kit import Assembly, Slot


@dataclass(frozen=True)
class Accelerations:
    """The slots of accelerations: one for each degree of freedom, and six reals for each body."""

    u_dot: list[Slot]
    A_GB: list[Slot]

    @classmethod
    def declared(cls, assembly: Assembly, tree: Tree) -> Accelerations:
        """The slots that joints and bodies declare."""
        joints = [link.joint for link in tree.links]
        u_dot = [assembly.derivative(joint, "u").part(i) for joint in joints for i in range(joint.nu)]
        return cls(u_dot, [assembly.slot(link.body, "A_GB") for link in tree.links])

    @classmethod
    def without_constraints(cls, assembly: Assembly, tree: Tree) -> Accelerations:
        """New arrays of the solver, for accelerations to which constraints have yet to be added."""
        u_dot = assembly.allocate("dynamics: u_dot without constraints", tree.size)
        A_GB = assembly.allocate("dynamics: accelerations without constraints", 6 * len(tree.links))
        return cls(
            [u_dot.part(i) for i in range(tree.size)],
            [A_GB.part(6 * i, 6) for i in range(len(tree.links))],
        )


@dataclass(frozen=True)
class TreeAssembly:
    """A tree without faults, with the memory that its blocks share.

    Attributes
    ----------
    assembly : Assembly
    tree : Tree
    table : MechanismTable
        The records that the blocks read, whose fields say where everything lies.
    cache : SolverCache
        Slots for what the blocks compute.
    terms : JointTerms
        Terms that joints with equations of their own add to the equations of motion.
    free : Accelerations
        Where the accelerations without constraints are written.
    """

    assembly: Assembly
    tree: Tree
    table: MechanismTable
    cache: SolverCache
    terms: JointTerms
    free: Accelerations

    def place_free_accelerations(self) -> None:
        """Write into the table where `free` lies."""
        for u_dot, dof in zip(self.free.u_dot, self.mechanism.dofs, strict=True):
            dof.free_u_dot = u_dot.offset
        for A_GB, link in zip(self.free.A_GB, self.mechanism.links, strict=True):
            link.free_A_GB = A_GB.offset

    @property
    def mechanism(self) -> Mechanism:
        """The records of the table."""
        return self.table.mechanism

    def place_forces(self) -> None:
        """Write into the table where the generalized force on each speed and its joint's own terms lie.

        The own equation of a joint contains its forces already: their place is then that of zeros.
        """
        for link in self.tree.links:
            for number, i in enumerate(link.dofs):
                dof, terms = self.mechanism.dofs[i], self.terms.of(link.joint, number)
                if terms is None:
                    dof.tau = self.assembly.slot(link.joint, "tau").part(number).offset
                else:
                    dof.tau = self.cache.zeros.offset
                    dof.own_row, dof.own_constant = terms.coefficients, terms.constant

    @property
    def force_slots(self) -> list[Slot]:
        """The slots of the generalized forces and of the joints' own terms."""
        forces = [
            self.assembly.slot(link.joint, "tau").part(number)
            for link in self.tree.links
            if link.joint.name not in self.terms.slots
            for number in range(len(link.dofs))
        ]
        return [*self.terms.slots.values(), *forces]

    def bodies(self, *names: str) -> list[Slot]:
        """The slots that all bodies declare under these names."""
        slots_of = [self.assembly.slots(link.body) for link in self.tree.links]
        return [slots[name] for slots in slots_of for name in names]
