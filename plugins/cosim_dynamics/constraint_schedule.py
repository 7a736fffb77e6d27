"""The blocks that solve constraints."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate
from typing import TYPE_CHECKING

import cosim
from cosim.kit import Block, width_of
from cosim_dynamics.constraint_block import constraint_block
from cosim_dynamics.constraint_groups import ConstraintGroup
from cosim_dynamics.constraint_records import ConstraintRecords
from cosim_dynamics.group_records import GroupState, Pivot, fronts_of
from cosim_dynamics.model_constraints import ModelConstraints
from cosim_dynamics.tree_assembly import Accelerations, TreeAssembly

if TYPE_CHECKING:
    from cosim.kit import Slot

#: How many reals an array of m equations and n degrees of freedom has.
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
    """The blocks that add what constraints do to the accelerations without them.

    Parameters
    ----------
    groups : sequence of ConstraintGroup
        Of all constraints.
    declared : Accelerations
        Where those with constraints go.
    factor : Slot
        What solving without constraints has left behind.
    errors : Slot
        `ConstraintErrors`.
    """
    records = ConstraintRecords(parts)
    for group in groups:
        members = {dof: i for i, dof in enumerate(group.dofs)}
        for constraint, ends in zip(group.constraints, group.ends, strict=True):
            records.add(constraint, ends, members)
    arrays = [*_place_whole(parts), *_place_groups(parts), *_place_fronts(parts)]
    parts.mechanism.whole.errors = errors.offset
    for u_dot, dof in zip(declared.u_dot, parts.mechanism.dofs, strict=True):
        dof.u_dot = u_dot.offset
    for A_GB, link in zip(declared.A_GB, parts.mechanism.links, strict=True):
        link.A_GB = A_GB.offset
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


def _place_whole(parts: TreeAssembly) -> list[Slot]:
    """Allocate what belongs to the whole mechanism, and to each link."""
    mechanism, allocate = parts.mechanism, parts.assembly.allocate
    whole = mechanism.whole
    correction = allocate("dynamics: correction of constraints", whole.dofs)
    corrections = allocate("dynamics: accelerations from multipliers", 6 * whole.links)
    aside = allocate("dynamics: speeds aside", whole.dofs)
    whole.correction, whole.speeds_aside = correction.offset, aside.offset
    for i, link in enumerate(mechanism.links):
        link.body.correction = corrections.part(6 * i).offset
    return [correction, corrections]


def _place_groups(parts: TreeAssembly) -> list[Slot]:
    """Allocate the arrays of `constraint_arrays`: of each name those of all groups one behind the other."""
    groups, slots = parts.mechanism.groups, []
    for name, size in ARRAYS.items():
        sizes = [size(group.equations, group.members) for group in groups]
        slot = parts.assembly.allocate(f"dynamics: {name} of constraints", sum(sizes))
        for group, start in zip(groups, accumulate(sizes, initial=slot.offset), strict=False):
            setattr(group, name, start)
        slots.append(slot)
    return slots


def _place_fronts(parts: TreeAssembly) -> list[Slot]:
    """Allocate what groups are factorized in along the tree."""
    mechanism, allocate = parts.mechanism, parts.assembly.allocate
    slots = []
    for group in mechanism.groups:
        fronts = fronts_of(mechanism, group)
        sizes = [front.size for front in fronts]
        pivots = [mechanism.links[front.link].dofs + front.candidates for front in fronts]
        group.front_entries = sum(n * n for n in sizes)
        matrices = allocate("dynamics: fronts of constraints", group.front_entries)
        values = allocate("dynamics: values of fronts", sum(sizes))
        rooms = [count * (width_of(Pivot) + n) for count, n in zip(pivots, sizes, strict=True)]
        columns = allocate("dynamics: pivots of fronts", sum(rooms))
        group.front_matrices = at_matrix = matrices.offset
        at_values, at_pivots = values.offset, columns.offset
        for front, n, room in zip(fronts, sizes, rooms, strict=True):
            front.matrix, front.values, front.pivots = at_matrix, at_values, at_pivots
            at_matrix, at_values, at_pivots = at_matrix + n * n, at_values + n, at_pivots + room
        slots += [matrices, values, columns]
    return slots
