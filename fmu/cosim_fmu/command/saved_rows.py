"""Results are written while a run goes on: what ends the program without a word leaves them."""

from __future__ import annotations

import zlib
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import cosim
from cosim_fmu.co_simulation import CoSimulation

SECONDS = 2.0
"""Between two times that results are written."""
SHARE = 0.05
"""Of the time of a run that may be spent on what is done again each time: with files that are written anew,
and with many rows that are gathered, it is done less often."""


class SavedRows:
    """Called with the progress of a run, it writes the results so far every few seconds.

    A sink that can append writes each row once; so little is left to write when a run ends, or is
    interrupted.

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
        self._appends = type(sink).extend is not cosim.ResultSink.extend
        self._rows, self._written, self._file = 0, (0, b""), (0, 0)

    def after(self, progress: Callable[[float], object]) -> SavedRows:
        """The same, with another progress that is called before."""
        self._progress = progress
        return self

    def __call__(self, time: float) -> None:
        """At a simulated time (s)."""
        self._progress(time)
        begun = perf_counter()
        if begun - self._last >= self._wait:
            result = self._loop.result_so_far()
            gathered = perf_counter()
            self.write(result)
            self._last = perf_counter()
            # what is appended has to be written at some time anyhow
            again = (gathered if self._appends else self._last) - begun
            self._wait = max(SECONDS, again / SHARE)

    def write(self, result: cosim.Result) -> None:
        """Write all rows, or those that are not in the file yet.

        Raises
        ------
        CosimError
            As `cosim.save_result`.
        """
        rows = self._rows
        goes_on = 0 < rows <= len(result.time) and _rows_of(result, rows) == self._written
        known = rows if goes_on and _identity(self._target) == self._file else 0
        self._rows = 0
        cosim.save_result(self._sink, result, self._target, known)
        self._rows = len(result.time)
        self._written, self._file = _rows_of(result, self._rows), _identity(self._target)


def _rows_of(result: cosim.Result, rows: int) -> tuple[int, bytes]:
    """What differs where these rows are not the same ones: the times, the last row.

    A row never changes. One that is put between others changes the times, or has the time of the last one
    and other values.
    """
    if rows == 0:
        return 0, b""
    last: list[Any] = [np.asarray(result[name][rows - 1]) for name in result.names]
    text = [repr(v.tolist()).encode() if v.dtype == object else v.tobytes() for v in last]
    return zlib.crc32(result.time[:rows].tobytes()), b"|".join(text)


def _identity(path: Path) -> tuple[int, int]:
    """Inode and size of a file, which change where another program writes to it; zeros for what is none."""
    try:
        facts = path.stat()
    except OSError:
        return 0, 0
    return (facts.st_ino, facts.st_size) if path.is_file() else (0, 0)
