"""Real time: how fast a run advances beside the clock on the wall."""

from __future__ import annotations

import math
import time as wall


class RealTime:
    """Keeps a run from advancing faster than real time, or another rate.

    Parameters
    ----------
    time : float
        At which the run begins, s.

    Attributes
    ----------
    target_rate : float
        Simulated seconds for each second, at most; 0 means as fast as possible.
    """

    def __init__(self, time: float) -> None:
        self.target_rate = 0.0
        self.start(time)

    def start(self, time: float) -> None:
        """Measure from here on; `time` of the run, s."""
        self._started, self._start_time = wall.perf_counter(), time

    def wait(self, time: float) -> None:
        """Sleep while the run, at `time` (s), is ahead of the target rate."""
        if self.target_rate > 0.0:
            ahead = (time - self._start_time) / self.target_rate - (wall.perf_counter() - self._started)
            if ahead > 0.0:
                wall.sleep(ahead)

    def actual_rate(self, time: float) -> float:
        """Simulated seconds a second so far; NaN before the first step."""
        simulated = time - self._start_time
        return simulated / (wall.perf_counter() - self._started) if simulated > 0.0 else math.nan
