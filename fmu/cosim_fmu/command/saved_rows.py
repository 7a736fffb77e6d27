"""The saved rows of a running co-simulation, which are recovered if an FMU ends the process."""

from __future__ import annotations

import tempfile
import zlib
from collections.abc import Callable
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import cosim
from cosim.kit import Recovery, black_box, remove_abandoned_folders
from cosim_fmu.co_simulation import CoSimulation
from cosim_master.exchange.exchange_arrays import (
    FREEING,
    LEADING,
    READING,
    RESTORING,
    SAVING,
    SETTING,
    STEPPING,
    Clock,
    Part,
    Report,
)
from cosim_master.recording.recorder import Recorder
from cosim_workbench.reports import reported_result

SECONDS = 2.0
"""Time between two writes of the results, s."""
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
        """Call this progress before each check. Returns the object itself."""
        self._progress = progress
        return self

    def __call__(self, time: float) -> None:
        """Write the results at a simulated time (s), if it is time for that."""
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
        rows, result = self._rows, result.with_derivatives()
        goes_on = 0 < rows <= len(result.time) and _rows_of(result, rows) == self._written
        rows_in_file = rows if goes_on and _identity(self._target) == self._file else 0
        self._rows = 0
        cosim.save_result(self._sink, result, self._target, rows_in_file)
        self._rows = len(result.time)
        self._written, self._file = _rows_of(result, self._rows), _identity(self._target)


def _rows_of(result: cosim.Result, rows: int) -> tuple[int, bytes]:
    """The checksum of the times, and the last row: they differ if other rows are shown.

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


FUNCTIONS = {
    SETTING: "set",
    LEADING: "set_slopes",
    STEPPING: "step",
    READING: "get",
    SAVING: "save",
    RESTORING: "restore",
    FREEING: "free",
}
"""The function of `NativeCalls` for each value of `Part.calling`."""


class RunRecovery(Recovery):
    """Finds where a run was, and writes the rows that it had.

    Parameters
    ----------
    sink : ResultSink
    target : Path
        The file of the results.
    start : float
        The start of the run, s.
    """

    def __init__(self, sink: cosim.ResultSink, target: Path, start: float) -> None:
        self._sink, self._target, self._start = sink, target, start

    def call(self, box: black_box.BlackBoxReader) -> tuple[float, list[str]]:
        """The time (s) and which functions of which participants the exchange is in."""
        notes = box.notes()
        parts, clock = box.memory(Part.__name__, notes), box.memory(Clock.__name__, notes)
        functions = notes.get("functions")
        if parts is None or clock is None or functions is None:
            return self._start, []
        kinds: Any = Part, Clock
        rows, time = (kinds[0] * len(functions)).from_buffer(parts), kinds[1].from_buffer(clock)
        busy = [
            f"{name}: {names[FUNCTIONS[row.calling]]}: the FMU"
            if FUNCTIONS[row.calling] in names
            else f"{name}, in its {FUNCTIONS[row.calling]},"
            for (name, names), row in zip(functions, rows, strict=True)
            if row.calling in FUNCTIONS
        ]
        return float(time.begin if busy else time.end), busy

    def recover(self, box: black_box.BlackBoxReader, why: str) -> tuple[str, dict[str, Any]]:
        """Write what was recorded."""
        remove_abandoned_folders(Path(tempfile.gettempdir()))
        notes = box.notes()
        if box.status_words[black_box.SAVED]:
            return f"all results are written → {self._target}", {"results": self._target}
        recorder = notes.get("recorder")
        if not isinstance(recorder, Recorder):
            return "", {}
        if "rows" in notes:
            if not self._target.is_file() and not next(self._target.glob("*"), None):
                return "", {}
            return f"results so far, up to what was written last → {self._target}", {"results": self._target}
        texts = recorder.replay(box.entries())
        self._take_rows_under_way(box, notes, recorder, texts)
        result = recorder.result(message=why, unfinished=why)
        if not recorder.streams:
            if not len(result):
                return "", {}
            cosim.save_result(self._sink, result, self._target)
        end = f" up to t = {result.time[-1]:.9g} s" if len(result) else ""
        return f"results{end} → {self._target}", {"results": self._target, **reported_result(result)}

    def _take_rows_under_way(
        self,
        box: black_box.BlackBoxReader,
        notes: dict[str, Any],
        recorder: Recorder,
        texts: dict[float, str],
    ) -> None:
        """Rows that the interpreter of exchanges has written since they were taken last."""
        report, rows = box.memory(Report.__name__, notes), box.memory("rows", notes)
        if report is None or rows is None:
            return
        counts: Any = Report.from_buffer(report)
        width, recorded = notes["width"]
        table = np.frombuffer(rows, count=counts.rows * width).reshape(counts.rows, width)
        table = table[table[:, 1] != 0.0]
        if len(table):
            values = np.ascontiguousarray(table[:, 2 : 2 + recorded])
            recorder.extend(table[:, 0].copy(), values, lambda number: texts.get(number, ""))
