"""Every kind of constraint keeps the contract, those of the package and two that a user could write."""

from __future__ import annotations

import functools

import pytest

import cosim
from cosim_mechanics import (
    BallConstraint,
    ConstantAcceleration,
    ConstantAngle,
    ConstantSpeed,
    Constraint,
    CoordinateCoupler,
    Gear,
    Lock,
    PointInPlane,
    PointOnLine,
    PrescribedAcceleration,
    PrescribedMotion,
    PrescribedSpeed,
    Rod,
    RollingBall,
    RollingDisc,
    SpeedCoupler,
    WeldConstraint,
    body,
    coordinate,
)
from cosim_mechanics.spatial import minus, norm, station
from cosim_mechanics.testing import ConstraintContract

TILTED = [0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6, 0.1, -0.2, 0.3]
POINTS = {"point1": (0.2, -0.1, 0.3), "point2": (-0.3, 0.4, 0.1)}
ORIGIN = (0.0, 0.0, 0.0)


class Rope(Constraint):
    """A rope from body 1 over a point of a third body to body 2. Law: |p1 - c| + |p2 - c| = length."""

    body1 = body()
    body2 = body()
    pulley = body()
    length = cosim.parameter(unit="m", above=0.0, description="of the rope")

    def create_constraint_equations(self, s):
        """Return the second derivative of the length."""
        total, c = 0.0, self.pulley
        for end in (self.body1, self.body2):
            r = s.position(end, ORIGIN) - s.position(c, ORIGIN)
            v = s.velocity(end, ORIGIN) - s.velocity(c, ORIGIN)
            a = s.point_acceleration(end, ORIGIN) - s.point_acceleration(c, ORIGIN)
            distance = s.sqrt(r @ r)
            rate = (r @ v) / distance
            total = total + (a.dot(r) + v @ v - rate * rate) / distance
        return [total]

    @cosim.kernel
    def position_error(X_GB1, X_GB2, X_GB_pulley, length, position_error):
        c, p1, p2 = station(X_GB_pulley, ORIGIN), station(X_GB1, ORIGIN), station(X_GB2, ORIGIN)
        position_error[0] = norm(minus(p1, c)) + norm(minus(p2, c)) - length


class Differential(Constraint):
    """A differential gear: the third coordinate is the mean of two others. Law: q1 + q2 = 2 q3."""

    coordinate1 = coordinate()
    coordinate2 = coordinate()
    coordinate3 = coordinate()

    def create_constraint_equations(self, s):
        """Return the second derivative of the law."""
        a1, a2, a3 = (s.acceleration(q) for q in (self.coordinate1, self.coordinate2, self.coordinate3))
        return [a1 + a2 - 2.0 * a3]

    @cosim.kernel
    def position_error(q1, q2, q3, position_error):
        position_error[0] = q1 + q2 - 2.0 * q3


SAMPLE = (RollingDisc,)
"""Constraints whose expensive checks are part of the short run, too."""


def thorough(check):
    """Return a check of the contract as a thorough test."""
    method = getattr(ConstraintContract, check)

    @functools.wraps(method)
    def run(self, *args, **options):
        method(self, *args, **options)

    return pytest.mark.thorough(run)


def contract_of(make, **values):
    """Return the contract tests of a constraint.

    Checks that start a process or export an FMU are thorough, except for those of `SAMPLE`.
    """
    kind = type(make())
    namespace = {"make": staticmethod(make), "__module__": __name__, **values}
    for check in ("test_compiled_is_plain_python", "test_runs_in_an_fmu"):
        if kind not in SAMPLE:
            namespace[check] = thorough(check)
    return type(f"Test{kind.__name__}", (ConstraintContract,), namespace)


TestRod = contract_of(lambda: Rod(**POINTS, length=1.3))
TestBallConstraint = contract_of(lambda: BallConstraint(**POINTS))
TestWeldConstraint = contract_of(lambda: WeldConstraint(frame1=TILTED, frame2=TILTED))
TestPointInPlane = contract_of(lambda: PointInPlane(**POINTS, normal=(1, 2, -1)))
TestPointOnLine = contract_of(lambda: PointOnLine(**POINTS, axis=(0.3, -1, 2)))
TestConstantAngle = contract_of(lambda: ConstantAngle(axis1=(1, 2, 3), axis2=(0, 1, -1), angle=1.1))
TestRollingBall = contract_of(lambda: RollingBall(**POINTS, normal=(0.2, 0.1, 1), radius=0.4))
TestRollingDisc = contract_of(
    lambda: RollingDisc(**POINTS, normal=(0.2, 0.1, 1), axis=(1, 0.3, 0), radius=0.4)
)
TestCoordinateCoupler = contract_of(lambda: CoordinateCoupler(ratio=-0.7, offset=0.2))
TestSpeedCoupler = contract_of(lambda: SpeedCoupler(ratio=-0.7, offset=0.2))
TestGear = contract_of(lambda: Gear(ratio=2.5))
TestConstantSpeed = contract_of(lambda: ConstantSpeed(speed=0.4))
TestConstantAcceleration = contract_of(lambda: ConstantAcceleration(acceleration=0.4))
TestLock = contract_of(lambda: Lock(value=0.4))
TestPrescribedAcceleration = contract_of(lambda: PrescribedAcceleration())
TestPrescribedSpeed = contract_of(lambda: PrescribedSpeed())
TestPrescribedMotion = contract_of(lambda: PrescribedMotion())
TestRope = contract_of(lambda: Rope(length=2.5))
TestDifferential = contract_of(lambda: Differential())
