"""What the contacts of two bodies hold together.

A box on four corners slides when all of them do: its elastic corners do not share a load as their normal
forces, so some reach their own cone while others are far from it. These hold what they can, and a question
to surfaces that stick is one to all contacts of the same two bodies, added up by each evaluation.
"""

from __future__ import annotations

from cosim_mechanics.contracts.contact_law import share_held
from cosim_mechanics.spatial import Reals, Slot, norm, scaled

LOAD, PULL, HOLDS, SLIDES_WITH, BEARS, STIFFNESS, COUNT = 0, 3, 6, 7, 8, 9, 10
"""Where the sums stand: of loads and pulls of bristles, static friction, dynamic friction, the lengths of the
loads, tangential stiffness and contacts."""

GRIP = 11
"""How many numbers they are."""


def add_to_grip(
    grip: Slot,
    load: Reals,
    pull: Reals,
    holds: float,
    slides_with: float,
    stiffness: float,
    is_sliding: bool,
) -> None:
    """Add a contact to those of its two bodies; one that slides holds dynamic friction."""
    most = slides_with if is_sliding else holds
    bears = min(norm(load), norm(pull))
    share = 1.0
    if is_sliding:
        share = share_held(norm(pull), slides_with)
        load = pull
        bears = most
    for i in range(3):
        grip[LOAD + i] += share * load[i]
        grip[PULL + i] += share * pull[i]
    grip[HOLDS] += most
    grip[SLIDES_WITH] += slides_with
    grip[BEARS] += bears
    grip[STIFFNESS] += stiffness
    grip[COUNT] += 1.0


def friction_of(grip: Reals) -> tuple[float, float, float]:
    """Friction on body 2 of all contacts together, N."""
    return scaled(-1.0, grip[PULL : PULL + 3])
