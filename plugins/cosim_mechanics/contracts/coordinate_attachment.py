"""Attachments to coordinates of joints."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar

import cosim
from cosim.kit import Argument, Assembly, Attachment, Offer, Slot, attachment
from cosim_mechanics.contracts.constraint import Constraint


class CoordinateAttachment(Attachment):
    """A coordinate of a joint, ``"hinge"`` or ``"hinge[1]"``: its value, speed and generalized force."""

    name = "coordinate"
    offers: ClassVar[Mapping[str, Offer]] = {
        "q": Offer("q", (), meaning="generalized coordinate", array="y"),
        "u": Offer("u", (), meaning="generalized speed", array="y"),
        "tau": Offer("tau", (1,), True, "generalized force"),
        "added_inertia": Offer(
            "added_inertia", (1,), True, "inertia of a rotor", added_at=cosim.Stage.INSTANCE
        ),
    }

    def path(self, attached: str, slot: str) -> str:
        """See `Attachment.path`."""
        joint, _, index = attached.partition("[")
        return f"{joint.partition('.')[0]}.{slot}[{index.rstrip(']') or 0}]"

    def list_all(self, assembly: Assembly) -> list[tuple[str, int]]:
        """Joint and index of every speed that a generalized force acts on."""
        slots = assembly.layout.slots
        return [
            (name, i)
            for name in assembly.parts_by_name
            if slots[name].keys() >= {"tau", "u"}
            for i in range(slots[name]["u"].size)
        ]

    def slot_of(self, assembly: Assembly, part: Any, argument: Argument, number: int | None) -> Slot:
        """See `Attachment.slot_of`."""
        if number is None:
            name, _, index = assembly.attached_path(part, argument.of).partition("[")
            return self._element(assembly, part, argument, name.split(".")[0], index.rstrip("]") or "0")
        if argument.slot == "q":
            raise cosim.ModelError.of(
                "", f"{argument.of} is every speed of the model, and not every speed has a coordinate"
            )
        name, speed_index = self.attachable(assembly)[number]
        return assembly.provided(argument, name).part(speed_index)

    def _element(self, assembly: Assembly, part: Any, argument: Argument, joint: str, index: str) -> Slot:
        """A coordinate, speed or force of a joint; `ModelError` if there is none with this index."""
        slot = assembly.provided(argument, joint)
        speeds = assembly.layout.slots[joint].get("u", slot)
        by_speed = argument.slot != "q" or isinstance(part, Constraint)
        size = speeds.size if by_speed else slot.size
        if not index.isdigit() or int(index) >= size:
            counted = f"{joint}[0]" if size == 1 else f"{joint}[0] … {joint}[{size - 1}]"
            raise cosim.ModelError.of("", f"{argument.of} is '{joint}[{index}]', there are {counted}")
        quantities = {a.slot for all in part.arguments.values() for a in all if a.of == argument.of}
        if argument.slot == "q" and (quantities & {"u", "tau"} or isinstance(part, Constraint)):
            return slot.part(_coordinate_of(assembly, joint, int(index), argument.of))
        return slot.part(int(index))


def _coordinate_of(assembly: Assembly, joint: str, speed: int, attachment: str) -> int:
    """The index of the coordinate whose rate is a speed of a joint; `ModelError` if there is none."""
    coordinates, speeds = (assembly.layout.slots[joint][name].size for name in "qu")
    part, q, u = assembly.parts_by_name[joint], 0, 0
    if coordinates == speeds:
        return speed
    quaternions = getattr(part, "quaternions", ())
    while q < coordinates and u <= speed and coordinates - speeds == len(quaternions):
        if q in quaternions:
            q, u = q + 4, u + 3
        elif u == speed:
            return q
        else:
            q, u = q + 1, u + 1
    raise cosim.ModelError.of(
        "",
        f"{attachment} is '{joint}[{speed}]', but '{joint}' has {coordinates} coordinates for {speeds} "
        "speeds (a quaternion), so no coordinate goes with this speed: hold or drive the speed itself, "
        "or use a joint with angles",
    )


COORDINATE = CoordinateAttachment()


def coordinate(each: bool = False, description: str = "") -> Any:
    """An attachment to a joint's coordinate, which offers ``q``, ``u``, ``tau``, ``added_inertia``.

    With `each` the kernel functions that use it run once for every speed of every joint of the model, and
    may ask for ``u`` and ``tau``.
    """
    return attachment(COORDINATE, each=each, description=description)
