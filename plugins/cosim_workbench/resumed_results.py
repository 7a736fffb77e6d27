"""Results of a resumed run, appended to those of the run that was stopped."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np

import cosim


class ResumedResults:
    """Appends the results of a resumed run to those that a file has from before the checkpoint.

    Parameters
    ----------
    sink : ResultSink
        The sink that reads this file.
    path : Path
        The file of the results of the run before, and of this one.
    """

    def __init__(self, sink: cosim.ResultSink, path: Path) -> None:
        self._sink, self._path = sink, path
        self._earlier: cosim.Result | None = None

    def resume_from(self, state: cosim.State, names: Sequence[str]) -> str:
        """Read the results up to a checkpoint. Returns a sentence for the user about them.

        Parameters
        ----------
        state : State
            The checkpoint.
        names : sequence of str
            The recorded signals, derivatives behind their signals.

        Raises
        ------
        CosimError
            The file has something else in it, which the results of this run would replace.
        """
        time = state.time
        if not self._path.exists():
            return f"results begin at t = {time:.9g} s: {self._path} does not hold the run up to there"
        try:
            self._earlier = self._sink.read(self._path)
            mismatch = _describe_mismatch(self._earlier, state, names)
        except cosim.CosimError as error:
            mismatch = str(error)
        if mismatch:
            raise cosim.CosimError(
                f"{self._path}: not the results of this run up to t = {time:.9g} s ({mismatch}), and they "
                "would be lost: name another file with -o"
            )
        return f"results go on behind those up to t = {time:.9g} s in {self._path}"

    def earlier(self) -> cosim.Result:
        """The results of the run before; after `resume_from` has found them."""
        assert self._earlier is not None
        return self._earlier

    def joined(self, result: cosim.Result) -> cosim.Result:
        """The whole run: what was recorded before the first time of `result`, then that.

        The first point, which only says where it was resumed, is left out where the run before has none.
        """
        earlier, result = self._earlier, result.with_derivatives()
        if earlier is None or not len(result):
            return result
        is_before = earlier.time < result.time[0]
        start = 1 if not np.any(earlier.time == result.time[0]) and len(result) > 1 else 0
        signals = {}
        for name in result.names:
            values = result[name]
            values_before = earlier[name][is_before].reshape(-1, *values.shape[1:])
            signals[name] = np.concatenate([values_before, values[start:]])
        times = np.concatenate([earlier.time[is_before], result.time[start:]])
        return cosim.Result(
            times,
            signals,
            result.units,
            result.events,
            result.statistics,
            result.message,
            result.findings,
            unfinished=result.unfinished,
        )


def _describe_mismatch(earlier: cosim.Result, state: cosim.State, names: Sequence[str]) -> str:
    """Why results cannot be those of a run up to a State; "" if they can."""
    time, times = state.time, earlier.time
    if list(earlier.names) != list(names):
        return "other signals"
    if not len(times) or times[0] >= time:
        return "no points before"
    spacing = float(np.diff(times).max()) if len(times) > 1 else 0.0
    if time - times[-1] > spacing * (1.0 + 1e-9):  # a checkpoint may lie between two points of the output
        return f"they end at t = {times[-1]:.9g} s"
    state.realize(cosim.Stage.REPORT)
    values = {name: np.asarray(state[name]) for name in names if not name.startswith("d(")}
    if any(earlier[name][0].size != value.size for name, value in values.items()):
        return "other signals"
    rows = np.flatnonzero(times == time)
    if rows.size and not any(_has_values(earlier, row, values) for row in rows.tolist()):
        return "other values there"
    return ""


def _has_values(earlier: cosim.Result, row: int, values: Mapping[str, np.typing.NDArray[np.float64]]) -> bool:
    """Whether a row has these values, except for rounding."""
    return all(
        np.allclose(earlier[name][row].ravel(), value.ravel(), 1e-9, 1e-9, equal_nan=True)
        for name, value in values.items()
    )
