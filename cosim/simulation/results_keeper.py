"""What a run has recorded so far, handed on from time to time, so that a kill does not lose it."""

from __future__ import annotations

import logging
import time as wall
from collections.abc import Callable

from cosim.errors import CosimError
from cosim.simulation.result import Result

EVERY = 10.0  # s, wall-clock time
SHARE = 20.0  # so many times as long as keeping takes, nothing is kept
log = logging.getLogger("cosim.simulation")


class ResultsKeeper:
    """Calls a function with the results so far, every ten seconds; rarely enough not to slow down the run.

    Parameters
    ----------
    keep : callable
        Gets a `Result`. A `CosimError` of it is logged: a run is worth more than a draft of its results.
    """

    def __init__(self, keep: Callable[[Result], object]) -> None:
        self.keep = keep
        self._ended, self._took = wall.monotonic(), 0.0

    @property
    def may_write(self) -> bool:
        """Whether writing would not take too much of the run."""
        return wall.monotonic() - self._ended >= SHARE * self._took

    @property
    def is_due(self) -> bool:
        """Whether it is time."""
        return self.may_write and wall.monotonic() - self._ended >= EVERY

    def write(self, result: Result) -> None:
        """Keep these now."""
        began = wall.monotonic()
        try:
            self.keep(result)
        except CosimError as error:
            log.warning("results so far could not be kept: %s", error)
        self._ended = wall.monotonic()
        self._took = self._ended - began
