"""The contract of forces between two bodies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import ClassVar

from cosim_mechanics.contracts.body_attachment import body
from cosim_mechanics.contracts.force import Force
from cosim_mechanics.contracts.law import Law


class ForceElement(Force):
    """Base of force elements between two bodies: they add spatial forces to both.

    A subclass has a kernel function that asks for ``X_GB1``, ``V_GB1``, ``X_GB2`` … (body 1 and body 2:
    pose, velocity about the body's origin, in Ground) and adds to ``F_GB1`` and ``F_GB2``, the
    spatial forces about the bodies' origins in Ground, rotation first.

    Attributes
    ----------
    laws : Law
        INTERNAL by default.
    """

    laws: ClassVar[Law] = Law.INTERNAL

    body1 = body(description="the body that carries frame 1")
    body2 = body(description="the body that carries frame 2")

    def rest_pose(self) -> Sequence[float]:
        """X_B1B2, the pose of body 2 in body 1 in which the element, at rest, exerts no force.

        Twelve reals: the rotation by rows, then the position (m). By default both frames coincide; an element
        that claims `Law.ZERO_AT_REST_POSE` overrides this.
        """
        return (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
