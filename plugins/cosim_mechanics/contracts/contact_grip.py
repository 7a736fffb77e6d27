"""What the contacts of two bodies hold together.

A box on four corners slides when all of them do: its elastic corners do not share a load as their normal
forces, so some reach their own cone while others are far from it. These hold what they can, and a question
to surfaces that stick is one to all contacts of the same two bodies, added up by each evaluation.
"""

from __future__ import annotations

from cosim_mechanics.spatial import Reals, Slot, scaled

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


def friction_of(grip: Reals) -> tuple[float, float, float]:
    """Friction on body 2 of all contacts together, N."""
    return scaled(-1.0, grip[PULL : PULL + 3])
