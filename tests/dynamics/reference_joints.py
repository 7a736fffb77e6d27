"""Second versions of the framework's joints, as an author outside would write them.

They compute all that they show, and declare no axes; the reference files test both versions.
"""

from __future__ import annotations

import math

import cosim
import cosim_mechanics
from cosim_mechanics.spatial import (
    angular_velocity_123,
    pose_from_angles,
    pose_from_quaternion,
    put6,
    put12,
    quaternion_rates,
)


class Ball(cosim_mechanics.Joint):
    """A rotation by a quaternion; u = w_FM in F."""

    q = cosim.position(shape=4, start=(1.0, 0.0, 0.0, 0.0))
    u = cosim.speed(unit="rad/s", shape=3)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, pose_from_quaternion(q, (0.0, 0.0, 0.0)))
        for i in range(18):
            H_FM[i] = 0.0
        for i in range(3):
            H_FM[7 * i] = 1.0

    @cosim.kernel
    def rates(q, u, q_dot, HDotU_FM):
        r = quaternion_rates(q, u)
        for i in range(4):
            q_dot[i] = r[i]
        put6(HDotU_FM, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class Universal(cosim_mechanics.Joint):
    """Rotation about x, then about the new y."""

    q = cosim.position(unit="rad", shape=2)
    u = cosim.speed(unit="rad/s", shape=2)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, pose_from_angles((q[0], q[1], 0.0), (0.0, 0.0, 0.0)))
        put6(H_FM, (1.0, 0.0, 0.0), (0.0, 0.0, 0.0))
        H_FM[6] = 0.0
        H_FM[7] = math.cos(q[0])
        H_FM[8] = math.sin(q[0])
        for i in range(9, 12):
            H_FM[i] = 0.0

    @cosim.kernel
    def rates(q, u, q_dot, HDotU_FM):
        q_dot[0] = u[0]
        q_dot[1] = u[1]
        put6(HDotU_FM, (0.0, -math.sin(q[0]) * u[0] * u[1], math.cos(q[0]) * u[0] * u[1]), (0.0, 0.0, 0.0))


class Cylinder(cosim_mechanics.Joint):
    """Rotation about z and translation along it."""

    q = cosim.position(shape=2)
    u = cosim.speed(shape=2)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, pose_from_angles((0.0, 0.0, q[0]), (0.0, 0.0, q[1])))
        for i in range(12):
            H_FM[i] = 0.0
        H_FM[2] = 1.0
        H_FM[11] = 1.0

    @cosim.kernel
    def rates(u, q_dot, HDotU_FM):
        q_dot[0] = u[0]
        q_dot[1] = u[1]
        put6(HDotU_FM, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class Planar(cosim_mechanics.Joint):
    """Rotation about z, translation along x and y of F."""

    q = cosim.position(shape=3)
    u = cosim.speed(shape=3)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, pose_from_angles((0.0, 0.0, q[0]), (q[1], q[2], 0.0)))
        for i in range(18):
            H_FM[i] = 0.0
        H_FM[2] = 1.0
        H_FM[9] = 1.0
        H_FM[16] = 1.0

    @cosim.kernel
    def rates(u, q_dot, HDotU_FM):
        for i in range(3):
            q_dot[i] = u[i]
        put6(HDotU_FM, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class Bushing(cosim_mechanics.Joint):
    """Body-fixed x-y-z angles, then p_FM; u = q_dot."""

    q = cosim.position(shape=6)
    u = cosim.speed(shape=6)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, pose_from_angles(q, (q[3], q[4], q[5])))
        for i in range(36):
            H_FM[i] = 0.0
        for i in range(3):
            w = angular_velocity_123(
                q, (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
            )
            for j in range(3):
                H_FM[6 * i + j] = w[j]
            H_FM[21 + 7 * i] = 1.0

    @cosim.kernel
    def rates(q, u, q_dot, HDotU_FM):
        for i in range(6):
            q_dot[i] = u[i]
        s0 = math.sin(q[0])
        c0 = math.cos(q[0])
        s1 = math.sin(q[1])
        c1 = math.cos(q[1])
        # derivative of the second axis (0, c0, s0) and of the third (s1, -s0 c1, c0 c1)
        x = c1 * u[1] * u[2]
        y = -s0 * u[0] * u[1] + (-c0 * c1 * u[0] + s0 * s1 * u[1]) * u[2]
        z = c0 * u[0] * u[1] + (-s0 * c1 * u[0] - c0 * s1 * u[1]) * u[2]
        put6(HDotU_FM, (x, y, z), (0.0, 0.0, 0.0))


class Gimbal(cosim_mechanics.Joint):
    """Body-fixed x-y-z angles; u = q_dot."""

    q = cosim.position(shape=3)
    u = cosim.speed(shape=3)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, pose_from_angles(q, (0.0, 0.0, 0.0)))
        for i in range(18):
            H_FM[i] = 0.0
        for i in range(3):
            w = angular_velocity_123(
                q, (1.0 if i == 0 else 0.0, 1.0 if i == 1 else 0.0, 1.0 if i == 2 else 0.0)
            )
            for j in range(3):
                H_FM[6 * i + j] = w[j]

    @cosim.kernel
    def rates(q, u, q_dot, HDotU_FM):
        for i in range(3):
            q_dot[i] = u[i]
        s0 = math.sin(q[0])
        c0 = math.cos(q[0])
        s1 = math.sin(q[1])
        c1 = math.cos(q[1])
        x = c1 * u[1] * u[2]
        y = -s0 * u[0] * u[1] + (-c0 * c1 * u[0] + s0 * s1 * u[1]) * u[2]
        z = c0 * u[0] * u[1] + (-s0 * c1 * u[0] - c0 * s1 * u[1]) * u[2]
        put6(HDotU_FM, (x, y, z), (0.0, 0.0, 0.0))


class Translation(cosim_mechanics.Joint):
    """Translation along x, y and z of F; q = p_FM."""

    q = cosim.position(unit="m", shape=3)
    u = cosim.speed(unit="m/s", shape=3)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        put12(X_FM, (1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, q[0], q[1], q[2]))
        for i in range(18):
            H_FM[i] = 0.0
        for i in range(3):
            H_FM[7 * i + 3] = 1.0

    @cosim.kernel
    def rates(u, q_dot, HDotU_FM):
        for i in range(3):
            q_dot[i] = u[i]
        put6(HDotU_FM, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


class Screw(cosim_mechanics.Joint):
    """Rotation about z with translation pitch * q along it."""

    pitch = cosim.parameter(unit="m/rad")
    q = cosim.position(unit="rad", shape=1)
    u = cosim.speed(unit="rad/s", shape=1)

    @cosim.kernel
    def across(q, pitch, X_FM, H_FM):
        put12(X_FM, pose_from_angles((0.0, 0.0, q[0]), (0.0, 0.0, pitch * q[0])))
        put6(H_FM, (0.0, 0.0, 1.0), (0.0, 0.0, pitch))

    @cosim.kernel
    def rates(u, q_dot, HDotU_FM):
        q_dot[0] = u[0]
        put6(HDotU_FM, (0.0, 0.0, 0.0), (0.0, 0.0, 0.0))


AUTHOR_JOINTS = {
    c.__name__.lower(): c for c in (Ball, Universal, Cylinder, Planar, Bushing, Gimbal, Translation, Screw)
}
