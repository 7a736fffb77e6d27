"""How far the records of a co-simulation have come."""

from __future__ import annotations

from typing import NamedTuple


class Marks(NamedTuple):
    """What had happened in the coupling when a state was saved."""

    events: int
    stop_reason: str
    stops: dict[str, float]
    inside: int
