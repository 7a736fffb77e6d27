"""The blocks that solve constraints."""

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
from cosim_dynamics.mechanism import NOWHERE
from cosim_dynamics.model_constraints import ModelConstraints
from cosim_dynamics.tree_assembly import Accelerations, TreeAssembly

if TYPE_CHECKING:
    from cosim.kit import Slot

SOLVING = (
    constraint_block,
    *(corrections.velocity_block, corrections.direction_block),
    *(corrections.speed_estimate_block, corrections.position_estimate_block),
)
"""Blocks that eliminate the equations: the same helpers do it, and are most of their machine code."""
compiled_together(SOLVING, BLOCK_SIGNATURE)

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
    arrays = [*_place_header(parts), *_place_groups(parts), *_place_fronts(parts)]
    parts.mechanism.header.errors = errors.offset
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


def _place_header(parts: TreeAssembly) -> list[Slot]:
    """Allocate what belongs to the whole mechanism, and to each link."""
    mechanism, allocate = parts.mechanism, parts.assembly.allocate
    header = mechanism.header
    correction = allocate("dynamics: correction of constraints", header.dofs)
    corrections = allocate("dynamics: accelerations from multipliers", 6 * header.links)
    aside = allocate("dynamics: speeds aside", header.dofs)
    header.correction, header.speeds_aside = correction.offset, aside.offset
    for i, link in enumerate(mechanism.links):
        link.body.correction = corrections.part(6 * i).offset
    return [correction, corrections]


def _place_groups(parts: TreeAssembly) -> list[Slot]:
    """Allocate the arrays of `constraint_arrays`, those of a group one behind the other."""
    groups = parts.mechanism.groups
    sizes = [[size(group.equations, group.members) for size in ARRAYS.values()] for group in groups]
    slot = parts.assembly.allocate("dynamics: equations of constraints", sum(map(sum, sizes)))
    at = slot.offset
    for group, of_group in zip(groups, sizes, strict=True):
        for name, size in zip(ARRAYS, of_group, strict=True):
            setattr(group, name, at)
            at += size
    return [slot]


def _place_fronts(parts: TreeAssembly) -> list[Slot]:
    """Allocate what groups are factorized in along the tree."""
    mechanism, allocate = parts.mechanism, parts.assembly.allocate
    slots = []
    for group in mechanism.groups:
        fronts = fronts_of(mechanism, group)
        places, size = share_places([front.size**2 for front in fronts], [front.parent for front in fronts])
        pivots = [mechanism.links[front.link].dofs + front.candidates for front in fronts]
        rooms = [count * (width_of(Pivot) + front.size) for count, front in zip(pivots, fronts, strict=True)]
        matrices = allocate("dynamics: fronts of constraints", size)
        values = allocate("dynamics: values of fronts", sum(front.size for front in fronts))
        columns = allocate("dynamics: pivots of fronts", sum(rooms))
        at_values, at_pivots = values.offset, columns.offset
        for front, place, room in zip(fronts, places, rooms, strict=True):
            front.matrix, front.values, front.pivots = matrices.offset + place, at_values, at_pivots
            at_values, at_pivots = at_values + front.size, at_pivots + room
        slots += [matrices, values, columns]
    return slots


def share_places(sizes: Sequence[int], parents: Sequence[int]) -> tuple[list[int], int]:
    """Where to put the matrices of fronts so that those that are not needed at a time share memory.

    A matrix is needed from the first front that it takes over to its own.

    Parameters
    ----------
    sizes, parents : sequence of int
        Of each matrix; the index of the front that takes it over, negative where there is none.

    Returns
    -------
    list of int, int
        Where each begins, and how much they take together.
    """
    places = [NOWHERE] * len(sizes)
    rooms: list[tuple[int, int]] = []  # free ones, with where they begin
    room_of: dict[int, tuple[int, int]] = {}
    end = 0
    for i, parent in enumerate(parents):
        for needed in (i, parent):
            if needed >= 0 and places[needed] == NOWHERE:
                fitting = [room for room in rooms if room[0] >= sizes[needed]]
                room = min(fitting, default=(sizes[needed], end))
                if fitting:
                    rooms.remove(room)
                else:
                    end += sizes[needed]
                places[needed], room_of[needed] = room[1], room
        rooms.append(room_of.pop(i))
    return places, end
