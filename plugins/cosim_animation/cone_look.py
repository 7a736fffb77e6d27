"""A cone that shows a body."""

from __future__ import annotations

from typing import ClassVar

import cosim
from cosim_animation.look import Look


class ConeLook(Look):
    """A cone about z of its frame, its tip up z, the middle of its height at the origin.

    Frames and signs
    ----------------
    `radius`, and `length` along z.

    Examples
    --------
    >>> ConeLook(body="arm", radius=0.02, length="30 cm").sizes()
    [0.02, 0.3]
    """

    shape: ClassVar[str] = "cone"

    radius = cosim.parameter(unit="m", above=0.0, description="radius")
    length = cosim.parameter(unit="m", above=0.0, description="along z")

    def sizes(self) -> list[float]:
        """See `Look.sizes`."""
        return [float(self.radius), float(self.length)]
