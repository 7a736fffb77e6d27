"""Result: what a run recorded."""

from __future__ import annotations

import fnmatch
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.errors import LookUpError


class Result:
    """Signals over time.

    Parameters
    ----------
    time : ndarray, shape (n,)
        s, never falling; a time stands twice where an event made a jump: before and after.
    signals : mapping of str to ndarray, shape (n,) or (n, size)
        By path.
    units : mapping of str to str
    events : sequence of EventRecord
    statistics : mapping
        Integrator, accuracy, steps, rejections, evaluations, events, wall time …
    message : str
        Why the run ended early, empty when it did not.

    Examples
    --------
    >>> result = Result(np.array([0.0, 1.0]), {"a.x": np.array([2.0, 3.0])}, {"a.x": "m"})
    >>> result["a.x"].tolist(), result.select("a.*"), result.final()["a.x"]
    ([2.0, 3.0], ['a.x'], 3.0)
    """

    def __init__(
        self,
        time: NDArray[np.float64],
        signals: Mapping[str, NDArray[np.float64]],
        units: Mapping[str, str] | None = None,
        events: Sequence[Any] = (),
        statistics: Mapping[str, Any] | None = None,
        message: str = "",
    ) -> None:
        self.time = time
        self.signals = dict(signals)
        self.units = dict(units or {})
        self.events = list(events)
        self.statistics = dict(statistics or {})
        self.message = message

    def __repr__(self) -> str:
        span = f"{self.time[0]:g} … {self.time[-1]:g} s" if self.time.size else "empty"
        return f"<Result {span}, {self.time.size} points, {len(self.signals)} signals>"

    def __getitem__(self, name: str) -> NDArray[np.float64]:
        if name == "time":
            return self.time
        if name not in self.signals:
            raise LookUpError("recorded signal", name, self.signals, "Name it in `signals` to record it.")
        return self.signals[name]

    @property
    def names(self) -> list[str]:
        """Paths of the recorded signals."""
        return list(self.signals)

    def select(self, *patterns: str) -> list[str]:
        """Names that match paths or patterns with ``*``; all of them without a pattern.

        Raises
        ------
        LookUpError
            A pattern that matches nothing.
        """
        if not patterns:
            return self.names
        found: list[str] = []
        for pattern in patterns:
            matching = [n for n in self.signals if n == pattern or fnmatch.fnmatchcase(n, pattern)]
            if not matching:
                raise LookUpError("recorded signal", pattern, self.signals)
            found += [n for n in matching if n not in found]
        return found

    def final(self) -> dict[str, Any]:
        """Last value of every signal."""
        return {n: (v[-1].item() if v.ndim == 1 else v[-1].copy()) for n, v in self.signals.items() if len(v)}

    def to_numpy(self) -> NDArray[Any]:
        """A structured array with the field ``time`` first, as fmpy's results."""
        fields: list[Any] = [("time", np.float64)]
        fields += [(n, np.float64) if v.ndim == 1 else (n, np.float64, v.shape[1:]) for n, v in self.signals.items()]
        array = np.zeros(self.time.size, dtype=fields)
        array["time"] = self.time
        for name, values in self.signals.items():
            array[name] = values
        return array

    def to_pandas(self) -> Any:
        """A pandas DataFrame with the time as index (needs the extra ``cosim-framework[table]``)."""
        try:
            import pandas
        except ImportError as error:
            raise LookUpError("package", "pandas", [], "Install it: pip install 'cosim-framework[table]'.") from error
        columns = {}
        for name, values in self.signals.items():
            flat = values.reshape(len(values), -1)
            for i in range(flat.shape[1]):
                columns[name if values.ndim == 1 else f"{name}[{i}]"] = flat[:, i]
        return pandas.DataFrame(columns, index=pandas.Index(self.time, name="time"))

    def to_csv(self, path: str | Path) -> None:
        """Write a CSV file in the dialect that fmpy reads."""
        from cosim.registry import registry

        registry().get("result_sink", "workbench.csv")().write(self, Path(path))

    def plot(self, *patterns: str, path: str | Path | None = None, title: str = "") -> Any:
        """Plot signals over time (needs the extra ``cosim-framework[plot]``); returns the figure."""
        from cosim.registry import registry

        sink = registry().get("result_sink", "workbench.plot")
        return sink(patterns=patterns, title=title).write(self, None if path is None else Path(path))
