"""Contact of a sphere with a half-space."""

from __future__ import annotations

import cosim
from cosim_mechanics import contracts
from cosim_mechanics.forces.sphere_on_half_space import SphereOnHalfSpace, above_half_space
from cosim_mechanics.spatial import plus, scaled, station


class SphereContact(SphereOnHalfSpace, contracts.Contact):
    """Contact between a half-space on body 1 and a sphere on body 2: Hertz, Coulomb friction that sticks.

    Law: that of `Contact`, with the depth x of the sphere below the surface and R its radius.

    Frames and signs
    ----------------
    The half-space is what lies at z < 0 in frame F on body 1; its surface looks along F's z axis. x > 0
    inside. The forces act at the deepest point of the sphere, so a ball rolls on its radius.

    Limits
    ------
    As for `Contact`.

    Parameters
    ----------
    body1, body2 : body
        The one with the half-space, the one with the sphere.
    frame_on_body1 : pose, default identity
        X_B1F.
    center_on_body2 : array_like, shape (3,), m, default (0, 0, 0)
        Centre of the sphere.
    radius : float, m, > 0
        R.

    Energy
    ------
    As for `Contact`.

    References
    ----------
    K. L. Johnson, "Contact Mechanics" (1985), chapter 4. For the law of Simbody's
    ``SmoothSphereHalfSpaceForce`` see `SmoothSphereContact`.

    Examples
    --------
    >>> ball = SphereContact(body1="ground", body2="ball", radius=0.1, stiffness="1 MPa", restitution=0.5)
    >>> ball.stiffness
    1000000.0
    """

    known_as = ("contact", "hertz")

    @cosim.kernel
    def place(
        X_GB1, X_GB2, frame_on_body1, center_on_body2, radius, depth, curvature_radius, normal, point,
    ):  # fmt: skip
        center = station(X_GB2, center_on_body2)
        x, n = above_half_space(X_GB1, frame_on_body1, center, radius)
        p = plus(center, scaled(-radius, n))
        depth[0] = x
        curvature_radius[0] = radius
        for i in range(3):
            normal[i] = n[i]
            point[i] = p[i]
