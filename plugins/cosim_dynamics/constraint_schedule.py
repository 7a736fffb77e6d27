"""The blocks that solve constraints, and the memory in which they do."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING

import cosim
from cosim.kit import BLOCK_SIGNATURE, Block, compiled_together, width_of
from cosim_dynamics import projection_blocks as corrections
from cosim_dynamics.constraint_block import constraint_block
from cosim_dynamics.constraint_groups import ConstraintGroup
from cosim_dynamics.constraint_records import ConstraintRecords
from cosim_dynamics.group_records import GroupState, Pivot, fronts_of
from cosim_dynamics.model_constraints import ModelConstraints
from cosim_dynamics.shared_places import share_places
from cosim_dynamics.tree_assembly import Accelerations, TreeAssembly

if TYPE_CHECKING:
    from cosim.kit import Slot

SOLVING = (
    constraint_block,
    *(corrections.velocity_block, corrections.direction_block),
    *(corrections.speed_estimate_block, corrections.position_estimate_block),
)
"""Blocks that eliminate equations; compiled together, since they share most of their machine code."""
compiled_together(SOLVING, BLOCK_SIGNATURE)

#: By field of `ConstraintArrays` the length of an array for m equations and n degrees of freedom.
ARRAYS: dict[str, Callable[[int, int], int]] = {
    "state": lambda m, n: width_of(GroupState),
    **dict.fromkeys(("jacobian", "eliminated"), lambda m, n: m * n),
    **dict.fromkeys(("products", "columns", "normal"), lambda m, n: m * m),
    **dict.fromkeys(
        (
            *("order", "left", "sizes", "trust", "lengths", "values", "multipliers"),
            *("state_of_equations", "softness"),
        ),
        lambda m, n: m,
    ),
}


def schedule_constraints(
    parts: TreeAssembly,
    constraints: ModelConstraints,
    groups: Sequence[ConstraintGroup],
    declared: Accelerations,
    factor: Slot,
    errors: Slot,
) -> list[Block]:
    """Make the blocks that add the effect of constraints to the accelerations without them.

    Their places are written into the table of `parts`.

    Parameters
    ----------
    groups : sequence of ConstraintGroup
        Of all constraints.
    declared : Accelerations
        Where the accelerations with constraints are written.
    factor : Slot
        The factors with which the accelerations without constraints were solved for.
    errors : Slot
        `ConstraintErrors`.
    """
    records = ConstraintRecords(parts)
    for group in groups:
        records.add_group(group)
    arrays = [*_allocate_corrections(parts), *_allocate_groups(parts), *_allocate_fronts(parts)]
    parts.mechanism.header.errors = errors.offset
    _place_accelerations(parts, declared)
    joints = [link.joint for link in parts.tree.links if link.joint.nu]
    reads = [
        *(parts.cache.references, parts.cache.subspace, factor, *parts.free.u_dot, *parts.free.A_GB),
        *records.reads,
        *(parts.assembly.slot(joint, "u") for joint in joints),
        *parts.bodies("X_GB"),
    ]
    writes = [*arrays, errors, *declared.u_dot, *declared.A_GB, *records.writes]
    solving = parts.table.block(constraint_block, cosim.Stage.ACCELERATION, reads, writes, "constraints")
    return [*constraints.blocks, solving]


def _place_accelerations(parts: TreeAssembly, declared: Accelerations) -> None:
    """Write into the table where the accelerations with constraints lie."""
    for u_dot, dof in zip(declared.u_dot, parts.mechanism.dofs, strict=True):
        dof.u_dot = u_dot.offset
    for A_GB, link in zip(declared.A_GB, parts.mechanism.links, strict=True):
        link.A_GB = A_GB.offset


def _allocate_corrections(parts: TreeAssembly) -> list[Slot]:
    """Allocate corrections of speeds and accelerations, and write their places into the table."""
    mechanism, allocate = parts.mechanism, parts.assembly.allocate
    header = mechanism.header
    correction = allocate("dynamics: correction of constraints", header.dofs)
    corrections = allocate("dynamics: accelerations from multipliers", 6 * header.links)
    saved_speeds = allocate("dynamics: speeds aside", header.dofs)
    header.correction, header.speeds_aside = correction.offset, saved_speeds.offset
    for i, link in enumerate(mechanism.links):
        link.body.correction = corrections.part(6 * i).offset
    return [correction, corrections]


def _allocate_groups(parts: TreeAssembly) -> list[Slot]:
    """Allocate `ARRAYS` of each group one behind the other, and write their places into its record."""
    groups = parts.mechanism.groups
    sizes = [[size(group.equations, group.members) for size in ARRAYS.values()] for group in groups]
    slot = parts.assembly.allocate("dynamics: equations of constraints", sum(map(sum, sizes)))
    at = slot.offset
    for group, of_group in zip(groups, sizes, strict=True):
        for name, size in zip(ARRAYS, of_group, strict=True):
            setattr(group, name, at)
            at += size
    return [slot]


def _allocate_fronts(parts: TreeAssembly) -> list[Slot]:
    """Allocate the memory in which groups are factorized along the tree; write its places into the fronts."""
    mechanism, allocate = parts.mechanism, parts.assembly.allocate
    slots = []
    for group in mechanism.groups:
        fronts = fronts_of(mechanism, group)
        shared = share_places([front.size**2 for front in fronts], [front.parent for front in fronts])
        counts = [mechanism.links[front.link].dofs + front.candidates for front in fronts]
        lengths = [
            count * (width_of(Pivot) + front.size) for count, front in zip(counts, fronts, strict=True)
        ]
        matrices = allocate("dynamics: fronts of constraints", shared.size)
        values = allocate("dynamics: values of fronts", sum(front.size for front in fronts))
        pivots = allocate("dynamics: pivots of fronts", sum(lengths))
        values_at, pivots_at = values.offset, pivots.offset
        for front, start, length in zip(fronts, shared.starts, lengths, strict=True):
            front.matrix, front.values, front.pivots = matrices.offset + start, values_at, pivots_at
            values_at, pivots_at = values_at + front.size, pivots_at + length
        slots += [matrices, values, pivots]
    return slots
