"""A participant of a coupling of predator and prey."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

import cosim
from cosim import kit


class Species(cosim.Participant):
    """x' = (growth + effect u) x, stepped exactly for inputs that are held or run along a line."""

    def __init__(self, growth: float, effect: float, start: float, follows: bool) -> None:
        self.growth, self.effect, self.start, self.follows = growth, effect, start, follows
        self.x, self.u, self.slope = start, 0.0, 0.0

    def describe(self) -> kit.ParticipantDescription:
        """One input, one output."""
        variables = {"u": kit.ParticipantVariable("u", "input"), "x": kit.ParticipantVariable("x", "output")}
        feedthrough: dict[str, frozenset[str]] = {"x": frozenset()}
        return kit.ParticipantDescription(
            "species", variables, feedthrough, can_restore=True, follows_slopes=self.follows
        )

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Begin anew."""
        self.x, self.u, self.slope = self.start, float(values.get("u", 0.0)), 0.0

    def set(self, names: Sequence[str], values: Any) -> None:
        """Set the input."""
        if len(names):
            self.u, self.slope = float(values[0]), 0.0

    def set_slopes(self, names: Sequence[str], slopes: Sequence[float]) -> None:
        """The slope of the input, per s."""
        self.slope = float(slopes[0])

    def step(self, time: float, size: float) -> float:
        """Step by the exponential."""
        integral = self.u * size + 0.5 * self.slope * size**2
        self.x *= float(np.exp(self.growth * size + self.effect * integral))
        self.u, self.slope = self.u + self.slope * size, 0.0
        return time + size

    def get(self, names: Sequence[str]) -> list[float]:
        """Number of animals, or what was set."""
        return [self.x if name == "x" else self.u for name in names]

    def save(self) -> Any:
        """The state that a step changes."""
        return self.x, self.u, self.slope

    def restore(self, token: Any) -> None:
        """Restore the state."""
        self.x, self.u, self.slope = token

    def close(self) -> None:
        """Close nothing: there is no open resource."""
