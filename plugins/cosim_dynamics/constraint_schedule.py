"""The blocks that solve constraints."""

from __future__ import annotations

from typing import TYPE_CHECKING

import cosim
from cosim.kit import Block
from cosim_dynamics.constraint_block import constraint_block
from cosim_dynamics.constraint_records import ConstraintRecords
from cosim_dynamics.model_constraints import ModelConstraints
from cosim_dynamics.tree_assembly import Accelerations, TreeAssembly

if TYPE_CHECKING:
    from cosim.kit import Slot


def schedule_constraints(
    parts: TreeAssembly, constraints: ModelConstraints, declared: Accelerations, factor: Slot, errors: Slot
) -> list[Block]:
    """The blocks that add what constraints do to the accelerations without them.

    Parameters
    ----------
    declared : Accelerations
        Where those with constraints go.
    factor : Slot
        What solving without constraints has left behind.
    errors : Slot
        `ConstraintErrors`.
    """
    records = ConstraintRecords(parts)
    for constraint in constraints.all:
        records.add(constraint)
    arrays = _place_arrays(parts)
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


def _place_arrays(parts: TreeAssembly) -> list[Slot]:
    """Allocate the arrays of `constraint_arrays`, and of each link and degree of freedom what it needs."""
    mechanism, allocate = parts.mechanism, parts.assembly.allocate
    m, n, links = mechanism.whole.equations, mechanism.whole.dofs, mechanism.whole.links
    sizes = {
        **dict.fromkeys(("jacobian", "eliminated"), m * n),
        **dict.fromkeys(("products", "columns", "normal"), m * m),
        **dict.fromkeys(("order", "left", "sizes", "trust", "lengths", "values", "multipliers"), m),
        "correction": n,
    }
    arrays = {name: allocate(f"dynamics: {name} of constraints", size) for name, size in sizes.items()}
    for name, slot in arrays.items():
        setattr(mechanism.whole, name, slot.offset)
    corrections = allocate("dynamics: accelerations from multipliers", 6 * links)
    mechanism.whole.speeds_aside = allocate("dynamics: speeds aside", n).offset
    for i, link in enumerate(mechanism.links):
        link.body.correction = corrections.part(6 * i).offset
    return [*arrays.values(), corrections]
