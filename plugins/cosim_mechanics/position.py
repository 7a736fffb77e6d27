"""Position of a point of a body, as a measure."""

from __future__ import annotations

import cosim
from cosim_mechanics.spatial import dot, point_velocity
from cosim_mechanics.spatial import station as located
from cosim_mechanics.station_measure import StationMeasure


class Position(StationMeasure):
    """Position in Ground of a station of a body, along a fixed direction.

    Law: value = e . p_GS, and its derivative e . v_GS, with p_GS from Ground's origin to the station.

    Parameters
    ----------
    of : body
    axis : "x", "y", "z" (with "-" for the opposite) or array_like, shape (3,), default "x"
        The direction e, in Ground; its length does not matter.
    station : array_like, shape (3,), m, default (0, 0, 0)
        The point, in the body's frame.

    Returns
    -------
    ``value``, m, at POSITION; ``value_dot``, m/s, at VELOCITY.

    Examples
    --------
    >>> Position(of="engine", axis="z", station=(0, 0, "10 cm")).station.tolist()
    [0.0, 0.0, 0.1]
    """

    value = cosim.cache_slot(unit="m", description="position along the axis")
    value_dot = cosim.cache_slot(unit="m/s", description="velocity along the axis")

    @cosim.kernel
    def place(X_GB_of, axis, station, value):
        value[0] = dot(axis, located(X_GB_of, station))

    @cosim.kernel
    def rate(X_GB_of, V_GB_of, axis, station, value_dot):
        value_dot[0] = dot(axis, point_velocity(V_GB_of, X_GB_of, located(X_GB_of, station)))
