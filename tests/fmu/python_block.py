"""A participant in Python whose outputs are given as functions."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import cosim
from cosim import kit


class Block(cosim.Participant):
    """A Python object as a participant: outputs are functions of time, inputs and a state."""

    def __init__(
        self,
        outputs: Mapping[str, Callable[..., Any]],
        inputs: Sequence[str] = (),
        *,
        units: Mapping[str, str] | None = None,
        types: Mapping[str, str] | None = None,
        feedthrough: Mapping[str, frozenset[str]] | None = None,
    ) -> None:
        self.outputs, self.feedthrough = outputs, feedthrough
        self.values: dict[str, Any] = dict.fromkeys(inputs, 0.0)
        self.units, self.types = units or {}, types or {}
        self.calls: list[tuple[str, Any]] = []
        self.time = 0.0

    def describe(self) -> kit.ParticipantDescription:
        names = {**dict.fromkeys(self.outputs, "output"), **dict.fromkeys(self.values, "input")}
        variables = {
            n: kit.ParticipantVariable(n, c, self.types.get(n, "real"), self.units.get(n, "1"))
            for n, c in names.items()
        }
        return kit.ParticipantDescription("Python object", variables, self.feedthrough)

    def initialize(self, start: float, stop: Any, values: Mapping[str, Any], tolerance: Any = None) -> None:
        self.time = start
        self.values.update(values)
        self.calls.append(("initialize", start))

    def set(self, names: Sequence[str], values: Sequence[Any]) -> None:
        self.values.update(zip(names, values, strict=True))

    def get(self, names: Sequence[str]) -> list[Any]:
        return [self.outputs[name](self.time, **self.values) for name in names]

    def step(self, time: float, size: float) -> float:
        self.calls.append(("step", time))
        self.time = time + size
        return self.time

    def close(self) -> None:
        self.calls.append(("close", self.time))
