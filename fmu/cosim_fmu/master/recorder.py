"""Collects the values of a co-simulation at its communication points."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from fnmatch import fnmatchcase
from typing import Any

import numpy as np

import cosim
from cosim_fmu.master.link import Link


class Recorder:
    """What is recorded, and what has been.

    Outputs and other variables are recorded as they are at a communication point, when all have reached
    it; a connected input as it was held during the step that ended there (in the first row: as it was
    after the initial exchange).

    Parameters
    ----------
    descriptions : mapping of str to ParticipantDescription
    links : sequence of Link
    patterns : sequence of str or None
        Paths or patterns: ``"plant.*"``. By default all outputs and whatever is connected. Text is
        never recorded.

    Raises
    ------
    LookUpError
        A pattern that fits nothing that can be recorded.
    """

    def __init__(
        self,
        descriptions: Mapping[str, cosim.ParticipantDescription],
        links: Sequence[Link],
        patterns: Sequence[str] | None,
    ) -> None:
        self._names = list(descriptions)
        self._held = {link.end for link in links}
        variables = {(name, v.name): v for name, d in descriptions.items() for v in d.variables.values()}
        numbers = {port: variable for port, variable in variables.items() if variable.type != "string"}
        if patterns is None:
            connected = self._held | {link.start for link in links}
            self.ports = [p for p, v in numbers.items() if v.causality == "output" or p in connected]
        else:
            chosen = [p for pattern in patterns for p in numbers if _fits(p, pattern)]
            self.ports = list(dict.fromkeys(chosen))  # in the order in which they were asked for
        for pattern in patterns or ():
            if not any(_fits(port, pattern) for port in numbers):
                hint = "Text cannot be recorded." if any(_fits(port, pattern) for port in variables) else ""
                raise cosim.LookUpError("signal", pattern, map(".".join, numbers), hint)
        self._units = [numbers[port].unit for port in self.ports]
        self._columns: list[list[Any]] = [[] for _ in self.ports]
        self._times: list[float] = []
        self._sources: list[tuple[str, int, bool]] = []

    def reads(self, links: Sequence[Link]) -> dict[str, list[str]]:
        """What has to be read of each participant: the connected outputs and the recorded variables."""
        wanted = [*(link.start for link in links), *(port for port in self.ports if port not in self._held)]
        reads: dict[str, list[str]] = {name: [] for name in self._names}
        for name, variable in dict.fromkeys(wanted):
            reads[name].append(variable)
        return reads

    def bind(self, reads: Mapping[str, Sequence[str]], inputs: Mapping[str, Sequence[str]]) -> None:
        """Find the place of each recorded variable on the board or among the held inputs."""
        for port in self.ports:
            name, variable = port
            held = port in self._held
            self._sources.append((name, (inputs if held else reads)[name].index(variable), held))

    def record(self, time: float, board: Mapping[str, Any], held: Mapping[str, Any]) -> None:
        """Keep the present values."""
        self._times.append(time)
        for column, (name, place, is_held) in zip(self._columns, self._sources, strict=True):
            column.append((held if is_held else board)[name][place])

    def result(self, **more: Any) -> cosim.Result:
        """Everything recorded so far; `more` is for the constructor of `Result`."""
        count = min([len(self._times), *map(len, self._columns)])  # an interrupt may come between two columns
        names = [".".join(port) for port in self.ports]
        signals = {
            name: np.array(c[:count], dtype=np.float64) for name, c in zip(names, self._columns, strict=True)
        }
        units = dict(zip(names, self._units, strict=True))
        return cosim.Result(np.array(self._times[:count]), signals, units, **more)


def _fits(port: tuple[str, str], pattern: str) -> bool:
    path = ".".join(port)
    return path == pattern or fnmatchcase(path, pattern)
