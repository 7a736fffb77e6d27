"""Settings that all runs of an ensemble have in common."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim import ModelError, State, StateError, System
from cosim.kit import SLACK, checked_interval, choose_signals, derivative_name, output_times, quotient
from cosim_ensembles.reduction import Reduction, read_reductions

MOST_NUMBERS = 2**21
"""Values over time that are kept at once where they go to files: 16 MB."""


class Plan:
    """Times, recorded columns and reductions.

    Parameters
    ----------
    system, until, accuracy, output_interval, signals, reduce, state, endless_events, derivatives
        As for `Ensemble`.

    Attributes
    ----------
    start : State
        Copied for each run.
    start_time, until, interval : float
        s.
    times : ndarray, shape (points,)
        The common grid.
    recorded : list of str
        Paths of the recorded numbers.
    columns : list of str
        The names of all columns: of `recorded`, then of their derivatives.
    signals : dict of str to (int, int)
        For each recorded path, and each derivative, its columns, first and behind the last.
    reductions : list of Reduction
    """

    def __init__(
        self,
        system: System,
        until: float,
        accuracy: float,
        output_interval: float | str | None,
        signals: Sequence[str] | None,
        reduce: Sequence[Any] | Mapping[str, Any] | None,
        state: State | None,
        endless_events: str,
        derivatives: Sequence[str] = (),
    ) -> None:
        self.system, self.accuracy, self.endless_events = system, accuracy, endless_events
        self.derivatives = list(derivatives)
        self.start = system.default_state() if state is None else state.copy()
        if self.start.agenda.initialized:
            raise StateError(
                "this State is already initialized: an ensemble starts from a State before initialization"
            )
        self.start.accuracy = accuracy
        self.start_time, self.until = self.start.time, float(until)
        if not (math.isfinite(self.until) and self.until > self.start_time):
            raise ModelError.of("until", f"is {until} s, needs a time after the start, {self.start_time:g} s")
        self.interval = checked_interval(output_interval, self.start_time, self.start_time, self.until)
        self.times = self._grid()
        self.keeps_series = reduce is None or signals is not None
        reductions_of: Any = None
        if reduce is None:
            paths = choose_signals(system, signals)
        else:
            paths, reductions_of = read_reductions(system, [reduce] if isinstance(reduce, str) else reduce)
            if signals is not None:
                paths += [path for path in choose_signals(system, signals) if path not in paths]
        self.signals: dict[str, tuple[int, int]] = {}
        self.columns: list[str] = []
        for path in paths:
            size = system.signal(path).slot.size
            self.signals[path] = len(self.columns), len(self.columns) + size
            self.columns += [path] if size == 1 else [f"{path}[{i}]" for i in range(size)]
        self.recorded = list(self.columns)
        for variable in self.derivatives:
            self._add_derivatives(variable, paths)
        if self.derivatives and not self.keeps_series:
            raise ModelError.of("derivatives", "are recorded over time: name signals beside the reductions")
        self.reductions: list[Reduction] = [] if reductions_of is None else reductions_of(self.columns)

    def _add_derivatives(self, variable: str, paths: Sequence[str]) -> None:
        """Columns for the derivatives of the recorded signals by a variable."""
        for path in paths:
            name, size = derivative_name(path, variable), self.system.signal(path).slot.size
            self.signals[name] = len(self.columns), len(self.columns) + size
            self.columns += [name] if size == 1 else [f"{name}[{i}]" for i in range(size)]

    @property
    def points(self) -> int:
        """The number of points on the grid."""
        return int(self.times.size)

    @property
    def most_runs(self) -> int:
        """The number of runs in memory at once, if their values over time go to files."""
        return max(1, MOST_NUMBERS // (self.points * len(self.columns)))

    def units(self) -> dict[str, str]:
        """The units of the recorded paths and of the reductions."""
        derived = {derivative_name(path, variable) for path in self.signals for variable in self.derivatives}
        paths = [path for path in self.signals if path not in derived]
        units_of_elements = {path: self.system.signal(path).units for path in paths}
        recorded = {
            path: units[0] if len(set(units)) == 1 else "1" for path, units in units_of_elements.items()
        }
        for variable in self.derivatives:
            unit = self.system.signal(variable).units[0]
            recorded |= {derivative_name(path, variable): quotient(recorded[path], unit) for path in paths}
        return recorded | {r.name: r.unit for r in self.reductions}

    def _grid(self) -> NDArray[np.float64]:
        """The times at which the Step records on the grid alone."""
        count = math.floor((self.until - self.start_time) / self.interval) + 1
        inner = output_times(self.start_time, self.interval, np.arange(1, count + 1))
        inner = inner[inner < self.until - SLACK * self.interval]
        return np.concatenate([[self.start_time], inner, [self.until]])
