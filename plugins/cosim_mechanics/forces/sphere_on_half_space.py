"""The common base of contacts between a sphere and a half-space."""

from __future__ import annotations

import cosim
from cosim_mechanics.contracts.surfaces import Surfaces
from cosim_mechanics.spatial import (
    NO_POSE,
    Reals,
    compose,
    dot,
    is_pose,
    minus,
    point_parameter,
    pose_parameter,
    position,
)


def above_half_space(
    X_GB1: Reals, frame_on_body1: Reals, center: Reals, radius: float
) -> tuple[float, tuple[float, float, float]]:
    """Depth of a sphere below a half-space, m, and the normal out of the half-space.

    All in Ground; the half-space is z < 0 of the frame.

    >>> above_half_space((1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 2), (1, 0, 0, 0, 1, 0, 0, 0, 1, 0, 0, 0),
    ...                  (0.0, 0.0, 2.75), 1.0)
    (0.25, (0, 0, 1))
    """
    X_GF = compose(X_GB1, frame_on_body1)
    n = (X_GF[2], X_GF[5], X_GF[8])
    return radius - dot(n, minus(center, position(X_GF))), n


class SphereOnHalfSpace(Surfaces):
    """Base of contacts between a half-space on body 1 and a sphere on body 2, whatever their law.

    Frames and signs
    ----------------
    The half-space is what lies at z < 0 in frame F on body 1; its surface looks along F's z axis.
    """

    frame_on_body1 = pose_parameter("X_B1F, the half-space is at z < 0 of F")
    center_on_body2 = point_parameter("centre of the sphere, in the frame of body 2")
    radius = cosim.parameter(unit="m", minimum=0.0, description="radius of the sphere")

    def plane_of_contact(self) -> tuple[float, ...]:
        """See `Surfaces`: the surface of the half-space."""
        return tuple(self.values.numbers["frame_on_body1"].reshape(-1).tolist())

    @cosim.kernel(refuses=[NO_POSE])
    def frames(frame_on_body1):
        return 0.0 if is_pose(frame_on_body1) else 1.0
