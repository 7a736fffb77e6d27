"""Corrections of a solution after a step: quaternions, and with constraints positions and speeds."""

from __future__ import annotations

from typing import TYPE_CHECKING

from cosim.kit import Projection, place_in
from cosim_dynamics import projection_blocks as corrections
from cosim_dynamics.constraint_arrays import ConstraintErrors
from cosim_dynamics.solver_blocks import rows_from
from cosim_dynamics.tree_assembly import TreeAssembly

if TYPE_CHECKING:
    from cosim.kit import Slot


def schedule_projection(parts: TreeAssembly, errors: Slot) -> Projection:
    """The corrections of a tree.

    Parameters
    ----------
    errors : Slot
        `ConstraintErrors`.
    """
    assembly, tree, mechanism = parts.assembly, parts.tree, parts.table.rows
    projection = Projection(errors.offset)
    quaternions = [
        corrections.QuaternionSlots(
            q=assembly.slot(link.joint, "q").part(first).offset,
            changed=errors.part(place_in(ConstraintErrors, "changed")).offset,
        )
        for link in tree.links
        for first in link.joint.quaternions
    ]
    if quaternions:
        rows = rows_from(quaternions)
        projection.normalize.append((corrections.normalization_block, rows))
        projection.estimates.append((corrections.normal_part_block, rows))
    if parts.mechanism.header.equations:
        coordinates = rows_from(
            [
                corrections.CoordinateSlots(q=assembly.slot(link.joint, "q").part(i).offset)
                for link in tree.links
                for i in range(link.joint.nq if link.joint.nu else 0)
            ]
        )
        projection.prepare.append((corrections.direction_block, mechanism))
        projection.move.append((corrections.movement_block, coordinates))
        projection.move.append((corrections.restoration_block, mechanism))
        projection.speeds.append((corrections.velocity_block, mechanism))
        projection.estimates.append((corrections.speed_estimate_block, mechanism))
        projection.displaced.append((corrections.position_estimate_block, mechanism))
        projection.rates.append((corrections.movement_block, coordinates))
    return projection
