"""Writes the results of a run into a file: during the run, after its last step, when it is interrupted."""

from __future__ import annotations

import sys
from collections.abc import Callable
from pathlib import Path

import cosim
from cosim.kit import NotWrittenError, ResultStream, black_box, uninterrupted
from cosim_fmu.co_simulation import CoSimulation
from cosim_fmu.command.saved_rows import RunRecovery, SavedRows
from cosim_master.recording.co_simulation_result import CoSimulationResult
from cosim_workbench.reports import reported_result


class ResultWriter:
    """The file for the results of one run.

    Parameters
    ----------
    loop : CoSimulation
    sink : ResultSink
        The sink of the file's format.
    target : Path
    stream : ResultStream or None
        Writes the rows during the run; without it the result has them, and is written from there.

    Attributes
    ----------
    saved_rows : SavedRows or None
        Called with the progress of the run; None with a stream.
    """

    def __init__(
        self,
        loop: CoSimulation,
        sink: cosim.ResultSink,
        target: Path,
        stream: ResultStream | None,
    ) -> None:
        self._loop, self._target = loop, target
        self.stream = stream
        self.saved_rows = SavedRows(loop, sink, target) if stream is None else None
        if black_box.box is not None:
            black_box.box.send_note("recovery", RunRecovery(sink, target, loop.start))

    def write_so_far(self, report: Callable[..., None]) -> None:
        """Write the recorded rows, and pass them to `Command.report`; nothing before the first row."""
        result = self._loop.result
        if result is None or not result.time.size:
            return
        if self.saved_rows is not None:
            with uninterrupted():
                self.saved_rows.write(result)
        black_box.status_words[black_box.WRITTEN] = 1
        report(results=self._target, **reported_result(result))
        print(f"results up to t = {result.time[-1]:.9g} s → {self._target}", file=sys.stderr)

    def report_lost_rows(self, error: Exception) -> None:
        """Record, for the process that watches this one, whether rows that had no room are elsewhere."""
        if isinstance(error, NotWrittenError) and error.elsewhere is not None:
            if isinstance(error.__cause__, NotWrittenError):  # else this process has lost its rights
                black_box.status_words[black_box.WRITTEN] = 1
        elif black_box.box is not None:
            black_box.box.send_note(black_box.LOST, str(error))

    def write_complete(self, result: CoSimulationResult) -> None:
        """Write a run whose steps are taken; before an FMU is freed, which may end this process."""
        if result.unfinished:
            return  # the error says why, and its handler writes the rows
        _ = result.coupling  # into the statistics, which files of results keep
        if self.saved_rows is not None:
            with uninterrupted():
                self.saved_rows.write(result)
        black_box.status_words[black_box.SAVED] = 1
