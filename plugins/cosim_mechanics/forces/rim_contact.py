"""Contact of a rim, as that of a disc or a cylinder, with a half-space."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.forces.sphere_on_half_space import SphereOnHalfSpace, above_half_space
from cosim_mechanics.spatial import (
    Reals,
    dot,
    minus,
    norm,
    perpendicular,
    plus,
    rotate,
    scaled,
    station,
)


def steepest_direction(axis: Reals, normal: Reals, default: Reals) -> tuple[float, float, float]:
    """Unit vector across a unit axis that goes down most steeply; `default` if none goes down.

    >>> steepest_direction((0.0, 1.0, 0.0), (0.0, 0.6, 0.8), (1.0, 0.0, 0.0))
    (0.0, 0.0, -1.0)
    """
    down = minus(scaled(dot(axis, normal), axis), normal)
    size = norm(down)
    return scaled(1.0 / size, down) if size > 0.0 else scaled(1.0, default)


class RimContact(SphereOnHalfSpace, contracts.Contact):
    """Contact between a half-space on body 1 and a rounded rim on body 2: Hertz, friction that sticks.

    Law: that of `Contact`, with the depth x of the lowest point of the rim, or of the point opposite, below
    the surface, and R the radius of the rounding.

    Frames and signs
    ----------------
    As for `SphereContact`, with a sphere whose centre is the deepest point of a circle: that of `rim_radius`
    about `center_on_body2`, across `axis_on_body2`. This point moves over the body as it rolls; forces and
    slip velocity are those of the material there. ``end="highest"`` is the opposite point: both together
    carry a standing cylinder, and its stiffness against tilting is the same in all directions.

    Limits
    ------
    As for `Contact`. R is that of a sphere, so the depth is larger than that of Hertz for a torus. A cylinder
    that stands exactly upright has no lowest point: two opposite points of the rim are chosen, and their
    friction resists spinning about the axis.

    Parameters
    ----------
    body1, body2 : body
        The one with the half-space, the one with the rim.
    frame_on_body1 : pose, default identity
    center_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
        Centre of the rim.
    axis_on_body2 : array_like, shape (3,), default (0, 0, 1)
    rim_radius : float, m, > 0
        Of the circle in which the centres of the rounding lie.
    radius : float, m, > 0
        R, of the rounding.
    end : "lowest" or "highest", default "lowest"

    Energy
    ------
    As for `Contact`.

    References
    ----------
    K. L. Johnson, "Contact Mechanics" (1985), chapter 4.

    Examples
    --------
    >>> coin = RimContact(body1="ground", body2="coin", rim_radius=0.01, radius=1e-3, stiffness="1 GPa")
    >>> coin.axis_on_body2.tolist()
    [0.0, 0.0, 1.0]
    """

    known_as = ("disc_contact", "wheel_contact")

    axis_on_body2 = cosim.parameter(shape=3, default=(0.0, 0.0, 1.0), description="across the rim")
    rim_radius = cosim.parameter(unit="m", above=0.0, description="of the centres of the rounding")
    end = cosim.option("lowest", choices=("lowest", "highest"), description="which point of the rim")

    @cosim.kernel(refuses=["the axis of the rim has no length: give a direction"])
    def direction_of_axis(axis_on_body2):
        return 0.0 if norm(axis_on_body2) > 0.0 else 1.0

    @cosim.kernel
    def place(
        X_GB1, X_GB2, frame_on_body1, center_on_body2, axis_on_body2, rim_radius, radius, end, depth,
        curvature_radius, normal, point,
    ):  # fmt: skip
        axis = scaled(1.0 / norm(axis_on_body2), axis_on_body2)
        middle = station(X_GB2, center_on_body2)
        _, n = above_half_space(X_GB1, frame_on_body1, middle, radius)
        across = rotate(X_GB2, perpendicular(axis))
        out = steepest_direction(rotate(X_GB2, axis), n, across)
        center = plus(middle, scaled(rim_radius if end == 0.0 else -rim_radius, out))
        x, n = above_half_space(X_GB1, frame_on_body1, center, radius)
        p = plus(center, scaled(-radius, n))
        depth[0] = x
        curvature_radius[0] = radius
        for i in range(3):
            normal[i] = n[i]
            point[i] = p[i]
