"""What the blocks of a tree are made of."""

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
    """Where accelerations are written: for each degree of freedom, and six reals for each body."""

    u_dot: list[Slot]
    A_GB: list[Slot]

    @classmethod
    def declared(cls, assembly: Assembly, tree: Tree) -> Accelerations:
        """What joints and bodies declare."""
        joints = [link.joint for link in tree.links]
        u_dot = [assembly.derivative(joint, "u").part(i) for joint in joints for i in range(joint.nu)]
        return cls(u_dot, [assembly.slot(link.body, "A_GB") for link in tree.links])

    @classmethod
    def without_constraints(cls, assembly: Assembly, tree: Tree) -> Accelerations:
        """Arrays of the solver's own, for what constraints change yet."""
        u_dot = assembly.allocate("dynamics: u_dot without constraints", tree.size)
        A_GB = assembly.allocate("dynamics: accelerations without constraints", 6 * len(tree.links))
        return cls(
            [u_dot.part(i) for i in range(tree.size)],
            [A_GB.part(6 * i, 6) for i in range(len(tree.links))],
        )


@dataclass(frozen=True)
class TreeAssembly:
    """A sound tree whose blocks are made; it sets in the table where accelerations without constraints go.

    Attributes
    ----------
    assembly : Assembly
    tree : Tree
    table : MechanismTable
        What the blocks know.
    cache : SolverCache
        What they compute.
    terms : JointTerms
        What joints add to the equations of motion by equations of their own.
    free : Accelerations
        What is solved for before there are constraints.
    """

    assembly: Assembly
    tree: Tree
    table: MechanismTable
    cache: SolverCache
    terms: JointTerms
    free: Accelerations

    def __post_init__(self) -> None:
        for u_dot, dof in zip(self.free.u_dot, self.mechanism.dofs, strict=True):
            dof.free_u_dot = u_dot.offset
        for A_GB, link in zip(self.free.A_GB, self.mechanism.links, strict=True):
            link.free_A_GB = A_GB.offset

    @property
    def mechanism(self) -> Mechanism:
        """The records of the table."""
        return self.table.mechanism

    def set_forces(self) -> list[Slot]:
        """Set the generalized force of each speed and what its joint's own equation adds; all that is read.

        The force on a speed is zero where the joint's own equation holds it already.
        """
        reads = list(self.terms.slots.values())
        for link in self.tree.links:
            for number, i in enumerate(link.dofs):
                dof, terms = self.mechanism.dofs[i], self.terms.of(link.joint, number)
                if terms is None:
                    tau = self.assembly.slot(link.joint, "tau").part(number)
                    reads.append(tau)
                else:
                    tau = self.cache.zeros
                    dof.own_row, dof.own_constant = terms
                dof.tau = tau.offset
        return reads

    def bodies(self, *names: str) -> list[Slot]:
        """What all bodies declare by these names."""
        return [self.assembly.slot(link.body, name) for link in self.tree.links for name in names]
