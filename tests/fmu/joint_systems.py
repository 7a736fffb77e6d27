"""Co-simulations with the algorithm `joint`, which solves FMUs for Model Exchange as one system."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import cosim
from cosim.kit import ParticipantDescription, ParticipantVariable
from cosim_fmu import CoSimulation

EXACT = {"integrator": "integrators.dormand_prince_853", "accuracy": 1e-11}
FORCE = ("wheel.x -> body.road", "wheel.v -> body.road_rate", "body.reaction -> wheel.force")
LOOP = ("p.y -> q.u", "q.y -> p.u")


def joint(
    participants: Mapping[str, Any],
    connections: Sequence[str],
    starts: Mapping[str, Any] | None = None,
    *,
    step: float = 0.1,
    options: Mapping[str, Any] | None = None,
    **settings: Any,
) -> CoSimulation:
    """A co-simulation with the algorithm `joint`; `settings` are further ones of `CoSimulation`."""
    return CoSimulation(
        participants,
        connections,
        "joint",
        step,
        options={"accuracy": 1e-8, **(options or {})},
        starts=starts or {},
        **settings,
    )


class Spring(cosim.Participant):
    """A spring between two positions, a participant in Python."""

    def __init__(self, stiffness: float) -> None:
        self.stiffness, self.values = stiffness, {"one": 0.0, "other": 0.0}

    def describe(self) -> ParticipantDescription:
        ports = {
            "one": ("input", "m"),
            "other": ("input", "m"),
            "pull": ("output", "N"),
            "back": ("output", "N"),
        }
        return ParticipantDescription(
            "Python object",
            {name: ParticipantVariable(name, kind, unit=unit) for name, (kind, unit) in ports.items()},
            feedthrough={name: frozenset({"one", "other"}) for name in ("pull", "back")},
            can_restore=True,
            can_serialize=True,
        )

    def initialize(self, start: float, stop: Any, values: Mapping[str, Any], tolerance: Any = None) -> None:
        self.values = {"one": 0.0, "other": 0.0, **values}

    def set(self, names: Sequence[str], values: Any) -> None:
        self.values.update(zip(names, map(float, values), strict=True))

    def get(self, names: Sequence[str]) -> list[Any]:
        force = self.stiffness * (self.values["other"] - self.values["one"])
        return [{**self.values, "pull": force, "back": -force}[name] for name in names]

    def step(self, time: float, size: float) -> float:
        return time + size

    def save(self) -> dict[str, float]:
        return dict(self.values)

    def restore(self, token: Mapping[str, float]) -> None:
        self.values = dict(token)

    def serialize(self, token: Any) -> bytes:
        return json.dumps(token).encode()

    def deserialize(self, data: bytes) -> Any:
        return json.loads(data)

    def close(self) -> None:
        pass


def mixed(part: Path, **options: Any) -> CoSimulation:
    """Two FMUs with events and an algebraic loop, and a spring beside them."""
    starts = {
        "p.k": 3.0,
        "p.limit": 0.9,
        "p.gain": 0.5,
        "p.bias": 1.0,
        "q.k": 20.0,
        "q.gain": -0.7,
        "q.square": 0.1,
    }
    connections = [
        *("p.x -> q.road", "p.v -> q.road_rate", "q.reaction -> p.force", "p.high -> q.held", *LOOP),
        *("q.x -> s.one", "s.pull -> q.force"),
    ]
    return joint({"p": part, "s": Spring(5.0), "q": part}, connections, starts, step=0.1, options=options)
