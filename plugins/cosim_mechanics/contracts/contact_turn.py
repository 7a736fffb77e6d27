"""Whether surfaces that stopped slide back.

Coulomb's law decides at the stop: what acts is above static friction, or surfaces stick. A contact knows what
acts once its bristle has turned, from two accelerations.
"""

from __future__ import annotations

import math
from typing import Any

from cosim_mechanics.contracts.contact_law import MARGIN, tangential_part
from cosim_mechanics.spatial import Reals, dot, minus, norm, point_velocity, rotate, scaled


def friction_at_rest(
    friction1: Reals, acceleration1: Reals, friction2: Reals, acceleration2: Reals
) -> tuple[float, float, float]:
    """The friction that would hold two surfaces, N, from two instants while one force acts on them.

    What acts is mass times acceleration less friction. The two instants show the mass which that is, whatever
    joints, rotation and other contacts make of it: 0 N if they show none.

    >>> friction_at_rest((-2.0, 0.0, 0.0), (5.0, 0.0, 0.0), (2.0, 0.0, 0.0), (7.0, 0.0, 0.0))
    (-12.0, 0.0, 0.0)
    >>> friction_at_rest((2.0, 0.0, 0.0), (5.0, 0.0, 0.0), (2.0, 0.0, 0.0), (5.0, 0.0, 0.0))
    (0.0, 0.0, 0.0)
    """
    change = minus(acceleration2, acceleration1)
    work = dot(minus(friction2, friction1), change)
    if work <= 0.0:
        return (0.0, 0.0, 0.0)
    return minus(friction2, scaled(work / dot(change, change), acceleration2))


def slip_acceleration(s: Any) -> tuple[float, float, float]:
    """Acceleration of body 2 on body 1 at the contact, along the surfaces, m/s2, in Ground."""
    a = minus(point_velocity(s.A_GB2, s.X_GB2, s.point), point_velocity(s.A_GB1, s.X_GB1, s.point))
    return tangential_part(a, s.normal)


def slides_back(s: Any) -> bool:
    """Whether surfaces that stopped, and whose bristle pulls with all dynamic friction again, slide back.

    After ten time constants of the bristle they are at rest, and what acts has changed since the stop.
    """
    constant = math.sqrt(s.effective_mass / s.tangential_stiffness)
    constant += 2.0 * s.half_damping / s.tangential_stiffness
    if s.t - s.stop_time > 10.0 * constant:
        return False
    held = friction_at_rest(
        rotate(s.X_GB1, s.stop_friction),
        rotate(s.X_GB1, s.stop_acceleration),
        s.friction,
        slip_acceleration(s),
    )
    return norm(held) > s.static_friction * s.normal_force * (1.0 + MARGIN)
