"""A step that an FMU could not make."""

from __future__ import annotations

import cosim


class StepDiscardedError(cosim.FmuError):
    """The FMU discarded a step; from a saved state a shorter one may do."""

    @staticmethod
    def is_cause_of(error: BaseException) -> bool:
        """Whether an error of a co-simulation comes from a discarded step."""
        return isinstance(error.__cause__, StepDiscardedError)
