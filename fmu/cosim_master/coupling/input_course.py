"""What the inputs of a participant do over a step."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple


class InputCourse(NamedTuple):
    """What the connected inputs of a participant do over a step.

    Attributes
    ----------
    time : float
        When the step began, s.
    values : sequence
        Then, in the order of the inputs.
    slopes : sequence of float or None
        Per s; None when all are held.
    """

    time: float
    values: Sequence[Any]
    slopes: Sequence[float] | None = None

    def at(self, time: float) -> Sequence[Any]:
        """The inputs at a time of the step (s)."""
        if self.slopes is None:
            return self.values
        past = time - self.time
        return [v + s * past if s else v for v, s in zip(self.values, self.slopes, strict=True)]
