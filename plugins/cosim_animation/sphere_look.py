"""A sphere that shows a body."""

from __future__ import annotations

from typing import ClassVar

import cosim
from cosim_animation.look import Look


class SphereLook(Look):
    """A sphere, its middle at the origin of its frame.

    Frames and signs
    ----------------
    `radius`: of the sphere.

    Examples
    --------
    >>> SphereLook(body="ball", radius="5 cm").sizes()
    [0.05]
    """

    shape: ClassVar[str] = "sphere"

    radius = cosim.parameter(unit="m", above=0.0, description="radius")

    def sizes(self) -> list[float]:
        """See `Look.sizes`."""
        return [float(self.radius)]
