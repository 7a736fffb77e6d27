"""What the contacts of two bodies hold together.

A box on four corners slides when all of them do: its elastic corners do not share a load as their normal
forces, so some reach their own cone while others are far from it. These hold what they can, and a question
to surfaces that stick is one to all contacts of the same two bodies, added up by each evaluation.
"""

from __future__ import annotations

from typing import Any

from cosim_mechanics.contracts.contact_law import SLIDES, share_held
from cosim_mechanics.spatial import Reals, Slot, plus, scaled

LOAD, PULL, HOLDS, SLIDES_WITH, BEARS, STIFFNESS, COUNT = 0, 3, 6, 7, 8, 9, 10
"""Where the sums stand: of loads and pulls of bristles, static friction, dynamic friction, the lengths of the
loads, tangential stiffness and contacts."""

GRIP = 11
"""How many numbers they are."""


def add_to_grip(
    grip: Slot, load: Reals, foot_load: float, pull: Reals, size: float, most: float, slides_with: float
) -> None:
    """Add a contact, which holds `most`, to those of its two surfaces: load and pull, and their lengths."""
    for i in range(3):
        grip[LOAD + i] += load[i]
        grip[PULL + i] += pull[i]
    grip[HOLDS] += most
    grip[SLIDES_WITH] += slides_with
    grip[BEARS] += min(foot_load, size)
    grip[COUNT] += 1.0


def is_shared(s: Any) -> bool:
    """Whether another contact of the two bodies touches in the same plane: else its own numbers count.

    A contact that is alone in its plane has no sums, but NaN.
    """
    return bool(s.grip2[COUNT] > 1.0)


def held_by_statics(s: Any) -> float:
    """Static friction, N."""
    return float(s.grip2[HOLDS] if is_shared(s) else s.static_friction * s.normal_force)


def shared_stiffness(s: Any) -> float:
    """Tangential stiffness, N/m."""
    return float(s.grip2[STIFFNESS] if is_shared(s) else s.tangential_stiffness)


def friction_together(s: Any) -> tuple[float, float, float]:
    """Friction on body 2, N: bristles that slide pull with dynamic friction at most."""
    if is_shared(s):
        return scaled(-1.0, s.grip2[PULL : PULL + 3])
    share = -1.0
    if s.regime == SLIDES:
        share = -share_held(s.pull, s.dynamic_friction * s.normal_force)
    return scaled(share, plus(s.load, scaled(s.half_damping, s.slip_velocity)))
