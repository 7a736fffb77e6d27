"""A Python object as a participant: a room with a thermostat's heater, to copy."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable


class HeatedRoom(cosim.Participant):
    """A room that loses heat to its surroundings and is heated: C T' = power - G (T - T_outside).

    Parameters
    ----------
    capacity : float, J/K
    conductance : float, W/K
    """

    def __init__(self, capacity: float = 2e5, conductance: float = 80.0) -> None:
        self.capacity, self.conductance = capacity, conductance

    def describe(self) -> ParticipantDescription:
        """The name, the inputs and outputs, and the abilities of the room."""
        variables = [
            ParticipantVariable("power", "input", unit="W", start=0.0),
            ParticipantVariable("outside", "parameter", unit="degC", start=5.0),
            ParticipantVariable("temperature", "output", unit="degC", start=18.0),
            ParticipantVariable("loss", "output", unit="W", description="heat flow to the outside"),
        ]
        return ParticipantDescription(
            kind="heated room",
            variables={variable.name: variable for variable in variables},
            # neither output depends on the power at the same instant
            feedthrough={"temperature": frozenset(), "loss": frozenset()},
            can_restore=True,
        )

    def initialize(
        self, start: float, stop: float | None, values: Mapping[str, Any], tolerance: float | None = None
    ) -> None:
        """Forget everything, take the start values."""
        self.outside = values.get("outside", 5.0)
        self.power = values.get("power", 0.0)
        self.temperature = 18.0

    def set(self, names: Sequence[str], values: Sequence[Any]) -> None:
        """Inputs are held until they are set again."""
        for name, value in zip(names, values, strict=True):
            if name != "power":
                raise KeyError(name)
            self.power = float(value)

    def step(self, time: float, size: float) -> float:
        """Step by the exact solution for a constant power; return the time reached."""
        final = self.outside + self.power / self.conductance
        part = math.exp(-size * self.conductance / self.capacity)
        self.temperature = final + (self.temperature - final) * part
        return time + size

    def get(self, names: Sequence[str]) -> list[Any]:
        """Values at the present time, in the order of the names."""
        known = {
            "temperature": self.temperature,
            "loss": self.conductance * (self.temperature - self.outside),
        }
        return [known[name] for name in names]

    def save(self) -> Any:
        """The state that a step changes; algorithms that go back use it (`can_restore`)."""
        return self.temperature, self.power

    def restore(self, token: Any) -> None:
        """Restore the state."""
        self.temperature, self.power = token

    def close(self) -> None:
        """Close nothing: there is no open resource."""
