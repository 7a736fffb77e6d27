"""The base class of elements between two points."""

from __future__ import annotations

from typing import ClassVar

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.contracts import Law
from cosim_mechanics.spatial import (
    add_force_at,
    dot,
    minus,
    norm,
    point_parameter,
    point_velocity,
    scaled,
    station,
)


class TwoPoint(contracts.ForceElement):
    """Base of massless elements along the line between a station on body 1 and one on body 2.

    Law: a tension pulls the stations together along their line; a subclass has a kernel function that writes
    it, from `length`, `rate` and its parameters.

    Frames and signs
    ----------------
    `line` is the unit vector from station 1 to station 2, in Ground; `length` is their distance, positive. A
    positive tension pulls: the force on body 1 is tension * line, on body 2 the opposite, both on the line.

    Limits
    ------
    The direction is not defined where the stations coincide: the computation stops there with an error.

    Parameters
    ----------
    body1, body2 : body
    station_on_body1, station_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
        In the bodies' frames.

    Returns
    -------
    ``length`` (m) and ``line`` at POSITION, ``rate`` (m/s) at VELOCITY, ``tension`` (N) at DYNAMICS.
    """

    laws: ClassVar[Law] = Law.INTERNAL | Law.FRAME_INDIFFERENT | Law.SYMMETRIC

    station_on_body1 = point_parameter("point 1, in the frame of body 1")
    station_on_body2 = point_parameter("point 2, in the frame of body 2")
    length = cosim.cache_slot(unit="m", description="distance of the points")
    rate = cosim.cache_slot(unit="m/s", description="rate of lengthening")
    line = cosim.cache_slot(shape=3, description="unit vector from point 1 to point 2, in Ground")
    tension = cosim.cache_slot(unit="N", description="pulls the points together where positive")

    @cosim.kernel
    def place(X_GB1, X_GB2, station_on_body1, station_on_body2, length, line):
        between = minus(station(X_GB2, station_on_body2), station(X_GB1, station_on_body1))
        distance = norm(between)
        if distance == 0.0:
            raise ValueError(
                "the two points coincide, so the force between them has no direction: keep them apart"
            )
        length[0] = distance
        for i in range(3):
            line[i] = between[i] / distance

    @cosim.kernel
    def velocity(X_GB1, V_GB1, X_GB2, V_GB2, station_on_body1, station_on_body2, line, rate):
        v1 = point_velocity(V_GB1, X_GB1, station(X_GB1, station_on_body1))
        v2 = point_velocity(V_GB2, X_GB2, station(X_GB2, station_on_body2))
        rate[0] = dot(line, minus(v2, v1))

    @cosim.kernel
    def force(X_GB1, X_GB2, station_on_body1, station_on_body2, line, tension, F_GB1, F_GB2):
        add_force_at(F_GB1, X_GB1, station(X_GB1, station_on_body1), scaled(tension, line))
        add_force_at(F_GB2, X_GB2, station(X_GB2, station_on_body2), scaled(-tension, line))

    def pose_at_length(self, length: float) -> tuple[float, ...]:
        """A pose X_B1B2 in which the points are this far apart, m, along body 1's x axis."""
        offset = self.values.numbers["station_on_body1"] - self.values.numbers["station_on_body2"]
        return (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, offset[0] + length, offset[1], offset[2])
