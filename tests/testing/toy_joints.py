"""Joints, each wrong in one way, and their contracts."""

import math

from wrapped_integers import wrapped_integer

import cosim
import cosim_mechanics
from cosim_mechanics.testing import JointContract


def turned(q, radius, X_FM, H_FM):
    """The pose of an `Arm`, and its map."""
    c, s = math.cos(q[0]), math.sin(q[0])
    for i in range(12):
        X_FM[i] = 0.0
    X_FM[0] = X_FM[4] = c
    X_FM[1] = -s
    X_FM[3] = s
    X_FM[8] = 1.0
    X_FM[9] = radius * c
    X_FM[10] = radius * s
    for i in range(6):
        H_FM[i] = 0.0
    H_FM[2] = 1.0
    H_FM[3] = -radius * s
    H_FM[4] = radius * c


def swung(q, u, radius, q_dot, HDotU_FM):
    """The rates of an `Arm`, and its velocity terms."""
    q_dot[0] = u[0]
    for i in range(6):
        HDotU_FM[i] = 0.0
    HDotU_FM[3] = -radius * math.cos(q[0]) * u[0] * u[0]
    HDotU_FM[4] = -radius * math.sin(q[0]) * u[0] * u[0]


class Arm(cosim_mechanics.Joint):
    """Rotation about z of F, with M at the end of an arm. Law: p_FM = r (cos q, sin q, 0)."""

    q = cosim.position(unit="rad", shape=1)
    u = cosim.speed(unit="rad/s", shape=1)
    radius = cosim.parameter(unit="m", default=0.7, minimum=0.0)

    @cosim.kernel
    def across(q, radius, X_FM, H_FM):
        turned(q, radius, X_FM, H_FM)

    @cosim.kernel
    def rates(q, u, radius, q_dot, HDotU_FM):
        swung(q, u, radius, q_dot, HDotU_FM)


class Silent(Arm):
    """Has a docstring that leaves out its motion."""


class Clamping(Arm):
    """Accepts negative radii. Law: as `Arm`."""

    def __init__(self, **values):
        super().__init__(**{**values, "radius": abs(values.get("radius", 0.7))})


class Mirrored(Arm):
    """Has a left-handed pose. Law: as `Arm`."""

    @cosim.kernel
    def across(q, radius, X_FM, H_FM):
        turned(q, radius, X_FM, H_FM)
        X_FM[8] = -1.0


class Promising(Arm):
    """Names an axis along which alone it does not move. Law: as `Arm`."""

    axes = (2,)


class Slipping(Arm):
    """Has a velocity that is not the rate of its pose. Law: as `Arm`."""

    @cosim.kernel
    def across(q, radius, X_FM, H_FM):
        turned(q, radius, X_FM, H_FM)
        H_FM[5] = 0.1


class Lagging(Arm):
    """Has half the velocity terms. Law: as `Arm`."""

    @cosim.kernel
    def rates(q, u, radius, q_dot, HDotU_FM):
        swung(q, u, 0.5 * radius, q_dot, HDotU_FM)


class Wearing(Arm):
    """Changes the State while it computes. Law: as `Arm`."""

    plain_methods = ("observe",)
    wear = cosim.discrete(shape=1)

    def observe(self, q, wear):
        wear.fill(wear[0] + 1.0)


class Overflowing(Arm):
    """Integers that leave 64 bits. Law: as `Arm`, M displaced by a number that should always be the same."""

    @cosim.kernel
    def across(q, radius, X_FM, H_FM):
        number = wrapped_integer()
        turned(q, radius, X_FM, H_FM)
        X_FM[11] = 1e-3 * number


class RightCase(JointContract):
    make = staticmethod(lambda: Arm())


class SilentCase(JointContract):
    make = staticmethod(lambda: Silent())


class ClampingCase(JointContract):
    make = staticmethod(lambda: Clamping())


class MirroredCase(JointContract):
    make = staticmethod(lambda: Mirrored())


class PromisingCase(JointContract):
    make = staticmethod(lambda: Promising())


class SlippingCase(JointContract):
    make = staticmethod(lambda: Slipping())


class LaggingCase(JointContract):
    make = staticmethod(lambda: Lagging())


class WearingCase(JointContract):
    make = staticmethod(lambda: Wearing())


class OverflowingCase(JointContract):
    make = staticmethod(lambda: Overflowing())
