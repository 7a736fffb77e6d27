"""A point that stays on a line."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.constraints.point_in_plane import along
from cosim_mechanics.direction import direction_parameter
from cosim_mechanics.spatial import cross, minus, perpendicular, point_parameter, rotate, station


class PointOnLine(contracts.Constraint):
    """Keeps a point of one body on a line of another.

    Law: x·(p2 - p1) = y·(p2 - p1) = 0, with x and y perpendicular to the line and to each other, and the
    point p1 of the line, fixed on body1.

    Parameters
    ----------
    body1, body2 : body
        The one with the line and the one with the point.
    axis : array_like, shape (3,)
        Of the line, in the frame of body1; its length does not matter.
    point1, point2 : array_like, shape (3,), m, default the bodies' origins
        A point of the line, and the one that stays on it.

    References
    ----------
    Simbody 3.7, ``Constraint::PointOnLine``.

    Examples
    --------
    >>> PointOnLine(body1="ground", body2="collar", axis=(3, 0, 0)).axis.tolist()
    [1.0, 0.0, 0.0]
    """

    equations = 2

    body1 = contracts.body(description="carries the line")
    body2 = contracts.body(description="carries the point")
    axis = direction_parameter("of the line, in the frame of body1")
    point1 = point_parameter("of the line, on body1")
    point2 = point_parameter("in the frame of body2")
    across = cosim.cache_slot(shape=6, description="two directions across the line, in the frame of body1")

    @cosim.kernel
    def directions(axis, across):
        x = perpendicular(axis)
        for i in range(3):
            across[i] = x[i]
        y = cross((axis[0], axis[1], axis[2]), x)
        for i in range(3):
            across[3 + i] = y[i]

    def create_constraint_equations(self, s):
        return [along(self, s, s.slot("across", i, 3)) for i in (0, 3)]

    @cosim.kernel
    def position_error(X_GB1, X_GB2, across, point1, point2, position_error):
        r = minus(station(X_GB2, point2), station(X_GB1, point1))
        for i in range(2):
            n = rotate(X_GB1, (across[3 * i], across[3 * i + 1], across[3 * i + 2]))
            position_error[i] = n[0] * r[0] + n[1] * r[1] + n[2] * r[2]
