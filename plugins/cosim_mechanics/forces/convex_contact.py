"""Contact of a sphere or capsule with a convex shape."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.spatial import (
    NO_POSE,
    Reals,
    compose,
    dot,
    inverse,
    is_pose,
    minus,
    plus,
    point_parameter,
    pose_parameter,
    rotate,
    rotate_inverse,
    scaled,
    station,
)

HALVINGS = 52
"""Of the segment of a capsule, until the place of contact is exact."""


class ConvexContact(contracts.Contact):
    """Base of contacts between a convex shape on body 1 and a sphere or capsule on body 2.

    A subclass is a shape: `place = capsule_on(distance)`, where ``distance(s, p)`` returns how far the point
    p lies outside of the shape (m; negative inside), and the unit vector away from it, in the shape's frame.

    Law: that of `Contact` with the depth x = radius1 + radius2 - d, d the smallest distance of the capsule's
    segment from the shape, and R = radius2.

    Frames and signs
    ----------------
    The shape has its place in frame F on body 1. The capsule is all that is nearer than radius2 to a segment,
    which goes from `center` - `half_axis` to `center` + `half_axis` in the frame of body 2; a half axis of
    (0, 0, 0) makes a sphere. The forces act in the middle of the overlap.

    Limits
    ------
    R is that of a plane, also at edges and on round sides, so the force depends on the depth alone. A capsule
    is thinner at its ends, by half the share `crown` of its radius, as rollers are: without this crown the
    place of contact of parallel surfaces would jump from end to end. A capsule that lies on a face rocks on
    its crown. Where the segment of a capsule gets into the shape (within its rounding), the depth is not a
    number: error control tries shorter steps, and the run ends where that does not help. The centre of a
    sphere may get in.
    """

    frame_on_body1 = pose_parameter("X_B1F, where the shape is")
    center_on_body2 = point_parameter("centre of the capsule, in the frame of body 2")
    half_axis_on_body2 = point_parameter("from the centre to the end of the segment; 0 for a sphere")
    radius1 = cosim.parameter(unit="m", default=0.0, minimum=0.0, description="of the rounding of the shape")
    radius2 = cosim.parameter(unit="m", above=0.0, description="of the sphere or capsule")
    crown = cosim.parameter(default=1e-3, above=0.0, maximum=1.0, description="of the capsule, per radius")

    @cosim.kernel(refuses=[NO_POSE])
    def frames(frame_on_body1):
        return 0.0 if is_pose(frame_on_body1) else 1.0


def capsule_on(distance: Callable[[Any, Reals], tuple[float, Reals]]) -> Any:
    """The kernel function that computes where a capsule touches a convex shape.

    Parameters
    ----------
    distance : kernel function
        ``distance(s, p)`` of a point p in the shape's frame: distance, m, negative inside, and unit vector
        away from the shape; `s` shows what the class declares.
    """

    def place(s):
        X_GF = compose(s.X_GB1, s.frame_on_body1)
        X_FG = inverse(X_GF)
        center = station(X_FG, station(s.X_GB2, s.center_on_body2))
        axis = rotate_inverse(X_GF, rotate(s.X_GB2, s.half_axis_on_body2))
        bulge = s.crown * s.radius2
        at = 0.0
        if dot(axis, axis) > 0.0:
            low = -1.0
            high = 1.0
            for _ in range(HALVINGS):
                at = 0.5 * (low + high)
                _, away = distance(s, plus(center, scaled(at, axis)))
                if dot(away, axis) + bulge * at > 0.0:
                    high = at
                else:
                    low = at
        apart, away = distance(s, plus(center, scaled(at, axis)))
        x = s.radius1 + s.radius2 - apart - 0.5 * bulge * at * at
        if apart < 0.0 and dot(axis, axis) > 0.0:
            x = math.nan
        n = rotate(X_GF, away)
        p = minus(station(X_GF, plus(center, scaled(at, axis))), scaled(s.radius2 - 0.5 * x, n))
        s.depth = x
        s.curvature_radius = s.radius2
        for i in range(3):
            s.normal[i] = n[i]
            s.point[i] = p[i]

    return cosim.kernel(place)
