"""A box that shows a body."""

from __future__ import annotations

from typing import ClassVar

import cosim
from cosim_animation.look import Look


class BoxLook(Look):
    """A box, its middle at the origin of its frame.

    Frames and signs
    ----------------
    `size`: the sides along x, y and z of the frame.

    Examples
    --------
    >>> BoxLook(body="crate", size=("40 cm", 0.3, 0.2)).sizes()
    [0.4, 0.3, 0.2]
    """

    shape: ClassVar[str] = "box"

    size = cosim.parameter(unit="m", shape=3, above=0.0, description="sides along x, y, z", elements="xyz")

    def sizes(self) -> list[float]:
        """See `Look.sizes`."""
        return [float(side) for side in self.size]
