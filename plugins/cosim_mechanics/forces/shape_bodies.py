"""Attachment of `Collisions` to bodies with shapes."""

from __future__ import annotations

from typing import Any

import cosim
from cosim.kit import Argument, Assembly, Slot
from cosim_mechanics import contracts
from cosim_mechanics.contracts.bodies_attachment import BodiesAttachment
from cosim_mechanics.contracts.body_attachment import BODY


class ShapeBodies(BodiesAttachment):
    """Bodies with shapes; it checks that bodies which a joint connects are among the ignored pairs."""

    def slot_of(self, assembly: Assembly, part: Any, argument: Argument, number: int | None) -> Slot:
        """See `Attachment.slot_of`."""
        slot = super().slot_of(assembly, part, argument, number)
        check_joined_bodies(assembly, part, argument.of)
        return slot


def check_joined_bodies(assembly: Assembly, part: Any, bodies: str) -> None:
    """Refuse a joint between two bodies with shapes that the collisions do not ignore: it was added later.

    Parameters
    ----------
    assembly : Assembly
    part : Collisions
    bodies : str
        The name of its attachment to the bodies with shapes.

    Raises
    ------
    ModelError
        Names the bodies and the joint.
    """
    moving = BODY.attachable(assembly)
    first = moving.index(assembly.attached_name(part, bodies))
    counts = part.values.numbers["shape_counts"].reshape(-1)
    number_of_body = {moving[first + i]: i + 1 for i, count in enumerate(counts) if count > 0}
    ignored = {tuple(pair) for pair in part.values.numbers["ignored"].reshape(-1, 2).tolist()}
    for joint in assembly.parts(contracts.Joint):
        parent, child = (assembly.attached_name(joint, end) for end in ("parent", "child"))
        pair = tuple(sorted(number_of_body.get(name, 0) for name in (parent, child)))
        if joint.nu < 6 and 0 not in pair and pair not in ignored:
            raise cosim.ModelError.of(
                "",
                f"'{parent}' and '{child}' are joined by '{joint.name}': add the collisions after the joints",
            )
