"""What the runs of an ensemble have left."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.ensemble.block import NOT_RUN, Block
from cosim.ensemble.failed_run import FailedRun
from cosim.ensemble.plan import Plan
from cosim.errors import LookUpError
from cosim.simulation.result import Result
from cosim.step import codes

FAN_CHART = "workbench.fan_chart"
"""Id of the result sink that draws quantiles over time."""
OK, TERMINATED, FAILED, LEFT_OUT = "ok", "terminated", "failed", "not run"


class EnsembleResult:
    """Arrays over runs; made by `Ensemble.run`.

    Parameters
    ----------
    plan : Plan
    inputs : mapping of str to ndarray, shape (runs, …)
    block : Block
    message : str

    Attributes
    ----------
    time : ndarray, shape (times,), s
        The common grid.
    inputs : dict of str to ndarray
        What differed, in SI.
    ends : ndarray, shape (runs,), s
        Where each run ended.
    steps, events : ndarray of int64, shape (runs,)
    failures : list of FailedRun
        In order of the runs.
    message : str
        Why the ensemble ended before its end, or was not run in threads; empty where neither.
    """

    def __init__(self, plan: Plan, inputs: Mapping[str, Any], block: Block, message: str = "") -> None:
        self.time = plan.times
        self.inputs = dict(inputs)
        self.units = plan.units() | {r.name: r.unit for r in plan.reductions}
        self.message = message
        self.ends, self.codes = block.ends, block.codes
        self.steps, self.events = block.counts[:, 0], block.counts[:, 1]
        self.failures: list[FailedRun] = [block.failures[run] for run in sorted(block.failures)]
        self._series, self._final = block.series, block.final
        self._signals = dict(plan.signals)
        self._reduced = {r.name: block.reduced[:, i] for i, r in enumerate(plan.reductions)}

    def __len__(self) -> int:
        return int(self.codes.size)

    def __repr__(self) -> str:
        done = int((self.codes != NOT_RUN).sum())
        return f"<EnsembleResult: {done} of {len(self)} runs, {len(self.failures)} failed>"

    @property
    def names(self) -> list[str]:
        """Reductions and recorded signals."""
        return [*self._reduced, *self.signals]

    @property
    def signals(self) -> list[str]:
        """Paths of what was recorded over time; empty where reductions were kept alone."""
        return [] if self._series is None else list(self._signals)

    @property
    def is_done(self) -> NDArray[np.bool_]:
        """Which runs have reached their end, shape (runs,)."""
        return (self.codes == codes.REACHED) | (self.codes == codes.TERMINATED)

    @property
    def status(self) -> NDArray[np.str_]:
        """How each run ended: "ok", "terminated" (a handler asked to stop), "failed", "not run"."""
        found = np.where(self.codes == codes.REACHED, OK, FAILED)
        found = np.where(self.codes == codes.TERMINATED, TERMINATED, found)
        return np.where(self.codes == NOT_RUN, LEFT_OUT, found)

    @property
    def values(self) -> NDArray[np.float64]:
        """All recorded numbers, shape (runs, times, columns); NaN where a run has not got."""
        if self._series is None:
            raise LookUpError("values over time", "values", self.names, "Reductions were kept instead.")
        series: NDArray[np.float64] = self._series
        return series

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """A reduction, shape (runs,); a signal, (runs, times) or (runs, times, size); an input, (runs, …).

        Raises
        ------
        LookUpError
            With the nearest name.
        """
        if name in self._reduced:
            return self._reduced[name]
        if name in self._signals and self._series is not None:
            first, last = self._signals[name]
            found: NDArray[np.float64] = self._series[:, :, first:last]
            return found[:, :, 0] if last == first + 1 else found
        if name in self.inputs:
            given: NDArray[np.float64] = self.inputs[name]
            return given
        raise LookUpError("result", name, [*self.names, *self.inputs])

    def last(self, name: str) -> NDArray[np.float64]:
        """A signal at the end of each run, shape (runs,) or (runs, size); NaN where a run failed."""
        if name not in self._signals:
            raise LookUpError("signal", name, self._signals)
        first, last = self._signals[name]
        return self._final[:, first] if last == first + 1 else self._final[:, first:last]

    def quantiles(self, name: str, shares: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> NDArray[Any]:
        """Quantiles over the runs that have reached their end.

        Returns
        -------
        ndarray, shape (shares,) of a reduction, (shares, times, …) of a signal
        """
        values = self[name][self.is_done]
        if not len(values):
            return np.full((len(shares), *values.shape[1:]), np.nan)
        return np.asarray(np.nanquantile(values, list(shares), axis=0))

    def run(self, number: int) -> Result:
        """One run as a `Result`, up to where it got."""
        series = self.values[number]
        there = self.time <= self.ends[number] if np.isfinite(self.ends[number]) else self.time < -np.inf
        signals = {}
        for name, (first, last) in self._signals.items():
            signals[name] = series[there, first] if last == first + 1 else series[there, first:last]
        failed = next((f for f in self.failures if f.run == number), None)
        units = {name: self.units[name] for name in signals}
        return Result(self.time[there], signals, units, message="" if failed is None else str(failed))

    def table(self) -> dict[str, NDArray[Any]]:
        """A column for each input, each reduction (or last value), and how each run ended.

        ``pandas.DataFrame(result.table())`` makes a table of it.
        """
        columns: dict[str, NDArray[Any]] = {"run": np.arange(len(self))}
        reasons = {f.run: f.reason for f in self.failures}
        for source in (self.inputs, self._reduced or {name: self.last(name) for name in self._signals}):
            for name, values in source.items():
                flat = values.reshape(len(self), -1)
                several = values.ndim > 1
                columns |= {f"{name}[{i}]" if several else name: flat[:, i] for i in range(flat.shape[1])}
        columns |= {"status": self.status, "end": self.ends, "steps": self.steps, "events": self.events}
        columns["reason"] = np.array([reasons.get(run, "") for run in range(len(self))])
        return columns

    def plot(self, *names: str, path: str | PathLike[str] | None = None) -> Any:
        """Draw signals over time as fan charts: the median of all runs, and bands of quantiles.

        Parameters
        ----------
        *names : str
            Signals; all unless given.
        path : path-like, optional
            Where to write the picture; without it the figure is returned.
        """
        from cosim.registration.registry import registry

        chart = registry().get("result_sink", FAN_CHART)()
        wanted = list(names) or list(self._signals)
        return chart.show(self, wanted) if path is None else chart.write(self, Path(path), wanted)
