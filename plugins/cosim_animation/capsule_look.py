"""A capsule that shows a body."""

from __future__ import annotations

from typing import ClassVar

import cosim
from cosim_animation.look import Look


class CapsuleLook(Look):
    """A cylinder about z with half spheres at its ends, its middle at the origin of its frame.

    Frames and signs
    ----------------
    `radius`, and `length` along z without the half spheres.

    Examples
    --------
    >>> CapsuleLook(body="arm", radius=0.02, length="30 cm").sizes()
    [0.02, 0.3]
    """

    shape: ClassVar[str] = "capsule"

    radius = cosim.parameter(unit="m", above=0.0, description="radius")
    length = cosim.parameter(unit="m", above=0.0, description="along z")

    def sizes(self) -> list[float]:
        """See `Look.sizes`."""
        return [float(self.radius), float(self.length)]
