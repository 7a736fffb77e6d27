"""Sums of the loads and friction limits of all contacts of two bodies in one plane.

A box on four corners slides when all of them do. Its elastic corners do not share a load in proportion to
their normal forces, so some reach their own friction limit while others can still hold more. So each
evaluation adds up the loads and limits of all contacts of the same two bodies in one plane, and these sums
("total" below) decide whether surfaces that stick break loose.
"""

from __future__ import annotations

from typing import Any

from cosim_mechanics.contracts.contact_law import LOOSE, MARGIN, SLIDES, share_held
from cosim_mechanics.spatial import Reals, Slot, plus, scaled

LOAD, PULL, HOLDS, SLIDES_WITH, BEARS = 0, 3, 6, 7, 8
"""Places of the sums of a grip: loads and pulls of bristles (vectors), static and dynamic friction, and the
lengths of loads that bristles bear."""

GRIP = 9
"""The number of values in a grip."""

STIFFNESS, COUNT = 0, 1
"""Places of the sums of a footing, which depend on positions only: tangential stiffness, contacts."""

FOOTING = 2
"""The number of values in a footing."""

SLIPS = 2.0
"""A contact whose load exceeds its friction by this factor slides, even if others hold the surfaces."""


def add_to_grip(grip: Slot, load: Reals, pull: Reals, bears: float, most: float, slides_with: float) -> None:
    """Add a contact, with the friction limit `most`, to the grip of its two surfaces."""
    for i in range(3):
        grip[LOAD + i] += load[i]
        grip[PULL + i] += pull[i]
    grip[HOLDS] += most
    grip[SLIDES_WITH] += slides_with
    grip[BEARS] += bears


def is_alone(s: Any) -> bool:
    """Whether a contact is the only one of the two bodies in its plane: it then has NaN instead of sums."""
    return not s.footing2[COUNT] >= 0.0


def is_shared(s: Any) -> bool:
    """Whether another contact of the two bodies touches in the same plane, so that sums decide."""
    return bool(s.footing2[COUNT] > 1.0)


def may_hold_more(s: Any) -> bool:
    """Whether surfaces that stick may hold more than sliding ones, so that they must break loose to slide."""
    return bool(s.dynamic_friction < s.static_friction or not is_alone(s))


def friction_limit(s: Any, course: float) -> float:
    """Friction of a contact that slides by itself, N: static friction until the surfaces break loose."""
    coefficient = s.dynamic_friction if course == LOOSE else s.static_friction
    return float(coefficient * s.normal_force)


def short_of_sliding(s: Any, course: float) -> float:
    """The force that is missing until the bristle of a contact that sticks slides by itself, N.

    If several contacts hold together, the damper slows down a foot that slips, and its share of the load
    passes to the others, so that a body stays if their total friction holds it. Only a contact that moves
    faster slides by itself.
    """
    share = 1.0 + MARGIN
    if course != LOOSE and not is_alone(s):
        share = SLIPS
    return share * friction_limit(s, course) - min(s.pull, s.foot_load)


def total_static_friction(s: Any) -> float:
    """Static friction of a contact, or of all contacts that hold together, N."""
    return float(s.grip2[HOLDS] if is_shared(s) else s.static_friction * s.normal_force)


def total_dynamic_friction(s: Any) -> float:
    """Dynamic friction of a contact, or of all contacts that hold together, N."""
    return float(s.grip2[SLIDES_WITH] if is_shared(s) else s.dynamic_friction * s.normal_force)


def total_stiffness(s: Any) -> float:
    """Tangential stiffness of a contact, or of all contacts that hold together, N/m."""
    return float(s.footing2[STIFFNESS] if is_shared(s) else s.tangential_stiffness)


def total_friction(s: Any) -> tuple[float, float, float]:
    """Friction on body 2 of a contact, or of all contacts that hold together, N, in Ground.

    Sliding bristles pull at most with their friction.
    """
    if is_shared(s):
        return scaled(-1.0, s.grip2[PULL : PULL + 3])
    share = -1.0
    if s.regime == SLIDES:
        share = -share_held(s.pull, friction_limit(s, s.load_course))
    return scaled(share, plus(s.load, scaled(s.half_damping, s.slip_velocity)))
