"""Acceleration stage: how each body accelerates, which the equations of motion themselves do not ask."""

from __future__ import annotations

from typing import Any

from cosim_dynamics.body_terms import put_acceleration
from cosim_dynamics.offsets import offset, six

#: What u_dot adds, the bias, the tree's reference point, then slots of the body.
CHANGE, BIAS, REFERENCE, X_GB, V_GB, A_GB = range(6)
WIDTH = 6


def acceleration_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Write A_GB (of the body origin, in Ground). A row for each body."""
    for body in range(count):
        row = offset(first + WIDTH * body)
        change = six(c, offset(ints[row + CHANGE]))
        put_acceleration(
            c,
            (change[0], change[1], change[2]),
            (change[3], change[4], change[5]),
            offset(ints[row + BIAS]),
            offset(ints[row + REFERENCE]),
            offset(ints[row + X_GB]),
            offset(ints[row + V_GB]),
            offset(ints[row + A_GB]),
        )


acceleration_block.__dict__["__row__"] = WIDTH
