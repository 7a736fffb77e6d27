"""Names that kernel functions may ask for through an attachment.

Names and shapes only: who fills them is found when a system is assembled.
"""

from __future__ import annotations

from dataclasses import dataclass

RING = 8  # integers that say where a history lies, see `cosim.system.history_buffer`


@dataclass(frozen=True)
class Offer:
    """A name that an attachment offers.

    Attributes
    ----------
    slot : str
        Name of the declaration at the provider.
    shape : tuple of int
    accumulates : bool
        Whether it is only added to (forces).
    meaning : str
    array : str
        Where the provider keeps it: "c" (computed), "p" (parameter) or "y" (state).
    """

    slot: str
    shape: tuple[int, ...]
    accumulates: bool = False
    meaning: str = ""
    array: str = "c"


OFFERS: dict[str, dict[str, Offer]] = {
    "body": {
        "X_GB": Offer("X_GB", (12,), meaning="pose of the body in Ground"),
        "V_GB": Offer(
            "V_GB", (6,), meaning="spatial velocity of the body's origin in Ground, rotation first"
        ),
        "A_GB": Offer("A_GB", (6,), meaning="spatial acceleration of the body's origin in Ground"),
        "F_GB": Offer("F_GB", (6,), True, "spatial force on the body about its origin, in Ground"),
        "mass": Offer("mass", (), meaning="kg", array="p"),
        "feels_gravity": Offer("feels_gravity", (), meaning="1 or 0", array="p"),
        "center_of_mass": Offer("center_of_mass", (3,), meaning="in the body's frame, m", array="p"),
        "inertia": Offer(
            "inertia", (6,), meaning="Ixx Iyy Izz Ixy Ixz Iyz about the centre of mass, kg.m2", array="p"
        ),
    },
    "coordinate": {
        "q": Offer("q", (), meaning="generalized coordinate", array="y"),
        "u": Offer("u", (), meaning="generalized speed", array="y"),
        "tau": Offer("tau", (1,), True, "generalized force"),
    },
    "source": {
        "": Offer("value", (), meaning="value of the source"),
        "_dot": Offer("value_dot", (), meaning="its time derivative, NaN where there is none"),
        "_dot2": Offer("value_dot2", (), meaning="the second one, likewise"),
        "_dot3": Offer("value_dot3", (), meaning="the third one, likewise"),
    },
}


def offered_names(attachment: str, kind: str) -> dict[str, Offer]:
    """Argument names that an attachment brings: ``body1`` offers ``X_GB1``, a source ``s`` ``s_dot``."""
    if kind == "source":
        return {attachment + suffix: offer for suffix, offer in OFFERS[kind].items()}
    suffix = attachment[len(kind) :] if attachment.startswith(kind) else "_" + attachment
    return {name + suffix: offer for name, offer in OFFERS[kind].items()}
