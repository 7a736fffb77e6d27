"""From recorded rows to a `Result`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.result_stream import ResultStream
from cosim.simulation.recorded_columns import RecordedColumns
from cosim.simulation.result import Result
from cosim.simulation.simulator import Simulator
from cosim.simulation.stride import MOST_VALUES

VALUES, ROWS = MOST_VALUES, 2**10
"""In a piece that is passed on to a stream: so many values, as one stride records, and so many rows."""


class Recorder:
    """Collects what a `Simulator` records.

    Parameters
    ----------
    simulator : Simulator
    paths : sequence of str
        Variables, in the order of the rows.
    """

    def __init__(self, simulator: Simulator, paths: Sequence[str]) -> None:
        self.simulator, self.paths = simulator, list(paths)
        signals = [simulator.system.signal(path) for path in self.paths]
        self._units = {
            path: s.units[0] if len(set(s.units)) == 1 else "1"
            for path, s in zip(self.paths, signals, strict=True)
        }
        self._columns = RecordedColumns([signal.slot.size for signal in signals])
        self._passed_on: list[NDArray[np.float64]] = []

    def collect(self, least: int = 0) -> None:
        """Take what the simulator has recorded since the last call, where it is that many values at least."""
        if self.simulator.recorded_values < least:
            return
        rows = self.simulator.take_rows()
        if len(rows):
            self._columns.append(rows)

    def pass_on(self, stream: ResultStream, *, everything: bool = False) -> None:
        """Give what was recorded to a stream when it is enough for a piece of some size, and forget it."""
        self.collect()
        columns = self._columns
        if len(columns) and (everything or (columns.values >= VALUES and len(columns) >= ROWS)):
            stream.append(self._as_result(columns.copy()))
            first = self._passed_on[0] if self._passed_on else columns.row(0)
            self._passed_on = [first, columns.row(-1)]
            columns.clear()

    def end_at(self, time: float) -> None:
        """Record the present State unless its time was recorded last."""
        self.collect()
        last = [self._columns.row(-1)] if len(self._columns) else self._passed_on[-1:]
        if not last or last[0][0] != time:
            self.simulator.record_now()

    def result(self, message: str, wall_time: float, unfinished: str = "", *, ends: bool) -> Result:
        """What was recorded so far; the first and the last row of what has been passed on.

        Where recording ends with it, the rows are handed out, else copied.
        """
        self.collect()
        simulator, columns = self.simulator, self._columns
        if not len(columns) and self._passed_on:
            columns.append(np.array(self._passed_on))
            ends = True
        model, integrator = simulator.system.model, simulator.integrator
        statistics = {
            "model": "" if model is None else model.name,
            "integrator": type(integrator).__name__,
            "order": integrator.order,
            "fixed_step": integrator.fixed_step,
            "accuracy": simulator.state.accuracy,
            "relative_tolerance": integrator.relative_tolerance,
            "absolute_tolerance": integrator.absolute_tolerance,
            **vars(simulator.statistics),
            "wall_time": wall_time,
            "dynamics": simulator.system.dynamics,
            "warnings": integrator.warnings,
            "references": integrator.bibtex.strip(),
        }
        return self._as_result(
            columns.take() if ends else columns.copy(),
            events=simulator.events.copy(),
            statistics=statistics,
            message=message,
            findings=simulator.findings,
            unfinished=unfinished,
        )

    def _as_result(self, columns: list[NDArray[np.float64]], **more: Any) -> Result:
        """Times and values as signals with units, and what else a result has."""
        time, *values = columns
        return Result(time, dict(zip(self.paths, values, strict=True)), self._units, **more)
