"""A random system, how it is integrated and what is done with it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import cosim


@dataclass
class Plan:
    """A random system, how it is integrated and what is done with it.

    Attributes
    ----------
    seed : int
    parts : list of str
        Descriptions of its parts, for messages.
    build : callable
        Makes the system.
    integrator : str
    options : dict
        Of the Simulator.
    start : float
        Time of the State before it is initialized, s.
    actions : list of tuple
        ("initialize",), ("advance", time), ("step", time), ("write", path, value), ("slope", path, per
        second), ("pending",), ("restore",): the State goes through bytes into another Simulator.
    features : set of str
        Names of what the system covers.
    """

    seed: int
    parts: list[str] = field(default_factory=list)
    build: Callable[[], cosim.System] = cosim.System
    integrator: str = ""
    options: dict[str, Any] = field(default_factory=dict)
    start: float = 0.0
    actions: list[tuple[Any, ...]] = field(default_factory=list)
    features: set[str] = field(default_factory=set)

    def __str__(self) -> str:
        options = ", ".join(f"{name}={value}" for name, value in self.options.items())
        done = ", ".join(" ".join(str(word) for word in action) for action in self.actions)
        return (
            f"seed {self.seed}: {'; '.join(self.parts)} | {self.integrator} {options} | "
            f"from {self.start:g} s: {done}"
        )
