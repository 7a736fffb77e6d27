"""The results of the runs of an ensemble."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim import LookUpError, Result
from cosim.kit import EnsembleResult, FailedRun, failures
from cosim_ensembles.block import NOT_RUN, Block
from cosim_ensembles.plan import Plan

FAN_CHART = "workbench.fan_chart"
"""Id of the result sink that draws quantiles over time."""
AT_ONCE = 2**24
"""Numbers that are read from files at once, for quantiles over all runs."""
OK, TERMINATED, FAILED, LEFT_OUT = "ok", "terminated", "failed", "not run"


class BatchResult(EnsembleResult):
    """The results of `BatchEnsemble.run`.

    Parameters
    ----------
    plan : Plan
    inputs : mapping of str to ndarray, shape (runs, …)
    block : Block
    message : str
    parts : SeriesParts, optional
        The reader of values over time that were written to files.
    """

    def __init__(
        self, plan: Plan, inputs: Mapping[str, Any], block: Block, message: str = "", parts: Any = None
    ) -> None:
        self.time = plan.times
        self.inputs = dict(inputs)
        self.units = plan.units()
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
        count = int((self.codes != NOT_RUN).sum())
        return f"<EnsembleResult: {count} of {len(self)} runs, {len(self.failures)} failed>"

    @property
    def names(self) -> list[str]:
        return [*self._reduced, *self.signals]

    @property
    def signals(self) -> list[str]:
        return list(self._signals) if self._has_series else []

    @property
    def _has_series(self) -> bool:
        return self._series is not None or self._reader is not None

    @property
    def is_done(self) -> NDArray[np.bool_]:
        return (self.codes == failures.REACHED) | (self.codes == failures.TERMINATED)

    @property
    def status(self) -> NDArray[np.str_]:
        status = np.where(self.codes == failures.REACHED, OK, FAILED)
        status = np.where(self.codes == failures.TERMINATED, TERMINATED, status)
        return np.where(self.codes == NOT_RUN, LEFT_OUT, status)

    @property
    def values(self) -> NDArray[np.float64]:
        return self._between(0, sum(last - first for first, last in self._signals.values()))

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name in self._reduced:
            return self._reduced[name]
        if name in self._signals and self._has_series:
            return self._signal(name, slice(None))
        if name in self.inputs:
            values: NDArray[np.float64] = self.inputs[name]
            return values
        raise LookUpError("result", name, [*self.names, *self.inputs])

    def _signal(self, name: str, times: slice) -> NDArray[np.float64]:
        """A signal at some times of the grid, shape (runs, times) or (runs, times, size)."""
        first, last = self._signals[name]
        values = self._between(first, last, times)
        return values[:, :, 0] if last == first + 1 else values

    def _between(self, first: int, last: int, times: slice = slice(None)) -> NDArray[np.float64]:
        """Recorded columns, shape (runs, times, columns), from memory or from the files."""
        columns: NDArray[np.float64]
        if self._series is not None:
            columns = self._series[:, times, first:last]
        elif self._reader is not None:
            columns = self._reader.values(
                self.parts.values(), len(self), self.time, times, slice(first, last)
            )
        else:
            raise LookUpError("values over time", "values", self.names, "Only reductions were recorded.")
        return columns

    def last(self, name: str) -> NDArray[np.float64]:
        if name not in self._signals:
            raise LookUpError("signal", name, self._signals)
        first, last = self._signals[name]
        return self._final[:, first] if last == first + 1 else self._final[:, first:last]

    def quantiles(self, name: str, shares: Sequence[float] = (0.05, 0.25, 0.5, 0.75, 0.95)) -> NDArray[Any]:
        if name not in self._signals or name in self._reduced or self._reader is None:
            return _quantiles(self[name][self.is_done], shares)
        first, last = self._signals[name]
        step = max(1, AT_ONCE // (max(1, len(self)) * (last - first)))
        slices = [slice(at, at + step) for at in range(0, len(self.time), step)]
        return np.concatenate(
            [_quantiles(self._signal(name, times)[self.is_done], shares) for times in slices], axis=1
        )

    def run(self, number: int) -> Result:
        series = self.values[number] if self._reader is None else self._run_of_files(number)
        is_reached = self.time <= self.ends[number] if np.isfinite(self.ends[number]) else self.time < -np.inf
        signals = {}
        for name, (first, last) in self._signals.items():
            signals[name] = series[is_reached, first] if last == first + 1 else series[is_reached, first:last]
        failed = next((f for f in self.failures if f.run == number), None)
        units = {name: self.units[name] for name in signals}
        return Result(self.time[is_reached], signals, units, message="" if failed is None else str(failed))

    def _run_of_files(self, number: int) -> NDArray[np.float64]:
        """Recorded numbers of one run, shape (times, columns)."""
        count = range(len(self))[number] + 1
        part = [name for first, name in self.parts.items() if first < count][-1:]
        columns: NDArray[np.float64] = self._reader.values(part, count, self.time, slice(None), slice(None))[
            -1
        ]
        return columns

    def table(self) -> dict[str, NDArray[Any]]:
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
        chart = cosim.registry().get("result_sink", FAN_CHART)()
        return chart.show(self, names) if path is None else chart.write(self, Path(path), names)


def _quantiles(values: NDArray[np.float64], shares: Sequence[float]) -> NDArray[Any]:
    if not len(values):
        return np.full((len(shares), *values.shape[1:]), np.nan)
    return np.asarray(np.nanquantile(values, list(shares), axis=0))
