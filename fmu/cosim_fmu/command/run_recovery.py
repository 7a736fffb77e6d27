"""What is saved of a co-simulation whose process was ended by an FMU."""

from __future__ import annotations

import tempfile
from pathlib import Path
from typing import Any

import numpy as np

import cosim
from cosim.kit import Recovery, black_box
from cosim_fmi.archive.private_folder import remove_left_behind
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

FUNCTIONS = {
    SETTING: "set",
    LEADING: "set_slopes",
    STEPPING: "step",
    READING: "get",
    SAVING: "save",
    RESTORING: "restore",
    FREEING: "free",
}
"""By what stands in `Part.calling`: the function of `NativeCalls`."""
SAVED = "saved"
"""Note that all rows are on disk."""


class RunRecovery(Recovery):
    """Finds where a run was, and writes the rows that it had.

    Parameters
    ----------
    sink : ResultSink
    target : Path
        Where the results are, or go.
    start : float
        Of the run, s.
    """

    def __init__(self, sink: cosim.ResultSink, target: Path, start: float) -> None:
        self._sink, self._target, self._start = sink, target, start

    def call(self, box: black_box.BlackBox) -> tuple[float, str]:
        """The time (s) and which function of which participant the exchange is in, "" for none."""
        notes = box.notes()
        parts, clock = box.memory(Part.__name__, notes), box.memory(Clock.__name__, notes)
        known = notes.get("functions")
        if parts is None or clock is None or known is None:
            return self._start, ""
        kinds: Any = Part, Clock
        rows, time = (kinds[0] * len(known)).from_buffer(parts), kinds[1].from_buffer(clock)
        busy = [
            f"{name}: {names[FUNCTIONS[row.calling]]}: the FMU"
            if FUNCTIONS[row.calling] in names
            else f"{name}, in its {FUNCTIONS[row.calling]},"
            for (name, names), row in zip(known, rows, strict=True)
            if row.calling in FUNCTIONS
        ]
        return float(time.begin if busy else time.end), " or ".join(busy)

    def recover(self, box: black_box.BlackBox, why: str) -> tuple[str, dict[str, Any]]:
        """Write what was recorded."""
        remove_left_behind(Path(tempfile.gettempdir()))
        notes = box.notes()
        if notes.get(SAVED):
            return f"all results are written → {self._target}", {"results": self._target}
        recorder = notes.get("recorder")
        if not isinstance(recorder, Recorder):
            return "", {}
        if "rows" in notes:
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
        self, box: black_box.BlackBox, notes: dict[str, Any], recorder: Recorder, texts: dict[float, str]
    ) -> None:
        """Rows that the interpreter of exchanges has written since they were taken last."""
        report, rows = box.memory(Report.__name__, notes), box.memory("rows", notes)
        if report is None or rows is None:
            return
        found: Any = Report.from_buffer(report)
        width, recorded = notes["width"]
        table = np.frombuffer(rows, count=found.rows * width).reshape(found.rows, width)
        table = table[table[:, 1] != 0.0]
        if len(table):
            values = np.ascontiguousarray(table[:, 2 : 2 + recorded])
            recorder.extend(table[:, 0].copy(), values, lambda number: texts.get(number, ""))
