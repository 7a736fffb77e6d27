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
AT_ONCE = 2**24
"""Numbers that are read from files at once, for quantiles over all runs."""
OK, TERMINATED, FAILED, LEFT_OUT = "ok", "terminated", "failed", "not run"


class EnsembleResult:
    """Arrays over runs; made by `Ensemble.run`.

    Parameters
    ----------
    plan : Plan
    inputs : mapping of str to ndarray, shape (runs, …)
    block : Block
    message : str
    parts : SeriesParts, optional
        What reads values over time that were written to files.

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
    parts : dict of int to str
        By the first run in it, the names of the files with values over time, where these are not kept here.
    """

    def __init__(
        self, plan: Plan, inputs: Mapping[str, Any], block: Block, message: str = "", parts: Any = None
    ) -> None:
        self.time = plan.times
        self.inputs = dict(inputs)
        self.units = plan.units() | {r.name: r.unit for r in plan.reductions}
        self.message = message
        self.ends, self.codes = block.ends, block.codes
        self.steps, self.events = block.counts[:, 0], block.counts[:, 1]
        self.failures: list[FailedRun] = [block.failures[run] for run in sorted(block.failures)]
        self._series, self._final = block.series, block.final
        self.parts, self._reader = dict(sorted(block.parts.items())), parts
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
        return list(self._signals) if self._has_series else []

    @property
    def _has_series(self) -> bool:
        return self._series is not None or self._reader is not None

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
        return self._between(0, sum(last - first for first, last in self._signals.values()))

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        """A reduction, shape (runs,); a signal, (runs, times) or (runs, times, size); an input, (runs, …).

        Raises
        ------
        LookUpError
            With the nearest name.
        """
        if name in self._reduced:
            return self._reduced[name]
        if name in self._signals and self._has_series:
            return self._signal(name, slice(None))
        if name in self.inputs:
            given: NDArray[np.float64] = self.inputs[name]
            return given
        raise LookUpError("result", name, [*self.names, *self.inputs])

    def _signal(self, name: str, times: slice) -> NDArray[np.float64]:
        """A signal at some times of the grid, shape (runs, times) or (runs, times, size)."""
        first, last = self._signals[name]
        found = self._between(first, last, times)
        return found[:, :, 0] if last == first + 1 else found

    def _between(self, first: int, last: int, times: slice = slice(None)) -> NDArray[np.float64]:
        """Recorded columns, shape (runs, times, columns), from memory or from the files."""
        found: NDArray[np.float64]
        if self._series is not None:
            found = self._series[:, times, first:last]
        elif self._reader is not None:
            found = self._reader.values(self.parts.values(), len(self), self.time, times, slice(first, last))
        else:
            raise LookUpError("values over time", "values", self.names, "Reductions were kept instead.")
        return found

    def last(self, name: str) -> NDArray[np.float64]:
        """A signal at the end of each run, shape (runs,) or (runs, size); NaN where a run failed."""
        if name not in self._signals:
            raise LookUpError("signal", name, self._signals)
        first, last = self._signals[name]
        return self._final[:, first] if last == first + 1 else self._final[:, first:last]

    def quantiles(self, name: str, shares: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> NDArray[Any]:
        """Quantiles over the runs that have reached their end, linear between two of them.

        Of values over time that are in files, those at some times are read for all runs, then those at the
        next ones: at most 128 MB at once, or what all runs have at one time.

        Returns
        -------
        ndarray, shape (shares,) of a reduction, (shares, times, …) of a signal
        """
        if name not in self._signals or name in self._reduced or self._reader is None:
            return _quantiles(self[name][self.is_done], shares)
        first, last = self._signals[name]
        step = max(1, AT_ONCE // (max(1, len(self)) * (last - first)))
        slices = [slice(at, at + step) for at in range(0, len(self.time), step)]
        return np.concatenate(
            [_quantiles(self._signal(name, times)[self.is_done], shares) for times in slices], axis=1
        )

    def run(self, number: int) -> Result:
        """One run as a `Result`, up to where it got."""
        series = self.values[number] if self._reader is None else self._run_of_files(number)
        there = self.time <= self.ends[number] if np.isfinite(self.ends[number]) else self.time < -np.inf
        signals = {}
        for name, (first, last) in self._signals.items():
            signals[name] = series[there, first] if last == first + 1 else series[there, first:last]
        failed = next((f for f in self.failures if f.run == number), None)
        units = {name: self.units[name] for name in signals}
        return Result(self.time[there], signals, units, message="" if failed is None else str(failed))

    def _run_of_files(self, number: int) -> NDArray[np.float64]:
        """Recorded numbers of one run, shape (times, columns)."""
        count = range(len(self))[number] + 1
        part = [name for first, name in self.parts.items() if first < count][-1:]
        found: NDArray[np.float64] = self._reader.values(part, count, self.time, slice(None), slice(None))[-1]
        return found

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
            Signals; the first ones that move unless given.
        path : path_like, optional
            Where to write the picture; without it the figure is returned.
        """
        from cosim.registration.registry import registry

        chart = registry().get("result_sink", FAN_CHART)()
        return chart.show(self, names) if path is None else chart.write(self, Path(path), names)


def _quantiles(values: NDArray[np.float64], shares: Sequence[float]) -> NDArray[Any]:
    if not len(values):
        return np.full((len(shares), *values.shape[1:]), np.nan)
    return np.asarray(np.nanquantile(values, list(shares), axis=0))
