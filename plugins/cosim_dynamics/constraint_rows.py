"""Rows of the blocks for constraints, and of the corrections after a step."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

import cosim
from cosim.kit import Block, Projection
from cosim_dynamics import constraint_block as cb
from cosim_dynamics import projection_blocks as pb
from cosim_dynamics.equations_of_constraints import TracedConstraintEquations, offered_name, trace_constraint
from cosim_dynamics.hanging import Report, is_ground
from cosim_dynamics.matrix_rows import Factor, Targets
from cosim_dynamics.own_terms import blame
from cosim_dynamics.rows import NOWHERE, block, table, traced_block
from cosim_dynamics.tree import Tree
from cosim_dynamics.work import Work
from cosim_mechanics import contracts

if TYPE_CHECKING:
    from cosim.kit import Assembly, Slot

LEVEL = {"position": 2, "velocity": 1, "acceleration": 0}


@dataclass(frozen=True)
class Traced:
    """A constraint, its equations and where their numbers lie."""

    constraint: contracts.Constraint
    equations: TracedConstraintEquations
    numbers: Slot


class Constraints:
    """The constraints of a model, traced.

    Attributes
    ----------
    all : list of Traced
    blocks : list of Block
        They compute coefficients and constants.
    size : int
        Number of equations.
    errors : Slot
        What `cosim.step.projection` looks at, and room for the speeds.
    rows : ndarray or None
        Of the block that solves; the corrections have the same.
    """

    def __init__(self, assembly: Assembly, problem: Report) -> None:
        self.all: list[Traced] = []
        self.blocks: list[Block] = []
        for constraint in assembly.parts(contracts.Constraint):
            try:
                self._add(assembly, constraint)
            except Exception as error:  # the author's code: whatever it raises is a fault of the model
                problem(constraint.name, blame(error))
        self.size = sum(found.constraint.equations for found in self.all)
        speeds = sum(joint.nu for joint in assembly.parts(contracts.Joint))
        self.errors = assembly.allocate("dynamics: errors of constraints", cb.ERROR_SIZES + speeds)
        self.rows: np.ndarray | None = None

    def _add(self, assembly: Assembly, constraint: contracts.Constraint) -> None:
        equations = trace_constraint(constraint)
        block, numbers = traced_block(
            assembly,
            constraint,
            equations.graph,
            equations.results,
            assembly.asked,
            "coefficients and constants",
        )
        self.all.append(Traced(constraint, equations, numbers))
        self.blocks.append(block)


def constrained(
    assembly: Assembly, tree: Tree, work: Work, factor: Factor, free: Targets, constraints: Constraints
) -> list[Block]:
    """The blocks that add what constraints do to the accelerations without them."""
    solving = _Solving(assembly, tree, work, factor, free, constraints)
    constraints.rows = solving.rows
    rows, reads, writes = solving.rows, solving.reads, solving.writes
    return [
        *constraints.blocks,
        block(cb.constraint_block, rows, cosim.Stage.ACCELERATION, reads, writes, "constraints"),
    ]


class _Solving:
    """Rows, reads and writes of the block that solves for the multipliers."""

    def __init__(
        self,
        assembly: Assembly,
        tree: Tree,
        work: Work,
        factor: Factor,
        free: Targets,
        constraints: Constraints,
    ) -> None:
        self.assembly, self.tree, self.work, self.free = assembly, tree, work, free
        wanted = Targets.declared(assembly, tree)
        self.place = {link.body.name: i for i, link in enumerate(tree.links)}
        self.joints = {link.joint.name: link for link in tree.links}
        m, n, bodies = constraints.size, tree.size, len(tree.links)
        sizes = [m * n, m * n, m * m, m * m, m * m, m, m, m, 2 * m + 1, m, m, n]
        arrays = [assembly.allocate("dynamics: multipliers", size) for size in sizes]
        changes = assembly.allocate("dynamics: accelerations from multipliers", 6 * bodies)
        self.reads: list[Slot] = [work.references, work.subspace, factor.slot, *free.u_dot, *free.A_GB]
        self.writes: list[Slot] = [*arrays, changes, constraints.errors, *wanted.u_dot, *wanted.A_GB]
        self.terms: list[list[int]] = []
        rows = [row for found in constraints.all for row in self._equations(found)]
        dofs = []
        for link in tree.links:
            for a, dof in enumerate(link.dofs):
                u = assembly.slot(link.joint, "u").part(a)
                self.reads.append(u)
                accelerations = (free.u_dot[dof].offset, wanted.u_dot[dof].offset)
                dofs.append(
                    [tree.before[dof], factor.starts[dof], factor.diagonals[dof], *accelerations, u.offset]
                )
        moved = []
        for i, link in enumerate(tree.links):
            X_GB = assembly.slot(link.body, "X_GB")
            self.reads.append(X_GB)
            accelerations = (free.A_GB[i].offset, wanted.A_GB[i].offset)
            counts = (link.first_dof, link.joint.nu)
            moved.append([link.parent, work.reference[i], X_GB.offset, *accelerations, *counts])
        terms_at = (1 + m) * cb.WIDTH
        dofs_at = terms_at + len(self.terms) * cb.WIDTH
        header = [m, n, bodies, terms_at, dofs_at, dofs_at + n * cb.WIDTH, int(factor.by_body)]
        offsets = [slot.offset for slot in (*arrays, work.subspace, changes, constraints.errors)]
        self.rows = table(cb.WIDTH, [[*header, *offsets]], rows, self.terms, dofs, moved)

    def _equations(self, found: Traced) -> list[list[int]]:
        part, equations, numbers = found.constraint, found.equations, found.numbers
        slot, width = self.assembly.slot, equations.width
        corrected, known = part.values.options["projected"], type(part).writes("position_error")
        default = not type(part).writes("velocity_error")
        results = [slot(part, name) for name in ("position_error", "velocity_error")]
        self.reads += [numbers, results[0], slot(part, "enabled"), slot(part, "stabilization")]
        self.writes += [slot(part, "multipliers"), slot(part, "redundant"), slot(part, "drifts")]
        self.writes.append(slot(part, "singular"))
        (self.writes if default else self.reads).append(results[1])
        rows = []
        for i, held in enumerate(type(part).levels()):
            drifting = corrected and held == "position" and not known
            level = (LEVEL[held] - drifting) * corrected
            first, at = len(self.terms), numbers.offset + i * width
            for name, size in equations.attachments:
                term = self._term(part, name, size, at)
                at += size
                self.terms.append(term)
            rows.append(
                [
                    numbers.offset + part.equations * width + i,
                    slot(part, "enabled").offset,
                    slot(part, "stabilization").offset,
                    *(result.offset + i for result in results),
                    int(default),
                    slot(part, "multipliers").offset + i,
                    slot(part, "redundant").offset,
                    first,
                    len(equations.attachments),
                    level,
                    slot(part, "drifts").offset,
                    int(drifting),
                    slot(part, "singular").offset,
                ]
            )
        return rows

    def _term(self, part: contracts.Constraint, name: str, size: int, coefficients: int) -> list[int]:
        assembly, force = self.assembly, self.assembly.slot(part, f"force_on_{name}")
        self.writes.append(force)
        if size == 1:
            speed = assembly.asked(part, offered_name("u", name, "coordinate"))
            path = str(getattr(part.values.attachments[name], "name", part.values.attachments[name]))
            link = self.joints[path.partition("[")[0].partition(".")[0]]
            dof = link.first_dof + speed.offset - assembly.slot(link.joint, "u").offset
            free = self.free.u_dot[dof].offset
            return [1, coefficients, free, speed.offset, dof, 0, 0, force.offset, 0, 0]
        body = assembly.attached(part, name)
        X_GB, V_GB = assembly.slot(body, "X_GB"), assembly.slot(body, "V_GB")
        self.reads += [X_GB, V_GB]
        if is_ground(body):
            free_slot = assembly.slot(body, "A_GB")
            self.reads.append(free_slot)
            offsets = [free_slot.offset, V_GB.offset, NOWHERE, X_GB.offset, X_GB.offset]
            return [6, coefficients, *offsets, force.offset, NOWHERE, NOWHERE]
        i = self.place[body.name]
        link_at = i
        while link_at >= 0 and not self.tree.links[link_at].joint.nu:
            link_at = self.tree.links[link_at].parent
        last = NOWHERE if link_at < 0 else self.tree.links[link_at].dofs[-1]
        reference = self.work.reference[i]
        offsets = [self.free.A_GB[i].offset, V_GB.offset, last, X_GB.offset, reference]
        weight = assembly.slot(body, "mass"), assembly.slot(body, "inertia")
        self.reads += weight
        return [6, coefficients, *offsets, force.offset, *(slot.offset for slot in weight)]


def projection_of(assembly: Assembly, tree: Tree, constraints: Constraints) -> Projection:
    """What corrects a solution: quaternions, and where there are constraints positions and speeds."""
    errors = constraints.errors
    quaternions = [
        [assembly.slot(link.joint, "q").offset + at, errors.offset]
        for link in tree.links
        for at in link.joint.quaternions
    ]
    result = Projection(errors.offset)
    if quaternions:
        rows = np.array(quaternions, dtype=np.int64)
        result.normalize.append((pb.normalization_block, rows))
        result.estimates.append((pb.normal_part_block, rows))
    if constraints.rows is not None:
        moving = [link.joint for link in tree.links if link.joint.nu]
        u = [assembly.slot(joint, "u").offset + i for joint in moving for i in range(joint.nu)]
        q = [assembly.slot(joint, "q").offset + i for joint in moving for i in range(joint.nq)]
        movement = np.array([[errors.offset + cb.ERROR_SIZES, len(u), len(q), *u, *q]], dtype=np.int64)
        result.prepare.append((pb.direction_block, constraints.rows))
        result.move.append((pb.movement_block, movement))
        result.speeds.append((pb.velocity_block, constraints.rows))
        result.estimates.append((pb.speed_estimate_block, constraints.rows))
        result.displaced.append((pb.position_estimate_block, constraints.rows))
        result.rates.append((pb.rate_estimate_block, movement))
    return result
