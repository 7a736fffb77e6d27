"""Real time: how fast a run goes beside the clock on the wall."""

from __future__ import annotations

import math
import time as wall


class Pace:
    """Keeps a run from going faster than real time, or another rate.

    Attributes
    ----------
    target : float
        Simulated seconds for each second, at most; 0 means as fast as possible.
    """

    def __init__(self, time: float) -> None:
        self.target = 0.0
        self.begin(time)

    def begin(self, time: float) -> None:
        """Measure from here on; `time` of the run, s."""
        self._since, self._start = wall.perf_counter(), time

    def wait(self, time: float) -> None:
        """Wait until the run may go on at `time`, s."""
        if self.target > 0.0:
            ahead = (time - self._start) / self.target - (wall.perf_counter() - self._since)
            if ahead > 0.0:
                wall.sleep(ahead)

    def actual(self, time: float) -> float:
        """Simulated seconds a second so far; NaN before the first step."""
        passed = time - self._start
        return passed / (wall.perf_counter() - self._since) if passed > 0.0 else math.nan
