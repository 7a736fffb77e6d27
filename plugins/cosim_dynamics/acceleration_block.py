"""Acceleration stage: how each body accelerates, which the equations of motion themselves do not ask."""

from __future__ import annotations

from typing import Any

from cosim_dynamics.body_motion import write_acceleration
from cosim_dynamics.cached_vectors import spatial_at
from cosim_dynamics.mechanism import mechanism_at


def acceleration_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Write the acceleration of each body's origin in Ground from what u_dot adds."""
    for link in mechanism_at(ints, first).links:
        write_acceleration(c, link, spatial_at(c, link.body.change))
