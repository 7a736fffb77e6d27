"""The clock inside an FMU that counts by adding its inner step."""

from __future__ import annotations

import math

import cosim


class InnerClock:
    """The sum that such a clock adds up, so that communication points meet its steps to the last bit.

    A sum of steps of 0.01 s and ``i * 0.01`` s differ in the last bits. An FMU steps while its sum is smaller
    than the end that it receives: with ``i * 0.01`` s it sometimes makes no step, or two steps, in place of
    one.

    Parameters
    ----------
    step : float or str
        s or "10 ms": finite, > 0.
    start : float
        s.

    Raises
    ------
    ModelError

    Examples
    --------
    >>> clock = InnerClock("10 ms", 0.0)
    >>> clock.at(6 * 0.01), clock.at(0.065)
    (0.060000000000000005, 0.065)
    """

    def __init__(self, step: float | str, start: float = 0.0) -> None:
        try:
            self.step = cosim.parse_quantity(step, "s") if isinstance(step, str) else float(step)
        except (ValueError, TypeError, cosim.CosimError):
            self.step = math.nan
        if not 0.0 < self.step < math.inf:
            text = f'is {step!r}, needs a time greater than 0: 0.01 (s) or "10 ms"'
            raise cosim.ModelError.of("options.inner_step", text)
        self._start, self._count, self._sum = start, 0, start
        self._before = 0, start  # where a step begins that may be repeated

    def at(self, time: float) -> float:
        """The clock's sum if `time` (s) is one of its steps; else `time`."""
        count = round((time - self._start) / self.step)
        rounding = 8.0 * math.ulp(max(abs(time), abs(self._start)))
        if abs(self._start + count * self.step - time) > rounding:
            return time
        if count < self._count:
            self._count, self._sum = self._before if self._before[0] <= count else (0, self._start)
        elif count > self._count:
            self._before = self._count, self._sum
        for _ in range(count - self._count):
            self._sum += self.step
        self._count = count
        return self._sum
