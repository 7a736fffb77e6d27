"""From recorded rows to a `Result`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.contracts.result_stream import ResultStream
from cosim.simulation.result import Result
from cosim.simulation.simulator import Simulator
from cosim.simulation.stride import MOST_VALUES

VALUES = MOST_VALUES
"""In a piece that is passed on to a stream: as many as one stride records."""


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
        signals = (simulator.system.signal(path) for path in self.paths)
        shapes = [(s.slot.size, s.units[0] if len(set(s.units)) == 1 else "1") for s in signals]
        self._sizes, self._units = [size for size, _ in shapes], [unit for _, unit in shapes]
        self._pieces: list[NDArray[np.float64]] = []
        self._passed_on = np.zeros((0, 0))

    def pass_on(self, stream: ResultStream, *, everything: bool = False) -> None:
        """Give what was recorded to a stream when it is enough for a piece of some size, and forget it."""
        self._pieces.append(self.simulator.take_rows())
        if everything or sum(piece.size for piece in self._pieces) >= VALUES:
            rows = self.rows()
            if len(rows):
                stream.append(self._as_result(rows))
                first = self._passed_on if len(self._passed_on) else rows
                self._passed_on = np.concatenate([first[:1], rows[-1:]])
                self._pieces = []

    def rows(self) -> NDArray[np.float64]:
        """All rows so far: times, then values."""
        new = self.simulator.take_rows()
        pieces = [piece for piece in (*self._pieces, new) if len(piece)] or [new]
        self._pieces = pieces if len(pieces) == 1 else [np.concatenate(pieces)]
        return self._pieces[0]

    def end_at(self, time: float) -> None:
        """Record the present State unless its time was recorded last."""
        rows = self.rows()
        rows = rows if len(rows) else self._passed_on
        if not len(rows) or rows[-1, 0] != time:
            self.simulator.record_now()

    def result(self, message: str, wall_time: float, unfinished: str = "") -> Result:
        """What was recorded so far; the first and the last row of what has been passed on."""
        simulator, rows = self.simulator, self.rows()
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
            rows if len(rows) else self._passed_on,
            events=simulator.events.copy(),
            statistics=statistics,
            message=message,
            findings=simulator.findings,
            unfinished=unfinished,
        )

    def _as_result(self, rows: NDArray[np.float64], **more: Any) -> Result:
        """Rows as signals with units, and what else a result has."""
        if not len(rows):  # it failed before anything was recorded
            rows = np.zeros((0, 1 + sum(self._sizes)))
        columns: dict[str, Any] = {}
        at = 1
        for path, size in zip(self.paths, self._sizes, strict=True):
            values = rows[:, at : at + size]
            columns[path] = values[:, 0].copy() if size == 1 else values.copy()
            at += size
        units = dict(zip(self.paths, self._units, strict=True))
        return Result(rows[:, 0].copy(), columns, units, **more)
