"""Results of a run that was resumed, behind those of the run that was stopped."""

from __future__ import annotations

from pathlib import Path

import numpy as np

import cosim


class ResumedResults:
    """Puts the results of a resumed run behind what a file holds of the run before the checkpoint.

    Parameters
    ----------
    sink : ResultSink
        Which reads that file.
    path : Path
        Where the run before, and this one, write their results.
    """

    def __init__(self, sink: cosim.ResultSink, path: Path) -> None:
        self._sink, self._path = sink, path
        self._earlier: cosim.Result | None = None

    def go_on_from(self, time: float) -> str:
        """Read what there is up to a checkpoint at `time` (s); what becomes of it, for the user."""
        try:
            earlier = self._sink.read(self._path) if self._path.exists() else None
        except cosim.CosimError:
            earlier = None
        if earlier is None or not len(earlier) or not earlier.time[0] < time <= earlier.time[-1]:
            return f"results begin at t = {time:.9g} s: {self._path} does not hold the run up to there"
        self._earlier = earlier
        return f"results go on behind those up to t = {time:.9g} s in {self._path}"

    def joined(self, result: cosim.Result) -> cosim.Result:
        """The whole run: what was recorded before the first time of `result`, then that.

        The first point, which only says where it was resumed, is left out where the run before has none.
        """
        earlier = self._earlier
        if earlier is None or not len(result):
            return result
        if earlier.names != result.names or any(
            earlier[name].shape[1:] != result[name].shape[1:] for name in result.names
        ):
            return result
        before, start = earlier.time < result.time[0], 0
        if not np.any(earlier.time == result.time[0]) and len(result) > 1:
            start = 1
        signals = {
            name: np.concatenate([earlier[name][before], result[name][start:]]) for name in result.names
        }
        times = np.concatenate([earlier.time[before], result.time[start:]])
        rest = (result.units, result.events, result.statistics, result.message, result.findings)
        return cosim.Result(times, signals, *rest)
