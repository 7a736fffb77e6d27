"""Corrections after a step: quaternions, positions and speeds.

`cosim.step.projection` calls these in turn and evaluates the system in between. Corrections are the
smallest in the metric of the mass matrix: -M^-1 G^T (G M^-1 G^T)^+ error. One of positions is made as speeds
(which every joint knows how to turn into rates of its coordinates), so it takes two blocks: the first puts it
in place of the speeds, and after an evaluation the second adds the rates to the coordinates.

An error estimate goes the same way. What the blocks for it get in place of `y` is the estimate, and in place
of `h` the state that it belongs to.

The rows of these blocks are those of `constraint_block`; a row of the second has the joint's coordinates.
"""

from __future__ import annotations

import math
from typing import Any

from cosim_dynamics.constraint_block import (
    CHANGED,
    CORRECTION,
    DOFS_AT,
    ENABLED,
    EQUATIONS,
    ERROR_SIZES,
    ERRORS,
    LEVEL,
    POSITION,
    RIGHT,
    SIZE,
    VELOCITY,
    WIDTH,
    A,
    G,
    U,
    correct,
    set_up_products,
    solve,
)

#: Below this deviation of the squared length from 1 a quaternion is normalized as well as it can be.
EXACT = 4e-16


def normalization_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Divide quaternions by their lengths. A row: where one starts in y, and the errors in the cache."""
    for row in range(count):
        at = ints[first + 2 * row]
        length2 = y[at] * y[at] + y[at + 1] * y[at + 1] + y[at + 2] * y[at + 2] + y[at + 3] * y[at + 3]
        if abs(length2 - 1.0) > EXACT and length2 > 0.0:
            one_over = 1.0 / math.sqrt(length2)
            for i in range(4):
                y[at + i] *= one_over
            c[ints[first + 2 * row + 1]] = 1.0


def normal_part_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Take out of the error of quaternions what is along them. Rows as in `normalization_block`."""
    for row in range(count):
        at = ints[first + 2 * row]
        along = y[at] * h[at] + y[at + 1] * h[at + 1] + y[at + 2] * h[at + 2] + y[at + 3] * h[at + 3]
        for i in range(4):
            y[at + i] -= along * h[at + i]


def take(c: Any, ints: Any, first: int, column: int) -> None:
    """Errors as right side."""
    for r in range(ints[first + EQUATIONS]):
        c[ints[first + RIGHT] + r] = c[ints[first + (1 + r) * WIDTH + column]]


def solve_for(p: Any, c: Any, ints: Any, first: int, level: int) -> None:
    """The correction for the right side, by the equations that are held at this level."""
    m = ints[first + EQUATIONS]
    A_at = ints[first + A]
    for r in range(m):
        row = first + (1 + r) * WIDTH
        if ints[row + LEVEL] < level or p[ints[row + ENABLED]] == 0.0:
            c[ints[first + RIGHT] + r] = 0.0
            for s in range(m):
                c[A_at + r * m + s] = 0.0
                c[A_at + s * m + r] = 0.0
    solve(c, ints, first)
    correct(c, ints, first)
    set_up_products(c, ints, first)


def velocity_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Correct the speeds."""
    take(c, ints, first, VELOCITY)
    solve_for(p, c, ints, first, 1)
    dofs = first + ints[first + DOFS_AT]
    for i in range(ints[first + SIZE]):
        y[ints[dofs + i * WIDTH + U]] += c[ints[first + CORRECTION] + i]
    c[ints[first + ERRORS] + CHANGED] = 1.0


def direction_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Put the correction of positions in place of the speeds, and these aside."""
    take(c, ints, first, POSITION)
    solve_for(p, c, ints, first, 2)
    dofs = first + ints[first + DOFS_AT]
    n = ints[first + SIZE]
    aside = ints[first + ERRORS] + ERROR_SIZES
    for i in range(n):
        at = ints[dofs + i * WIDTH + U]
        c[aside + i] = y[at]
        y[at] = c[ints[first + CORRECTION] + i]
    c[ints[first + ERRORS] + CHANGED] = 1.0


def movement_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Add the rates to the coordinates and put the speeds back.

    Row 0: where the speeds were put, their number, and that of the coordinates; then the index in y of each
    speed and each coordinate. The rate of a coordinate lies at the same index in the cache.
    """
    aside = ints[first]
    n = ints[first + 1]
    for i in range(ints[first + 2]):
        at = ints[first + 3 + n + i]
        y[at] += c[at]
    for i in range(n):
        y[ints[first + 3 + i]] = c[aside + i]


def speed_estimate_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Correct the estimate of the speeds by what it says against the equations; note the position errors."""
    dofs = first + ints[first + DOFS_AT]
    n = ints[first + SIZE]
    for r in range(ints[first + EQUATIONS]):
        value = 0.0
        for i in range(n):
            value += c[ints[first + G] + r * n + i] * y[ints[dofs + i * WIDTH + U]]
        c[ints[first + RIGHT] + r] = value
    solve_for(p, c, ints, first, 1)
    for i in range(n):
        y[ints[dofs + i * WIDTH + U]] += c[ints[first + CORRECTION] + i]
    take(c, ints, first, POSITION)


def position_estimate_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """The correction of the estimate of the coordinates in place of the speeds.

    The position errors are those of the coordinates without the estimate; those with it were noted.
    """
    dofs = first + ints[first + DOFS_AT]
    for r in range(ints[first + EQUATIONS]):
        c[ints[first + RIGHT] + r] -= c[ints[first + (1 + r) * WIDTH + POSITION]]
    solve_for(p, c, ints, first, 2)
    for i in range(ints[first + SIZE]):
        y[ints[dofs + i * WIDTH + U]] = c[ints[first + CORRECTION] + i]


def rate_estimate_block(
    t: float, y: Any, p: Any, d: Any, k: Any, h: Any, c: Any, ints: Any, first: int, count: int
) -> None:
    """Add the rates to the estimate of the coordinates. The row is that of `movement_block`."""
    for i in range(ints[first + 2]):
        at = ints[first + 3 + ints[first + 1] + i]
        y[at] += c[at]
