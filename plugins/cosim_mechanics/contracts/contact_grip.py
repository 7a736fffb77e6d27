"""What the contacts of two bodies hold together.

A box on four corners slides when all of them do: its elastic corners do not share a load as their normal
forces, so some reach their own cone while others are far from it. These hold what they can. So each
evaluation adds up the loads and limits of all contacts of the same two bodies in one plane, and these sums
("total" below) decide whether surfaces that stick break loose.
"""

from __future__ import annotations

from typing import Any

from cosim_mechanics.contracts.contact_law import LOOSE, MARGIN, SLIDES, share_held
from cosim_mechanics.spatial import Reals, Slot, plus, scaled

LOAD, PULL, HOLDS, SLIDES_WITH, BEARS = 0, 3, 6, 7, 8
"""Where the sums stand: of loads and pulls of bristles, static friction, dynamic friction, and the lengths of
the loads."""

SLIPS = 2.0
"""Load of a bristle, over its friction, at which it slides by itself though others hold the surfaces."""

GRIP = 9
"""How many numbers they are."""

STIFFNESS, COUNT = 0, 1
"""Where the sums stand that depend on the place of the bodies alone: tangential stiffness, and contacts."""

FOOTING = 2
"""How many numbers they are."""


def add_to_grip(grip: Slot, load: Reals, pull: Reals, bears: float, most: float, slides_with: float) -> None:
    """Add a contact, which holds `most`, to those of its two surfaces."""
    for i in range(3):
        grip[LOAD + i] += load[i]
        grip[PULL + i] += pull[i]
    grip[HOLDS] += most
    grip[SLIDES_WITH] += slides_with
    grip[BEARS] += bears


def is_alone(s: Any) -> bool:
    """Whether there is no other contact of the two bodies in its plane: instead of sums it has NaN."""
    return not s.footing2[COUNT] >= 0.0


def is_shared(s: Any) -> bool:
    """Whether another contact of the two bodies touches in the same plane: else its own numbers count."""
    return bool(s.footing2[COUNT] > 1.0)


def may_hold_more(s: Any) -> bool:
    """Whether surfaces that stick hold more than a contact that slides: so they have to break loose."""
    return bool(s.dynamic_friction < s.static_friction or not is_alone(s))


def friction_limit(s: Any, course: float) -> float:
    """Friction with which a contact slides by itself, N: static friction before the surfaces break loose."""
    coefficient = s.dynamic_friction if course == LOOSE else s.static_friction
    return float(coefficient * s.normal_force)


def short_of_sliding(s: Any, course: float) -> float:
    """Force that the bristle of a contact that sticks lacks until it slides by itself, N.

    Where several hold together, one whose foot slips is slowed down by its damper: its share of the load is
    passed on to others, so that a body within its cone stays. Only one that moves faster slides by itself.
    """
    share = 1.0 + MARGIN
    if course != LOOSE and not is_alone(s):
        share = SLIPS
    return share * friction_limit(s, course) - min(s.pull, s.foot_load)


def total_static_friction(s: Any) -> float:
    """Static friction of a contact, or of all that hold together, N."""
    return float(s.grip2[HOLDS] if is_shared(s) else s.static_friction * s.normal_force)


def total_dynamic_friction(s: Any) -> float:
    """Dynamic friction of a contact, or of all that hold together, N."""
    return float(s.grip2[SLIDES_WITH] if is_shared(s) else s.dynamic_friction * s.normal_force)


def total_stiffness(s: Any) -> float:
    """Tangential stiffness of a contact, or of all that hold together, N/m."""
    return float(s.footing2[STIFFNESS] if is_shared(s) else s.tangential_stiffness)


def total_friction(s: Any) -> tuple[float, float, float]:
    """Friction on body 2 of a contact, or of all that hold together, N, in Ground.

    Bristles that slide pull with their friction at most.
    """
    if is_shared(s):
        return scaled(-1.0, s.grip2[PULL : PULL + 3])
    share = -1.0
    if s.regime == SLIDES:
        share = -share_held(s.pull, friction_limit(s, s.load_course))
    return scaled(share, plus(s.load, scaled(s.half_damping, s.slip_velocity)))
