"""Attachments to bodies that touch, with the inertia that a force at one point of them accelerates."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from typing import Any, ClassVar, cast

from cosim.kit import Argument, Assembly, Offer, Slot, attachment
from cosim_mechanics.contracts.body_attachment import BodyAttachment
from cosim_mechanics.contracts.contact_grip import FOOTING, GRIP
from cosim_mechanics.spatial import Reals, cross, dot, inertia_times, minus, rotate_inverse, station

SUMS = {"footing": FOOTING, "grip": GRIP}
"""Slots that contacts in one plane share, and their sizes."""


class TouchingBody(BodyAttachment):
    """A body that touches: it offers the inertia of free bodies, and sums of contacts, too."""

    offers: ClassVar[Mapping[str, Offer]] = {
        **BodyAttachment.offers,
        "turning": Offer(
            "turning",
            (9,),
            meaning="inverse inertia, 1/(kg.m2), and centre of mass, m; 0 of a body that a joint holds",
        ),
        "footing": Offer("footing", (FOOTING,), True, "stiffness and number of the contacts in one plane"),
        "grip": Offer("grip", (GRIP,), True, "sums of all contacts in one plane: `contact_grip`"),
    }

    def has_offer(self, assembly: Assembly, part: Any, argument: Argument) -> bool:
        """See `Attachment.has_offer`: a contact alone in its plane has no sums."""
        return argument.slot not in SUMS or touching_surfaces(assembly, part) in sums(assembly)

    def slot_of(self, assembly: Assembly, part: Any, argument: Argument, number: int | None) -> Slot:
        """See `Attachment.slot_of`."""
        if argument.slot in SUMS:
            slots = sums(assembly).get(touching_surfaces(assembly, part), {})
            return slots.get(argument.slot) or assembly.nan_slot(SUMS[argument.slot])
        if argument.slot != "turning":
            return super().slot_of(assembly, part, argument, number)
        name = assembly.attached_name(part, argument.of)
        if name not in turning_bodies(assembly):
            fixed = [n for n, slots in assembly.layout.slots.items() if "turning" in slots]
            name = next(n for n in fixed if "mass" not in assembly.layout.slots[n])
        return assembly.provided(argument, name)


def turning_bodies(assembly: Assembly) -> set[str]:
    """Bodies with six degrees of freedom that carry no others; computed once for each assembly."""
    if "turning" not in assembly.attachable:
        from cosim_mechanics.contracts.joint import Joint  # not at the top: joints use attachments

        joints = assembly.parts(Joint)
        free = {assembly.attached_name(joint, "child") for joint in joints if joint.nu == 6}
        free -= {assembly.attached_name(joint, "parent") for joint in joints}
        assembly.attachable["turning"] = [name for name in free if "turning" in assembly.layout.slots[name]]
    return set(assembly.attachable["turning"])


def sums(assembly: Assembly) -> dict[tuple[Any, ...], dict[str, Slot]]:
    """The accumulators of contacts that decide together, by their `touching_surfaces`."""
    if "grip" not in assembly.attachable:
        contacts = [part for part in assembly.parts_by_name.values() if is_contact(part)]
        counts = Counter(touching_surfaces(assembly, contact) for contact in contacts)
        shared = {
            key: {name: assembly.accumulator(name, size) for name, size in SUMS.items()}
            for key, count in counts.items()
            if count > 1
        }
        assembly.attachable["grip"] = [shared]
    return cast("dict[tuple[Any, ...], dict[str, Slot]]", assembly.attachable["grip"][0])


def is_contact(part: Any) -> bool:
    """Whether a part is attached to bodies that touch."""
    declaration = part.declarations.get("body2")
    return declaration is not None and declaration.options.get("attachment") is TOUCHING_BODY


def touching_surfaces(assembly: Assembly, contact: Any) -> tuple[Any, ...]:
    """The two bodies and the plane of a contact: contacts with the same ones decide together."""
    bodies = (assembly.attached_path(contact, body) for body in ("body1", "body2"))
    return (*bodies, contact.plane_of_contact() or contact.name)


def inverse_mass_across(turning: Reals, X_GB: Reals, point: Reals, normal: Reals) -> float:
    """The contribution of rotation to the inverse mass at a point of a body, 1/kg, mean across a normal.

    >>> ball = (2.5, 2.5, 2.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0)
    >>> at = (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 5.0, 0.0, 1.0)
    >>> inverse_mass_across(ball, at, (5.0, 0.0, 0.0), (0.0, 0.0, 1.0))
    2.5
    """
    inverse = turning[0:6]
    arm = rotate_inverse(X_GB, minus(point, station(X_GB, turning[6:9])))
    about = cross(arm, rotate_inverse(X_GB, normal))
    total = dot(arm, arm) * (inverse[0] + inverse[1] + inverse[2]) - dot(arm, inertia_times(inverse, arm))
    return float(0.5 * (total - dot(about, inertia_times(inverse, about))))


def mass_at_contact(s: Any) -> float:
    """Effective mass of two bodies at their contact, along the surfaces, kg; of a solid ball 2/7 of its mass.

    It treats bodies with joints as if they could not rotate, and neglects other contacts.
    """
    inverse = s.inverse_mass1 + s.inverse_mass2
    inverse += inverse_mass_across(s.turning1, s.X_GB1, s.point, s.normal)
    inverse += inverse_mass_across(s.turning2, s.X_GB2, s.point, s.normal)
    return float(1.0 / inverse if inverse > 0.0 else 0.0)


def mass_on_bristle(stiffness: float, sum_of_stiffness: float, mass_here: float, mass: float) -> float:
    """The mass that determines the damping of a bristle, kg: a share if the bodies touch in several points.

    It tends to `mass_here`, that at the contact, if the other contacts hardly touch. The sum is NaN for a
    contact that is alone.

    >>> import math
    >>> mass_on_bristle(5.0, math.nan, 2.0, 7.0), mass_on_bristle(5.0, 5.0, 2.0, 7.0)
    (2.0, 2.0)
    >>> round(mass_on_bristle(5.0, 20.0, 2.0, 7.0), 3)
    1.75
    """
    if not sum_of_stiffness > stiffness:
        return mass_here
    share = stiffness / sum_of_stiffness
    alone = share * share
    alone = alone * alone
    return share * (mass - alone * alone * (mass - mass_here))


TOUCHING_BODY = TouchingBody()


def touching_body(description: str = "") -> Any:
    """An attachment to a body that touches another one."""
    return attachment(TOUCHING_BODY, description=description)
