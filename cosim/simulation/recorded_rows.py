"""Values over time that the Step records, until they are taken."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.preparation.compiled_step import CompiledStep
from cosim.run_data.records.recording import AT_EVENTS, AT_STEPS, NO_ROWS, ON_GRID, ON_GRID_ALONE, OutputGrid
from cosim.run_data.run import GRID_WIDTH
from cosim.simulation.event_record import Finding
from cosim.simulation.missing_values import MissingValues
from cosim.simulation.output_interval import counted_grid
from cosim.simulation.recorded_signals import recorded_signals
from cosim.system.system import System

MODES = {
    **{"events": AT_EVENTS, "steps": AT_STEPS, "grid": ON_GRID},
    "grid alone": ON_GRID_ALONE,
}
BUFFERED_VALUES = 4096  # at least


class RecordedRows:
    """Rows of values that the Step of a run writes into a buffer.

    Parameters
    ----------
    system : System
    paths, where, grid
        See `Simulator.record`; with the first point of a grid.
    spare : ndarray, optional
        A buffer whose rows are no longer needed; it is reused if its length fits.
    """

    def __init__(
        self,
        system: System,
        paths: Sequence[str],
        where: str,
        grid: Mapping[str, float],
        spare: NDArray[np.float64] | None = None,
    ) -> None:
        signals = recorded_signals(system, paths)
        self._choice, self.width, self._missing = signals.choice, signals.width, MissingValues(signals)
        room = max(BUFFERED_VALUES, 64 * self.width)
        if where == "grid alone":  # the last row may be replaced: none is taken before the end
            points = (grid["until"] - grid["origin"]) / grid["interval"] - grid["point"]
            room = max(room, (int(points) + 4) * self.width)
        size = GRID_WIDTH + room
        self._buffer = spare if spare is not None and spare.size == size else np.zeros(size)
        grid_fields = {"origin": 0.0, "interval": math.inf, "point": 0.0, "until": math.inf, **grid}
        grid_fields |= counted_grid(grid_fields["origin"], grid_fields["interval"])
        self._buffer[:GRID_WIDTH] = [grid_fields[name] for name in OutputGrid.declared]
        self._mode = MODES[where]
        self._pieces: list[NDArray[np.float64]] = []

    def start_run(self) -> None:
        """Begin a run: signals that are NaN will be reported again."""
        self._missing.clear()

    def attach(self, step: CompiledStep) -> None:
        """Make this Step record from now on."""
        step.record(self._choice, self._buffer, self._mode)

    def stop(self, step: CompiledStep) -> None:
        """Make the Step stop recording."""
        self._mode = step.arrays.output.recording = NO_ROWS

    def count_values(self, step: CompiledStep) -> int:
        """Number of recorded values that were not fetched yet."""
        return sum(piece.size for piece in self._pieces) + int(step.arrays.output.rows_used)

    def empty_buffer(self, step: CompiledStep) -> list[Finding]:
        """Copy the recorded rows out of the buffer; a finding for each signal that is newly NaN."""
        used = int(step.arrays.output.rows_used)
        if used == 0:
            return []
        step.arrays.output.rows_used = 0
        piece: Any = self._buffer[GRID_WIDTH:][:used].copy()
        self._pieces.append(piece)
        return self._missing.findings(piece)

    def pop(self) -> list[NDArray[np.float64]]:
        """The rows since the last call that have left the buffer: arrays of the shape (rows, 1 + values)."""
        pieces, self._pieces = self._pieces, []
        return [piece.reshape(-1, self.width) for piece in pieces]
