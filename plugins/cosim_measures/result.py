"""A result that another part computes."""

from __future__ import annotations

import math
from typing import Any, ClassVar

import cosim

STAGES = ("time", "position", "velocity", "dynamics", "acceleration")


class Result(cosim.Measure):
    """A place for a number that code outside of the system computes.

    Law: value = what `set` wrote since the State was realized to the stage `depends_on`; not a number
    before. It is part of the cache, not of the State: whenever that stage is computed again, it has to be
    set again, so it is never stale. What is realized later reads it.

    Parameters
    ----------
    depends_on : str
        The stage that has to be realized before the number can be computed.

    Raises
    ------
    StageError
        When it is set too early, or read while it is not set.

    Examples
    --------
    >>> Result(depends_on="position").depends_on
    'position'
    """

    contract_kit: ClassVar[str] = cosim.Component.contract_kit  # not a number before it is set

    depends_on = cosim.option("time", choices=STAGES, description="stage that has to be realized before")

    @cosim.kernel(stage="depends_on")
    def forget(value):
        value[0] = math.nan

    def set(self, state: cosim.State, value: float) -> None:
        """Write the number into a State; what has been realized beyond the stage has to be realized again."""
        stage = cosim.Stage[self.depends_on.upper()]
        state.require(stage, f"{self.name}.set()")
        slot = state.system.signal(f"{self.name}.value").slot
        state.arrays["c"][slot.offset] = value
        if state.stage > stage:
            state.invalidate(cosim.Stage(stage + 1), f"{self.name}.set()")

    def read(self, state: cosim.State, order: int = 0) -> Any:
        """The number, if it has been set."""
        value = super().read(state, order)
        if math.isnan(value):
            stage = cosim.Stage[self.depends_on.upper()]
            raise cosim.StageError(f"{self.name} (not set)", stage, stage.previous, "realizing it again")
        return value
