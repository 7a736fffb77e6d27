"""Velocity of a point of a body, as a measure."""

from __future__ import annotations

import cosim
from cosim_mechanics.spatial import angular, cross, dot, linear, plus, rotate
from cosim_mechanics.station_measure import StationMeasure


class Velocity(StationMeasure):
    """Velocity in Ground of a station of a body, along a fixed direction.

    Law: value = e . (v_GB + w_GB x r), and its derivative e . (a_GB + alpha_GB x r + w_GB x (w_GB x r)),
    with r from the body's origin to the station, in Ground.

    Parameters
    ----------
    of : body
    axis : "x", "y", "z" (with "-" for the opposite) or array_like, shape (3,), default "x"
        The direction e, in Ground; its length does not matter.
    station : array_like, shape (3,), m, default (0, 0, 0)
        The point, in the body's frame.

    Returns
    -------
    ``value``, m/s, at VELOCITY; ``value_dot``, m/s2, at ACCELERATION.

    Examples
    --------
    >>> Velocity(of="engine", axis="z").axis.tolist()
    [0.0, 0.0, 1.0]
    """

    value = cosim.cache_slot(unit="m/s", description="velocity along the axis")
    value_dot = cosim.cache_slot(unit="m/s2", description="acceleration along the axis")

    @cosim.kernel
    def velocity(X_GB_of, V_GB_of, axis, station, value):
        value[0] = dot(axis, plus(linear(V_GB_of), cross(angular(V_GB_of), rotate(X_GB_of, station))))

    @cosim.kernel
    def acceleration(X_GB_of, V_GB_of, A_GB_of, axis, station, value_dot):
        r = rotate(X_GB_of, station)
        w = angular(V_GB_of)
        turning = plus(cross(angular(A_GB_of), r), cross(w, cross(w, r)))
        value_dot[0] = dot(axis, plus(linear(A_GB_of), turning))
