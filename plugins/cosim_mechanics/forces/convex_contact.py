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
"""Halvings of the segment of a capsule, after which the place of contact is exact to rounding."""


class ConvexContact(contracts.Contact):
    """Base of contacts between a convex shape on body 1 and a sphere or capsule on body 2.

    A subclass defines the shape: `place = capsule_on(distance)`, where ``distance(s, p)`` returns the
    distance of the point p from the shape (m; negative inside), and the unit vector away from it, in the
    shape's frame.

    Law: that of `Contact` with the depth x = radius1 + radius2 - d, d the smallest distance of the capsule's
    segment from the shape, and R = radius2.

    Frames and signs
    ----------------
    The shape is given in frame F on body 1. The capsule consists of all points nearer than radius2 to a
    segment, which goes from `center` - `half_axis` to `center` + `half_axis` in the frame of body 2; a half
    axis of (0, 0, 0) gives a sphere. The forces act in the middle of the overlap.

    Limits
    ------
    R is that for a plane, even at edges and on round sides, so that the force depends on the depth alone. A
    capsule is thinner at its ends, by half the share `crown` of its radius, as rollers are: without this
    crown the place of contact of parallel surfaces would jump from end to end. A capsule on a face rocks on
    its crown. If the segment of a capsule enters the shape (within its rounding), the depth is NaN: error
    control tries shorter steps, and the run ends if these do not help. The centre of a sphere may enter.
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


def nearest_on_capsule(distance: Callable[[Any, Reals], tuple[float, Reals]]) -> Any:
    """Make the function that finds the point of a capsule's segment nearest to a convex shape.

    Parameters
    ----------
    distance : kernel function
        As for `capsule_on`.

    Returns
    -------
    kernel function
        ``search(s, center, axis, bulge)``, all in the shape's frame: the place on the segment from -1 to 1,
        its distance from the shape, m, negative inside, and the unit vector away from it. `bulge` is twice
        the reduction of the radius at the ends by the crown, m.
    """

    def search(s, center, axis, bulge):
        share = 0.0
        if dot(axis, axis) > 0.0:
            low = -1.0
            high = 1.0
            for _ in range(HALVINGS):
                share = 0.5 * (low + high)
                _, away = distance(s, plus(center, scaled(share, axis)))
                if dot(away, axis) + bulge * share > 0.0:
                    high = share
                else:
                    low = share
        gap, away = distance(s, plus(center, scaled(share, axis)))
        return share, gap, away

    return search


def depth_on_capsule(radii: float, distance: float, reduction: float, is_sphere: bool) -> float:
    """Depth of a capsule in a convex shape, m; NaN if its segment is within the shape.

    Parameters
    ----------
    radii : float, m
        The sum of the radii of the rounding and of the capsule.
    distance : float, m
        The distance between the segment and the shape.
    reduction : float, m
        The reduction of the capsule's radius by the crown.

    >>> depth_on_capsule(0.5, 0.25, 0.0, False), depth_on_capsule(0.5, -0.25, 0.0, True)
    (0.25, 0.75)
    """
    if distance < 0.0 and not is_sphere:
        return math.nan
    return radii - distance - reduction


def capsule_on(distance: Callable[[Any, Reals], tuple[float, Reals]]) -> Any:
    """Make the kernel function that computes the contact of a capsule with a convex shape.

    Parameters
    ----------
    distance : kernel function
        ``distance(s, p)`` of a point p in the shape's frame: distance, m, negative inside, and unit vector
        away from the shape; `s` has the declarations of the class.
    """
    search = nearest_on_capsule(distance)

    def place(s):
        X_GF = compose(s.X_GB1, s.frame_on_body1)
        center = station(inverse(X_GF), station(s.X_GB2, s.center_on_body2))
        axis = rotate_inverse(X_GF, rotate(s.X_GB2, s.half_axis_on_body2))
        bulge = s.crown * s.radius2
        share, gap, away = search(s, center, axis, bulge)
        is_sphere = dot(axis, axis) == 0.0
        x = depth_on_capsule(s.radius1 + s.radius2, gap, 0.5 * bulge * share * share, is_sphere)
        n = rotate(X_GF, away)
        p = minus(station(X_GF, plus(center, scaled(share, axis))), scaled(s.radius2 - 0.5 * x, n))
        s.depth = x
        s.curvature_radius = s.radius2
        for i in range(3):
            s.normal[i] = n[i]
            s.point[i] = p[i]

    return cosim.kernel(place)
