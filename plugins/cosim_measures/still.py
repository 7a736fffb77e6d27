"""What signals that only jump have in common."""

from __future__ import annotations

from typing import ClassVar

import cosim


class Still(cosim.Measure):
    """Base of signals whose derivatives are all 0: what they do otherwise, they do at events."""

    known_derivatives: ClassVar[tuple[float, ...]] = (0.0,)

    @cosim.kernel
    def still(value_dot, value_dot2, value_dot3):
        value_dot[0] = 0.0
        value_dot2[0] = 0.0
        value_dot3[0] = 0.0
