"""Measures of a point of a body along a fixed direction."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.direction import direction_parameter
from cosim_mechanics.spatial import point_parameter


class StationMeasure(cosim.Measure):
    """Base of the measures of a station of a body, along a direction in Ground."""

    of = contracts.body(description="the body that carries the station")
    axis = direction_parameter("direction in Ground: x, y, z or three numbers", "x")
    station = point_parameter("the point, in the body's frame")
