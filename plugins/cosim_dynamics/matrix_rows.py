"""Rows of the blocks that set up and solve M u_dot = T - V."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import accumulate
from typing import TYPE_CHECKING

import cosim
from cosim_dynamics import equations_block as eq
from cosim_dynamics import solution_block as so
from cosim_dynamics.link import Link
from cosim_dynamics.own_terms import OwnTerms
from cosim_dynamics.rows import NOWHERE, block, table
from cosim_dynamics.tree import Tree
from cosim_dynamics.work import Work

if TYPE_CHECKING:
    from cosim.kit import Assembly, Block, Slot


class Matrix:
    """Slots of the mass matrix: for each degree of freedom a row that is as long as it is deep."""

    def __init__(self, assembly: Assembly, tree: Tree) -> None:
        *self.starts, self.entries = accumulate(tree.depth, initial=0)
        self.inertias = assembly.allocate("dynamics: composite inertias", 10 * len(tree.links))
        self.M = assembly.allocate("dynamics: mass matrix", self.entries)
        self.right_side = assembly.allocate("dynamics: T - V", tree.size)
        self.factor = assembly.allocate("dynamics: factor of the mass matrix", self.entries)
        self.solution = assembly.allocate("dynamics: u_dot", tree.size)


@dataclass(frozen=True)
class Targets:
    """Where a solution goes: for each degree of freedom, and six reals for each body."""

    u_dot: list[Slot]
    A_GB: list[Slot]

    @classmethod
    def declared(cls, assembly: Assembly, tree: Tree) -> Targets:
        """What joints and bodies declare."""
        u_dot = [
            assembly.derivative(j, "u").part(a) for j in (x.joint for x in tree.links) for a in range(j.nu)
        ]
        return cls(u_dot, [assembly.slot(link.body, "A_GB") for link in tree.links])

    @classmethod
    def apart(cls, assembly: Assembly, tree: Tree) -> Targets:
        """Arrays of the solver's own, for what constraints change yet."""
        u_dot = assembly.allocate("dynamics: u_dot without constraints", tree.size)
        A_GB = assembly.allocate("dynamics: accelerations without constraints", 6 * len(tree.links))
        return cls(
            [u_dot.part(i) for i in range(tree.size)],
            [A_GB.part(6 * i, 6) for i in range(len(tree.links))],
        )


@dataclass(frozen=True)
class Factor:
    """What a solution leaves behind, with which M is solved for other right sides.

    Attributes
    ----------
    slot : Slot
    starts, diagonals : list of int
        For each degree of freedom where its part lies, and what it is divided by.
    by_body : bool
        Whether a part is what `articulated_block` eliminates, and not a row of L of M = L^T D L.
    """

    slot: Slot
    starts: list[int]
    diagonals: list[int]
    by_body: bool


def matrix_of(
    assembly: Assembly, tree: Tree, work: Work, own: OwnTerms, targets: Targets
) -> tuple[list[Block], Factor]:
    """The blocks that set up M u_dot = T - V and solve it."""
    matrix = Matrix(assembly, tree)
    blocks = [
        equations_of(assembly, tree, work, matrix, own),
        solution_of(assembly, tree, work, matrix, targets),
    ]
    starts = [matrix.factor.offset + start for start in matrix.starts]
    diagonals = [start + depth - 1 for start, depth in zip(starts, tree.depth, strict=True)]
    return blocks, Factor(matrix.factor, starts, diagonals, by_body=False)


def body_row(assembly: Assembly, work: Work, link: Link, index: int) -> tuple[list[int], list[Slot]]:
    """The columns of `body_terms` for a body, and the slots that are read through them."""
    used = [assembly.slot(link.body, name) for name in ("X_GB", "F_GB", "mass", "center_of_mass", "inertia")]
    return [
        link.parent,
        work.reference[index],
        *(s.offset for s in used),
        link.first_dof,
        link.joint.nu,
    ], used


def force_on(assembly: Assembly, work: Work, link: Link, own: OwnTerms, speed: int) -> Slot:
    """The generalized force on a speed; zero where the joint's own equation holds it already."""
    return work.nothing.part(0) if own.of(link.joint, speed) else assembly.slot(link.joint, "tau").part(speed)


def equations_of(assembly: Assembly, tree: Tree, work: Work, matrix: Matrix, own: OwnTerms) -> Block:
    """The block that sets up M and T - V."""
    bodies, dofs = [], []
    reads = [work.references, work.subspace, work.velocities, work.biases, *own.slots.values()]
    for i, link in enumerate(tree.links):
        row, used = body_row(assembly, work, link, i)
        bodies.append([*row, *tree.place(i)])
        reads += used
        for a, dof in enumerate(link.dofs):
            tau = force_on(assembly, work, link, own, a)
            reads += [] if own.of(link.joint, a) else [tau]
            diagonal = matrix.M.offset + matrix.starts[dof] + tree.depth[dof] - 1
            terms = own.of(link.joint, a) or (NOWHERE, NOWHERE)
            dofs.append([tree.before[dof], tree.run[dof], diagonal, tau.offset, *terms])
    arrays = (work.subspace, work.velocities, work.biases, matrix.inertias, work.forces, matrix.right_side)
    rows = table(eq.WIDTH, [[len(bodies), tree.size, *(s.offset for s in arrays)]], bodies, dofs)
    writes = [matrix.inertias, work.forces, matrix.M, matrix.right_side]
    return block(eq.equations_block, rows, cosim.Stage.ACCELERATION, reads, writes, "equations of motion")


def solution_of(assembly: Assembly, tree: Tree, work: Work, matrix: Matrix, targets: Targets) -> Block:
    """The block that solves for u_dot and the bodies' accelerations."""
    bodies, dofs = [], []
    reads = [work.references, work.subspace, work.biases, matrix.right_side, matrix.M]
    writes = [matrix.factor, matrix.solution, work.changes]
    for i, link in enumerate(tree.links):
        X_GB, V_GB, A_GB = assembly.slot(link.body, "X_GB"), assembly.slot(link.body, "V_GB"), targets.A_GB[i]
        reads += [X_GB, V_GB]
        writes.append(A_GB)
        row = [
            link.parent,
            work.reference[i],
            X_GB.offset,
            V_GB.offset,
            A_GB.offset,
            link.first_dof,
            link.joint.nu,
        ]
        bodies.append(row)
        for dof in link.dofs:
            u_dot = targets.u_dot[dof]
            writes.append(u_dot)
            start = matrix.factor.offset + matrix.starts[dof]
            dofs.append([tree.before[dof], tree.run[dof], start, start + tree.depth[dof] - 1, u_dot.offset])
    arrays = (work.subspace, work.biases, matrix.right_side, matrix.M, matrix.factor)
    sizes = [len(bodies), tree.size]
    header = [
        *sizes,
        *(s.offset for s in arrays),
        matrix.entries,
        matrix.solution.offset,
        work.changes.offset,
    ]
    rows = table(so.WIDTH, [header], bodies, dofs)
    return block(so.solution_block, rows, cosim.Stage.ACCELERATION, reads, writes, "accelerations")
