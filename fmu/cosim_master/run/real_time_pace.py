"""Pace: makes a run wait for wall-clock time."""

from __future__ import annotations

from time import perf_counter, sleep

import cosim


class Pace:
    """Waits until it is time for the next communication step.

    Parameters
    ----------
    rate : float
        Simulated seconds in a second, > 0.

    Attributes
    ----------
    overruns : int
        Communication points that were reached too late.
    largest_lag : float
        The largest delay of a communication point, s of wall time.

    Raises
    ------
    ModelError
        When the rate is not greater than 0.
    """

    def __init__(self, rate: float) -> None:
        if isinstance(rate, bool) or not isinstance(rate, (int, float)) or not rate > 0.0:
            raise cosim.ModelError.of("real_time_rate", f"is {rate!r}, needs a number greater than 0")
        self.rate = float(rate)
        self.overruns, self.largest_lag = 0, 0.0
        self.restart(0.0)

    def restart(self, start: float) -> None:
        """Set the clock to this simulated time (s) now."""
        self._start, self._wall_start = start, perf_counter()

    def wait(self, time: float) -> None:
        """Wait until the clock reaches `time` (s); count an overrun if it has passed already."""
        remaining = self._wall_start + (time - self._start) / self.rate - perf_counter()
        if remaining > 0.0:
            sleep(remaining)
        else:
            self.overruns += 1
            self.largest_lag = max(self.largest_lag, -remaining)
