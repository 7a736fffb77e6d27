"""Results are written while a run goes on: what ends the program without a word leaves them."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from time import perf_counter

import cosim
from cosim_fmu.master.co_simulation import CoSimulation

SECONDS = 5.0
"""Between two times that results are written."""
SHARE = 0.05
"""Of the time of a run that writing may take: files that grow are written less often."""


class SavedRows:
    """Called with the progress of a run, it writes the results so far every few seconds.

    Parameters
    ----------
    loop : CoSimulation
    sink : ResultSink
    target : Path
    """

    def __init__(self, loop: CoSimulation, sink: cosim.ResultSink, target: Path) -> None:
        self._loop, self._sink, self._target = loop, sink, target
        self._progress: Callable[[float], object] = lambda time: None
        self._last, self._wait = perf_counter(), SECONDS

    def after(self, progress: Callable[[float], object]) -> SavedRows:
        """The same, with another progress that is called before."""
        self._progress = progress
        return self

    def __call__(self, time: float) -> None:
        """At a simulated time (s)."""
        self._progress(time)
        begun = perf_counter()
        if begun - self._last >= self._wait:
            cosim.save_result(self._sink, self._loop.result_so_far(), self._target)
            self._last = perf_counter()
            self._wait = max(SECONDS, (self._last - begun) / SHARE)
