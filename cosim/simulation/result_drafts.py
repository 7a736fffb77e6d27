"""Results so far, written from time to time, so that a kill does not lose them."""

from __future__ import annotations

import logging
import time as wall
from collections.abc import Callable

from cosim.errors import CosimError
from cosim.simulation.result import Result

EVERY = 10.0  # s, wall-clock time
SHARE = 20.0  # the least time between two drafts, in times that the last one took to write
log = logging.getLogger("cosim.simulation")


class ResultDrafts:
    """Hands results so far to a function, every ten seconds, and rarely enough not to slow down the run.

    Parameters
    ----------
    write_draft : callable
        Gets a `Result`. A `CosimError` of it is logged: a run is worth more than a draft of its results.
    """

    def __init__(self, write_draft: Callable[[Result], object]) -> None:
        self._write_draft = write_draft
        self._last, self._duration = wall.monotonic(), 0.0

    @property
    def may_write(self) -> bool:
        """Whether a draft would not take too large a share of the run."""
        return wall.monotonic() - self._last >= SHARE * self._duration

    @property
    def is_due(self) -> bool:
        """Whether it is time to write one."""
        return self.may_write and wall.monotonic() - self._last >= EVERY

    def write(self, result: Result) -> None:
        """Write a draft of the result now; a failure is only logged."""
        start = wall.monotonic()
        try:
            self._write_draft(result)
        except CosimError as error:
            log.warning("results so far could not be kept: %s", error)
        self._last = wall.monotonic()
        self._duration = self._last - start
