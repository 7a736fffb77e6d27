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
        Paths or patterns: ``"plant.*"``. By default all outputs and all connected inputs; text
        variables only when a pattern asks for them.

    Raises
    ------
    LookUpError
        A pattern that fits no variable.
    """

    def __init__(
        self,
        descriptions: Mapping[str, cosim.ParticipantDescription],
        links: Sequence[Link],
        patterns: Sequence[str] | None,
    ) -> None:
        self._names = list(descriptions)
        self._held = {link.end: None for link in links}
        connected = {link.start for link in links} | self._held.keys()
        self._types: dict[tuple[str, str], str] = {}
        self._units: dict[tuple[str, str], str] = {}
        self.ports: list[tuple[str, str]] = []
        for name, description in descriptions.items():
            for variable in description.variables.values():
                port = name, variable.name
                self._types[port], self._units[port] = variable.type, variable.unit
                usual = variable.type != "string" and (variable.causality == "output" or port in connected)
                if usual if patterns is None else any(_fits(port, pattern) for pattern in patterns):
                    self.ports.append(port)
        for pattern in patterns or ():
            if not any(_fits(port, pattern) for port in self._types):
                raise cosim.LookUpError("signal", pattern, map(".".join, self._types))
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
        types = {"real": np.float64, "integer": np.int64, "boolean": np.bool_, "string": np.str_}
        count = min([len(self._times), *map(len, self._columns)])  # an interrupt may come between two columns
        signals: dict[str, Any] = {
            ".".join(port): np.array(column[:count], dtype=types[self._types[port]])
            for port, column in zip(self.ports, self._columns, strict=True)
        }
        units = {".".join(port): self._units[port] for port in self.ports}
        return cosim.Result(time=np.array(self._times[:count]), signals=signals, units=units, **more)


def _fits(port: tuple[str, str], pattern: str) -> bool:
    path = ".".join(port)
    return path == pattern or fnmatchcase(path, pattern)
