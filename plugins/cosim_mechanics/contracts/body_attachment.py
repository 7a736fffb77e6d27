"""Attachments to bodies."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

from cosim.kit import Argument, Assembly, Attachment, Offer, Slot, attachment


class BodyAttachment(Attachment):
    """A body: a part that has a pose."""

    name = "body"
    offers: ClassVar[Mapping[str, Offer]] = {
        "X_GB": Offer("X_GB", (12,), meaning="pose of the body in Ground"),
        "V_GB": Offer(
            "V_GB", (6,), meaning="spatial velocity of the body's origin in Ground, rotation first"
        ),
        "A_GB": Offer("A_GB", (6,), meaning="spatial acceleration of the body's origin in Ground"),
        "F_GB": Offer("F_GB", (6,), True, "spatial force on the body about its origin, in Ground"),
        "inverse_mass": Offer("inverse_mass", (), meaning="1/kg, 0 of what does not move"),
        "mass": Offer("mass", (), meaning="kg", array="p"),
        "feels_gravity": Offer("feels_gravity", (), meaning="1 or 0", array="p"),
        "center_of_mass": Offer("center_of_mass", (3,), meaning="in the body's frame, m", array="p"),
        "inertia": Offer(
            "inertia", (6,), meaning="Ixx Iyy Izz Ixy Ixz Iyz about the centre of mass, kg.m2", array="p"
        ),
    }

    def list_all(self, assembly: Assembly) -> list[str]:
        """Names of the parts that move and have a pose: those with a mass."""
        slots = assembly.layout.slots
        return [n for n in assembly.parts_by_name if slots[n].keys() >= {"X_GB", "mass"}]

    def slot_of(self, assembly: Assembly, part: Any, argument: Argument, number: int | None) -> Slot:
        """See `Attachment.slot_of`."""
        name = (
            assembly.attached_name(part, argument.of) if number is None else self.attachable(assembly)[number]
        )
        return assembly.provided(argument, name)


BODY = BodyAttachment()


def body(each: bool = False, description: str = "") -> Any:
    """An attachment to a body, which offers ``X_GB``, ``V_GB``, ``F_GB``, ``mass`` … with its suffix.

    With `each` the kernel functions that use it run once for every body of the model.
    """
    return attachment(BODY, each=each, description=description)
