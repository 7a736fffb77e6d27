"""From recorded rows to a `Result`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.result_stream import ResultStream
from cosim.simulation.carried_tangents import CarriedTangents
from cosim.simulation.python_in_steps import python_in_steps
from cosim.simulation.recorded_columns import RecordedColumns
from cosim.simulation.recorded_signals import recorded_signals
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
    carried : CarriedTangents, optional
        Which go along with the run: results have derivatives.
    """

    def __init__(
        self, simulator: Simulator, paths: Sequence[str], carried: CarriedTangents | None = None
    ) -> None:
        self.simulator, self.paths, self._carried = simulator, list(paths), carried
        signals = recorded_signals(simulator.system, self.paths)
        self._units, self._columns = signals.units, RecordedColumns(signals.sizes)
        self._passed_on: list[NDArray[np.float64]] = []
        self._values = sum(signals.sizes)
        self._passed_tangents: list[NDArray[np.float64]] = []

    def collect(self, least: int = 0) -> None:
        """Take what the simulator has recorded since the last call, where it is that many values at least."""
        if self.simulator.recorded_values < least:
            return
        for rows in self.simulator.take_row_blocks():
            if len(rows):
                self._columns.append(rows)

    def pass_on(self, stream: ResultStream, *, everything: bool = False) -> None:
        """Give what was recorded to a stream when it is enough for a piece of some size, and forget it."""
        self.collect()
        columns = self._columns
        if len(columns) and (everything or (columns.values >= VALUES and len(columns) >= ROWS)):
            piece = self._as_result(columns.copy())
            if self._carried is not None:
                self.simulator.read_tape()
                rows = self._carried.take_rows(self._values)
                self._differentiate(piece, rows)
                first = self._passed_tangents[0] if self._passed_tangents else rows[0]
                self._passed_tangents = [first, rows[-1]]
            stream.append(piece.with_derivatives())
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
        """The result so far; of rows that were passed on, the first and the last.

        Where recording ends with it, the rows are handed out, else copied.
        """
        self.collect()
        simulator, columns = self.simulator, self._columns
        tangents = None
        if not len(columns) and self._passed_on:
            columns.append(np.array(self._passed_on))
            tangents, ends = np.array(self._passed_tangents), True
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
            "python_in_steps": python_in_steps(simulator.system, type(integrator)),
            "warnings": integrator.warnings,
            "references": integrator.bibtex.strip(),
        }
        result = self._as_result(
            columns.pop() if ends else columns.copy(),
            events=simulator.events.copy(),
            statistics=statistics,
            message=message,
            findings=simulator.findings,
            unfinished=unfinished,
        )
        if self._carried is not None:
            simulator.read_tape()
            self._differentiate(result, tangents)
            reason = self._carried.not_estimated
            result.statistics["derivative_errors"] = f"not estimated: {reason}" if reason else "estimated"
            result.findings.extend(self._carried.findings)
        return result

    def _differentiate(self, result: Result, rows: NDArray[np.float64] | None) -> None:
        """Give a result its derivatives, from rows of tangents."""
        assert self._carried is not None
        shapes = {path: values.shape for path, values in result.signals.items()}
        result.derivatives.update(self._carried.derivatives(self.paths, shapes.__getitem__, rows))
        result.variable_units.update(self._carried.units)

    def _as_result(self, columns: list[NDArray[np.float64]], **more: Any) -> Result:
        """Times and values as signals with units, and what else a result has."""
        time, *values = columns
        return Result(time, dict(zip(self.paths, values, strict=True)), self._units, **more)
