"""Every kind of constraint keeps the contract."""

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
        """The second derivative of the length."""
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
    """The middle one of three coordinates. Law: q1 + q2 = 2 q3."""

    coordinate1 = coordinate()
    coordinate2 = coordinate()
    coordinate3 = coordinate()

    def create_constraint_equations(self, s):
        """The same for accelerations."""
        a1, a2, a3 = (s.acceleration(q) for q in (self.coordinate1, self.coordinate2, self.coordinate3))
        return [a1 + a2 - 2.0 * a3]

    @cosim.kernel
    def position_error(q1, q2, q3, position_error):
        position_error[0] = q1 + q2 - 2.0 * q3


SAMPLE = (RollingDisc,)


def case(make, **values):
    """The contract of a constraint; what takes a process or an FMU of its own is for a sample only."""
    kind = type(make())
    space = {"make": staticmethod(make), "__module__": __name__, **values}
    for check in ("test_compiled_is_plain_python", "test_runs_in_an_fmu"):
        if kind not in SAMPLE:
            space[check] = later(check)
    return type(f"Test{kind.__name__}", (ConstraintContract,), space)


def later(check):
    """The check, for the long tests."""
    method = getattr(ConstraintContract, check)

    @functools.wraps(method)
    def run(self, *args, **options):
        method(self, *args, **options)

    return pytest.mark.thorough(run)


TestRod = case(lambda: Rod(**POINTS, length=1.3))
TestBallConstraint = case(lambda: BallConstraint(**POINTS))
TestWeldConstraint = case(lambda: WeldConstraint(frame1=TILTED, frame2=TILTED))
TestPointInPlane = case(lambda: PointInPlane(**POINTS, normal=(1, 2, -1)))
TestPointOnLine = case(lambda: PointOnLine(**POINTS, axis=(0.3, -1, 2)))
TestConstantAngle = case(lambda: ConstantAngle(axis1=(1, 2, 3), axis2=(0, 1, -1), angle=1.1))
TestRollingBall = case(lambda: RollingBall(**POINTS, normal=(0.2, 0.1, 1), radius=0.4))
TestRollingDisc = case(lambda: RollingDisc(**POINTS, normal=(0.2, 0.1, 1), axis=(1, 0.3, 0), radius=0.4))
TestCoordinateCoupler = case(lambda: CoordinateCoupler(ratio=-0.7, offset=0.2))
TestSpeedCoupler = case(lambda: SpeedCoupler(ratio=-0.7, offset=0.2))
TestGear = case(lambda: Gear(ratio=2.5))
TestConstantSpeed = case(lambda: ConstantSpeed(speed=0.4))
TestConstantAcceleration = case(lambda: ConstantAcceleration(acceleration=0.4))
TestLock = case(lambda: Lock(value=0.4))
TestPrescribedAcceleration = case(lambda: PrescribedAcceleration())
TestPrescribedSpeed = case(lambda: PrescribedSpeed())
TestPrescribedMotion = case(lambda: PrescribedMotion())
TestRope = case(lambda: Rope(length=2.5))
TestDifferential = case(lambda: Differential())
