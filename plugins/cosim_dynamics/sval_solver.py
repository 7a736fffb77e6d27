"""The solver for trees of joints: the equations of motion from s-vals, compiled."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_dynamics import equations_block as eq
from cosim_dynamics import pose_block as po
from cosim_dynamics import solution_block as so
from cosim_dynamics import velocity_block as ve
from cosim_dynamics.joint_equations import trace
from cosim_dynamics.singular import check_leaves
from cosim_dynamics.trace import write_kernel
from cosim_dynamics.tree import Tree

if TYPE_CHECKING:
    from cosim import Assembly, Block, Slot

LABEL = "dynamics.sval"
NOWHERE = -1


class SValSolver(cosim.DynamicsSolver):
    """Accelerations of a tree of bodies from M u_dot + V = T.

    Law: each degree of freedom has a torque equation, an s-val: its coefficients are a row of the mass
    matrix M, its constant is V, the terms that remain at u_dot = 0 (centripetal, Coriolis, gyroscopic). T holds the
    joints' `tau` and what force elements and gravity do to the bodies. M is symmetric and positive definite and as sparse
    as the tree; it is factorized as L^T D L without new entries.

    Joints that do not override `create_equations` contribute what they transmit along their free motion, H_FM^T F, and
    this form is compiled once for all. Joints that do (a rotor's inertia, friction of their own) are traced: the author's
    equations are called once with symbols and written out as a kernel function for their additional terms.

    Limits
    ------
    Bodies form trees on Ground: no closed loops. The effort grows with the depth of the tree: like n^2 for the mass matrix of
    a chain, n^3 (with a small factor) for its factorization.

    Stage
    -----
    Poses at POSITION, velocities at VELOCITY, u_dot and accelerations at ACCELERATION.

    References
    ----------
    Darwin2K/dyno's s-vals for the form of the equations; R. Featherstone, Rigid Body Dynamics Algorithms, 2008, chapters
    5.3 and 6 for the compiled recursion (here in Ground's axes).

    Examples
    --------
    >>> import cosim
    >>> cosim.registry().get("dynamics_solver", "dynamics.sval") is SValSolver
    True
    """

    def create_blocks(self, assembly: Assembly) -> list[Block]:
        """Blocks for poses, velocities, joints' own terms, the equations of motion and their solution.

        Faults of the tree are reported through `assembly.problem`; there are no blocks then.
        """
        faults: list[str] = []

        def problem(where: str, text: str) -> None:
            faults.append(where)
            assembly.problem(where, text)

        tree = Tree.of(assembly.parts(cosim.Component), assembly.attached, problem)
        own = OwnTerms(assembly, tree, problem)
        if not faults:
            check_leaves(tree, problem)
        if faults or not tree.links:
            return []
        work = Work(assembly, tree)
        return [
            pose_of(assembly, tree, work),
            velocity_of(assembly, tree, work),
            *own.blocks,
            equations_of(assembly, tree, work, own),
            solution_of(assembly, tree, work),
        ]


class Work:
    """The solver's own slots in the cache."""

    def __init__(self, assembly: Assembly, tree: Tree) -> None:
        bodies, size = len(tree.links), tree.size
        roots = [i for i, link in enumerate(tree.links) if link.parent < 0]
        lengths = list(accumulate(tree.depth, initial=0))

        def slot(name: str, length: int) -> Slot:
            return assembly.allocate(f"{LABEL}: {name}", length)

        references = slot("reference points", 3 * len(roots))
        self.references = references
        self.origins = slot("joint origins", 3 * bodies)
        self.subspace = slot("motion subspace", 6 * size)
        self.velocities = slot("velocities", 6 * bodies)
        self.biases = slot("bias accelerations", 6 * bodies)
        self.inertias = slot("composite inertias", 10 * bodies)
        self.forces = slot("missing forces", 6 * bodies)
        self.entries = lengths[-1]
        self.M = slot("mass matrix", self.entries)
        self.right_side = slot("T - V", size)
        self.factor = slot("factor of the mass matrix", self.entries)
        self.solution = slot("u_dot", size)
        self.changes = slot("accelerations from u_dot", 6 * bodies)
        self.no_force = slot("no force", 1)
        self.starts = lengths[:-1]
        self.reference: list[int] = []
        for i, link in enumerate(tree.links):
            mine = references.offset + 3 * roots.index(i) if link.parent < 0 else self.reference[link.parent]
            self.reference.append(mine)


class OwnTerms:
    """Kernels for the joints that bring equations of their own.

    Attributes
    ----------
    blocks : list of Block
    slots : dict of str to Slot
        Their results by the joint's name: nu by nu coefficients, then nu constants.
    """

    def __init__(self, assembly: Assembly, tree: Tree, problem: object) -> None:
        self.blocks: list[Block] = []
        self.slots: dict[str, Slot] = {}
        for link in tree.links:
            joint = link.joint
            if joint.nu and type(joint).create_equations is not cosim.Joint.create_equations:
                try:
                    self._add(assembly, joint)
                except cosim.ContractError as error:
                    problem(joint.name, str(error))  # type: ignore[operator]

    def _add(self, assembly: Assembly, joint: cosim.Joint) -> None:
        graph, equations = trace(joint)
        names = {node.arguments[0] for node in graph.nodes if node.operation == "slot"}
        arrays = {name: assembly.slot(joint, name).array for name in names}
        kernel = write_kernel(f"{type(joint).__name__}_equations", equations.results, arrays)
        inputs = [assembly.slot(joint, name).part(element) for name, element in kernel.inputs]
        result = assembly.allocate(f"{joint.name}: own equations", kernel.size)
        self.slots[joint.name] = result
        row = [slot.offset for slot in inputs] + [result.offset]
        self.blocks.append(
            cosim.Block(
                kernel.function,
                np.array([row], dtype=np.int64),
                cosim.Stage.INSTANCE,
                tuple(inputs),
                (result,),
                (),
                f"{LABEL}: equations of {type(joint).__name__}",
                (joint.name,),
                mergeable=True,
            )
        )


def pose_of(assembly: Assembly, tree: Tree, work: Work) -> Block:
    """The block of the position stage."""
    slot = assembly.slot
    bodies, reads, writes = [], [], [work.references, work.origins, work.subspace]
    for i, link in enumerate(tree.links):
        body, joint = link.body, link.joint
        reads += [slot(joint, "X_FM"), slot(joint, "H_FM"), slot(joint, "frame_on_parent"), slot(joint, "frame_on_child")]
        writes.append(slot(body, "X_GB"))
        parent = slot(tree.links[link.parent].body, "X_GB").offset if link.parent >= 0 else NOWHERE
        bodies.append(
            [
                parent,
                work.reference[i],
                slot(joint, "frame_on_parent").offset,
                slot(joint, "frame_on_child").offset,
                slot(joint, "X_FM").offset,
                slot(joint, "H_FM").offset,
                slot(body, "X_GB").offset,
                link.first_dof,
                joint.nu,
            ]
        )
    rows = _rows(po.WIDTH, [work.origins.offset, work.subspace.offset], bodies)
    return _block(po.pose_block, rows, cosim.Stage.POSITION, reads, writes, "poses")


def velocity_of(assembly: Assembly, tree: Tree, work: Work) -> Block:
    """The block of the velocity stage."""
    slot = assembly.slot
    bodies, reads, writes = [], [work.references, work.origins, work.subspace], [work.velocities, work.biases]
    for i, link in enumerate(tree.links):
        body, joint = link.body, link.joint
        reads += [slot(joint, "HDotU_FM"), slot(joint, "frame_on_parent"), slot(body, "X_GB")]
        reads += [slot(joint, "u")] if joint.nu else []
        writes.append(slot(body, "V_GB"))
        parent = tree.links[link.parent].body if link.parent >= 0 else body
        bodies.append(
            [
                link.parent,
                work.reference[i],
                slot(parent, "X_GB").offset,
                slot(joint, "frame_on_parent").offset,
                slot(body, "X_GB").offset,
                slot(body, "V_GB").offset,
                slot(joint, "u").offset if joint.nu else 0,
                slot(joint, "HDotU_FM").offset,
                link.first_dof,
                joint.nu,
            ]
        )
    header = [work.origins.offset, work.subspace.offset, work.velocities.offset, work.biases.offset]
    rows = _rows(ve.WIDTH, header, bodies)
    return _block(ve.velocity_block, rows, cosim.Stage.VELOCITY, reads, writes, "velocities")


def equations_of(assembly: Assembly, tree: Tree, work: Work, own: OwnTerms) -> Block:
    """The block that sets up M and T - V."""
    slot = assembly.slot
    bodies, dofs = [], []
    reads = [work.references, work.subspace, work.velocities, work.biases, *own.slots.values()]
    for i, link in enumerate(tree.links):
        body, joint = link.body, link.joint
        used = [slot(body, name) for name in ("X_GB", "F_GB", "mass", "center_of_mass", "inertia")]
        reads += used
        bodies.append([link.parent, work.reference[i], *(s.offset for s in used), link.first_dof, joint.nu])
        terms = own.slots.get(joint.name)
        for a, dof in enumerate(link.dofs):
            tau = slot(joint, "tau").part(a) if terms is None else work.no_force
            reads.append(tau)
            row = terms.offset + joint.nu * a if terms is not None else NOWHERE
            constant = terms.offset + joint.nu * joint.nu + a if terms is not None else NOWHERE
            diagonal = work.M.offset + work.starts[dof] + tree.depth[dof] - 1
            dofs.append([tree.before[dof], tree.run[dof], diagonal, tau.offset, row, constant])
    header = [
        len(bodies),
        tree.size,
        *(s.offset for s in (work.subspace, work.velocities, work.biases, work.inertias, work.forces, work.right_side)),
    ]
    writes = [work.inertias, work.forces, work.M, work.right_side]
    rows = _rows(eq.WIDTH, header, bodies, dofs)
    return _block(eq.equations_block, rows, cosim.Stage.ACCELERATION, reads, writes, "equations of motion")


def solution_of(assembly: Assembly, tree: Tree, work: Work) -> Block:
    """The block that solves for u_dot and the bodies' accelerations."""
    slot = assembly.slot
    bodies, dofs = [], []
    reads = [work.references, work.subspace, work.biases, work.right_side, work.M]
    writes = [work.factor, work.solution, work.changes]
    for i, link in enumerate(tree.links):
        body, joint = link.body, link.joint
        reads += [slot(body, "X_GB"), slot(body, "V_GB")]
        writes.append(slot(body, "A_GB"))
        poses = [slot(body, name).offset for name in ("X_GB", "V_GB", "A_GB")]
        bodies.append([link.parent, work.reference[i], *poses, link.first_dof, joint.nu])
        for a, dof in enumerate(link.dofs):
            u_dot = assembly.derivative(joint, "u").part(a)
            writes.append(u_dot)
            start = work.factor.offset + work.starts[dof]
            dofs.append([tree.before[dof], tree.run[dof], start, start + tree.depth[dof] - 1, u_dot.offset])
    header = [
        len(bodies),
        tree.size,
        *(s.offset for s in (work.subspace, work.biases, work.right_side, work.M, work.factor)),
        work.entries,
        *(s.offset for s in (work.solution, work.changes)),
    ]
    rows = _rows(so.WIDTH, header, bodies, dofs)
    return _block(so.solution_block, rows, cosim.Stage.ACCELERATION, reads, writes, "accelerations")


def _rows(width: int, header: Sequence[int], *tables: Iterable[Sequence[int]]) -> NDArray[np.int64]:
    """The header and the tables, one below the other, each row filled up with zeros."""
    listed = [header, *(row for table in tables for row in table)]
    rows = np.zeros((len(listed), width), dtype=np.int64)
    for i, row in enumerate(listed):
        rows[i, : len(row)] = row
    return rows


def _block(
    function: object,
    rows: NDArray[np.int64],
    stage: cosim.Stage,
    reads: Sequence[Slot],
    writes: Sequence[Slot],
    what: str,
) -> Block:
    return cosim.Block(
        function,  # type: ignore[arg-type]
        rows,
        stage,
        tuple(slot for slot in reads if slot.size),
        tuple(slot for slot in writes if slot.size),
        (),
        f"{LABEL}: {what}",
        (),
    )
