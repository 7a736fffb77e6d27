"""The blocks that set up M u_dot = T - V from composite rigid bodies, and solve it."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

import cosim
from cosim_dynamics.equations_block import equations_block
from cosim_dynamics.solution_block import solution_block
from cosim_dynamics.tree_assembly import TreeAssembly

if TYPE_CHECKING:
    from cosim.kit import Block, Slot


def schedule_composite(parts: TreeAssembly) -> tuple[list[Block], Slot]:
    """The blocks of the acceleration stage, and the slot of the factors, with which constraints solve."""
    assembly, tree, cache, free = parts.assembly, parts.tree, parts.cache, parts.free
    *starts, entries = accumulate(tree.depth, initial=0)
    inertias = assembly.allocate("dynamics: composite inertias", 10 * len(tree.links))
    M = assembly.allocate("dynamics: mass matrix", entries)
    right_side = assembly.allocate("dynamics: T - V", tree.size)
    factor = assembly.allocate("dynamics: factor of the mass matrix", entries)
    solution = assembly.allocate("dynamics: u_dot", tree.size)
    table = parts.mechanism.header
    table.is_by_body = False
    table.M, table.factor, table.entries = M.offset, factor.offset, entries
    table.right_side, table.solution = right_side.offset, solution.offset
    for i, link in enumerate(parts.mechanism.links):
        link.body.carried_inertia = inertias.part(10 * i).offset
    for i, (dof, start) in enumerate(zip(parts.mechanism.dofs, starts, strict=True)):
        dof.row = start
        dof.depth = tree.depth[i]
        dof.D = factor.part(start + dof.depth - 1).offset
    parts.place_forces()
    setting_up = parts.table.block(
        equations_block,
        cosim.Stage.ACCELERATION,
        [
            *(cache.references, cache.subspace, cache.velocities, cache.biases),
            *parts.force_slots,
            *parts.bodies("X_GB", "F_GB", "mass", "center_of_mass", "inertia"),
        ],
        [inertias, cache.forces, M, right_side],
        "equations of motion",
    )
    solving = parts.table.block(
        solution_block,
        cosim.Stage.ACCELERATION,
        [
            *(cache.references, cache.subspace, cache.biases, right_side, M),
            *parts.bodies("X_GB", "V_GB"),
        ],
        [factor, solution, cache.changes, *free.A_GB, *free.u_dot],
        "accelerations",
    )
    return [setting_up, solving], factor
