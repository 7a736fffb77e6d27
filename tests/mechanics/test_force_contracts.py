"""Every force element keeps the contract, which checks the laws that it declares."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim
import cosim_mechanics
from cosim_mechanics import (
    Actuator,
    AppliedForce,
    AppliedWrench,
    BoxContact,
    CapsuleContact,
    Collisions,
    ConstantForce,
    ConstantTorque,
    CoordinateDamper,
    CoordinateFriction,
    CoordinateInertia,
    CoordinateSpring,
    CoordinateStop,
    CoupledBushing,
    CylinderContact,
    GlobalDamper,
    Gravity,
    JointMotor,
    LinearBushing,
    MeshContact,
    RimContact,
    SmoothSphereContact,
    SphereContact,
    TabularSpring,
    TwoPointActuator,
    TwoPointDamper,
    TwoPointForce,
    TwoPointSpring,
    hull_triangles,
)
from cosim_mechanics.spatial import pose
from cosim_mechanics.testing import ContactContract, ForceElementContract

STATIONS = {"station_on_body1": (0.1, 0.0, 1.3), "station_on_body2": (0.0, -0.2, 0.1)}
CONTACT_LAW = {
    "stiffness": 1e5,
    "restitution": 0.6,
    "dissipation": 0.4,
    "static_friction": 0.8,
    "dynamic_friction": 0.5,
}
CAPSULE = {"center_on_body2": (0.0, 0.02, 0.0), "half_axis_on_body2": (0.02, 0.1, 0.05), "radius2": 0.1}


def positive(seed: int) -> np.ndarray:
    """Return a random positive definite matrix with elements of the sizes of a bushing."""
    half = np.random.default_rng(seed).normal(size=(6, 6))
    scale = np.diag([3.0] * 3 + [30.0] * 3)
    return scale @ (half @ half.T + 3.0 * np.eye(6)) @ scale


class PlainSpring(cosim_mechanics.ForceElement):
    """A spring between two origins, in plain Python.

    Law: f = -k (p2 - p1) on body 2.

    Frames and signs
    ----------------
    Everything is in Ground.

    Limits
    ------
    None.

    Parameters
    ----------
    stiffness : float, N/m, >= 0

    Energy
    ------
    Stored: k |p2 - p1|^2 / 2.

    Examples
    --------
    >>> PlainSpring(stiffness=2.0).stiffness
    2.0
    """

    laws = cosim_mechanics.Law.PASSIVE | cosim_mechanics.Law.ZERO_AT_REST_POSE | cosim_mechanics.Law.SYMMETRIC

    stiffness = cosim.parameter(unit="N/m", minimum=0.0)
    potential_energy = cosim.cache_slot(unit="J")

    def energy(self, X_GB1, X_GB2, stiffness, potential_energy):
        potential_energy[0] = 0.5 * stiffness * np.sum((X_GB2[9:] - X_GB1[9:]) ** 2)

    def force(self, X_GB1, X_GB2, stiffness, F_GB1, F_GB2):
        f = stiffness * (X_GB2[9:] - X_GB1[9:])
        F_GB1[3:] += f
        F_GB2[3:] -= f


class TestLinearBushing(ForceElementContract):
    angle = 0.6
    make = staticmethod(
        lambda: LinearBushing(
            frame_on_body1={"position": (0.1, 0, 0), "angles": (0.3, 0, 0)},
            frame_on_body2={"position": (0, 0.2, 0), "angles": (0, 0.2, 0.1)},
            stiffness=[3, 5, 7, 110, 130, 170],
            damping=[0.2, 0.3, 0.5, 1.1, 1.3, 1.7],
        )
    )


class TestCoupledBushing(ForceElementContract):
    angle = 0.6
    make = staticmethod(
        lambda: CoupledBushing(
            frame_on_body1=(0.1, 0, 0),
            frame_on_body2=(0, 0.2, 0),
            stiffness=positive(1),
            damping=0.1 * positive(2) + 0.5 * (positive(3) - np.triu(positive(3)) * 2.0) * (1 - np.eye(6)),
            preload=(0.3, -0.2, 0.5, 10, -20, 5),
            neutral=(0.1, 0, -0.1, 0.02, 0.01, 0),
        )
    )


class TestTwoPointSpring(ForceElementContract):
    make = staticmethod(lambda: TwoPointSpring(stiffness=100.0, damping=3.0, free_length=0.4, **STATIONS))


class TestTwoPointDamper(ForceElementContract):
    make = staticmethod(lambda: TwoPointDamper(damping=3.0, **STATIONS))


class TestTwoPointForce(ForceElementContract):
    make = staticmethod(lambda: TwoPointForce(pull=-7.0, **STATIONS))


class TestTabularSpring(ForceElementContract):
    make = staticmethod(
        lambda: TabularSpring(lengths=[0.4, 0.9, 1.2, 1.5], tensions=[-20, 0, 5, 60], damping=2.0, **STATIONS)
    )


class TestLinearTabularSpring(ForceElementContract):
    make = staticmethod(
        lambda: TabularSpring(
            lengths=[0.4, 0.9, 1.2], tensions=[-20, 0, 5], interpolation="linear", **STATIONS
        )
    )


class TestSphereContact(ContactContract):
    distance, speed, step, tolerance = 0.12, 0.5, 1e-4, 1e-6
    make = staticmethod(
        lambda: SphereContact(
            frame_on_body1=(0, 0, -0.1),
            center_on_body2=(0.02, 0, 0),
            radius=0.1,
            stiffness=1e5,
            restitution=0.6,
            dissipation=0.4,
            static_friction=0.8,
            dynamic_friction=0.5,
            viscous_friction=0.2,
        )
    )


class TestCapsuleContact(ContactContract):
    distance, speed, step, tolerance = 0.15, 0.5, 1e-4, 1e-6
    make = staticmethod(
        lambda: CapsuleContact(
            center_on_body1=(0.3, 0, 0),
            half_axis_on_body2=(0.02, 0.1, 0.05),
            radius1=0.1,
            radius2=0.3,
            stiffness=1e5,
            restitution=0.6,
            dissipation=0.4,
            static_friction=0.8,
            dynamic_friction=0.5,
        )
    )


@pytest.mark.thorough
class TestRimContact(ContactContract):
    distance, speed, step, tolerance = 0.12, 0.5, 1e-4, 1e-6
    make = staticmethod(
        lambda: RimContact(
            frame_on_body1=(0, 0, -0.1), axis_on_body2=(0, 1, 3), rim_radius=0.1, radius=0.03, **CONTACT_LAW
        )
    )


@pytest.mark.thorough
class TestHighestOfARim(ContactContract):
    distance, speed, step, tolerance = 0.12, 0.5, 1e-4, 1e-6
    make = staticmethod(lambda: RimContact(rim_radius=0.1, radius=0.03, end="highest", **CONTACT_LAW))


class TestBoxContact(ContactContract):
    distance, speed, step, tolerance = 0.15, 0.5, 1e-4, 1e-6
    make = staticmethod(
        lambda: BoxContact(
            frame_on_body1=(0, 0, -0.25), size=(0.3, 0.2, 0.1), radius1=0.02, **CAPSULE, **CONTACT_LAW
        )
    )


@pytest.mark.thorough
class TestCylinderContact(ContactContract):
    distance, speed, step, tolerance = 0.15, 0.5, 1e-4, 1e-6
    make = staticmethod(
        lambda: CylinderContact(
            frame_on_body1=(0, 0, -0.25), cylinder_radius=0.1, length=0.3, **CAPSULE, **CONTACT_LAW
        )
    )


@pytest.mark.thorough
class TestMeshContact(ContactContract):
    distance, speed, step, tolerance = 0.2, 0.5, 1e-4, 1e-6
    make = staticmethod(
        lambda: MeshContact(
            triangles=hull_triangles([(-0.1, -0.1, -0.1), (0.2, 0, 0), (0, 0.15, 0), (0, 0, 0.2)]),
            radius1=0.02,
            center_on_body2=(0.02, 0, 0),
            radius2=0.1,
            **CONTACT_LAW,
        )
    )


class TestCollisions(ForceElementContract):
    distance, speed, step, tolerance = 0.12, 0.5, 1e-4, 1e-6
    make = staticmethod(
        lambda: Collisions(
            shape_counts=[2],
            kinds=[0, 2, 1, 1],
            frames=[pose((0, 0, -0.1)), pose((-0.2, 0, 0)), pose((0, 0, 0)), pose((0.02, 0, 0.1))],
            sizes=[(0, 0, 0, 0), (0.2, 0.2, 0.2, 0), (0, 0, 0, 0), (0, 0, 0, 0)],
            roundings=[0.0, 0.02, 0.1, 0.06],
            reaches=[0.0, 0.2, 0.1, 0.06],
            triangles=[(0,) * 9],
            vertices=[(0,) * 3],
            material_numbers=[0, 1, 0, 2],
            materials=[(0,) * 5, (3e5, 0.5, 0.5, 0.1, 0.8), (5e5, 0.2, 0.9, 0.0, 0.2)],
            ignored=[(0, 0)],
            bristles=[2, 2, 3, 3],
            stiffness=1e5,
            restitution=0.6,
            dissipation=0.4,
            friction=0.5,
        )
    )


class TestSmoothSphereContact(ForceElementContract):
    distance, speed, step, tolerance = 0.12, 0.5, 1e-4, 1e-6
    make = staticmethod(
        lambda: SmoothSphereContact(
            frame_on_body1=(0, 0, -0.1),
            center_on_body2=(0.02, 0, 0),
            radius=0.1,
            stiffness=1e5,
            dissipation=0.8,
            static_friction=0.9,
            dynamic_friction=0.6,
            viscous_friction=0.1,
        )
    )


class TestCoordinateSpring(ForceElementContract):
    make = staticmethod(lambda: CoordinateSpring(stiffness=3.0, damping=0.2, neutral=0.1))


class TestCoordinateFriction(ForceElementContract):
    make = staticmethod(lambda: CoordinateFriction(friction=2.0))

    @pytest.mark.parametrize(
        ("speed", "share"), [(0.0, 0.0), (0.01, math.tanh(1.0)), (5.0, 1.0), (-5.0, -1.0)]
    )
    def test_friction_is_constant_above_the_transition_speed(self, speed: float, share: float) -> None:
        tau, dissipated = np.zeros(1), np.zeros(1)
        CoordinateFriction.kernels["force"].call_by_name(
            u=speed, friction=2.0, transition_speed=0.01, tau=tau, dissipated_energy_dot=dissipated
        )
        assert tau[0] == pytest.approx(-2.0 * share, rel=1e-15, abs=0.0)
        assert dissipated[0] == -tau[0] * speed


class TestCoordinateInertia(ForceElementContract):
    make = staticmethod(lambda: CoordinateInertia(reflected_inertia=0.3))

    def test_units_follow_the_coordinate(self) -> None:
        assert CoordinateInertia(reflected_inertia="2 kg").reflected_inertia == 2.0
        assert CoordinateInertia(reflected_inertia="2000 g.cm2").reflected_inertia == pytest.approx(2e-4)


class TestCoordinateDamper(ForceElementContract):
    make = staticmethod(lambda: CoordinateDamper(damping=0.2))


class TestCoordinateStop(ForceElementContract):
    make = staticmethod(lambda: CoordinateStop(lower=-0.3, upper=0.2, stiffness=200.0, dissipation=0.8))


class TestConstantForce(ForceElementContract):
    make = staticmethod(lambda: ConstantForce(station=(0.1, 0, 0.2), f=(1, -2, 3)))


class TestConstantTorque(ForceElementContract):
    make = staticmethod(lambda: ConstantTorque(torque=(1, -2, 3)))


class TestGlobalDamper(ForceElementContract):
    make = staticmethod(lambda: GlobalDamper(damping=0.3))


class TestGravity(ForceElementContract):
    make = staticmethod(lambda: Gravity(gravity=(1, 0, -9)))


class TestAppliedForce(ForceElementContract):
    make = staticmethod(lambda: AppliedForce(axis=(1, 2, 2), station=(0.1, 0, 0), force=4.0))


class TestAppliedWrench(ForceElementContract):
    make = staticmethod(lambda: AppliedWrench(station=(0.1, 0, 0), f=(1, 2, 3), torque=(0.3, 0, -0.2)))


class TestTwoPointActuator(ForceElementContract):
    make = staticmethod(lambda: TwoPointActuator(pull=-7.0, **STATIONS))


class TestJointMotor(ForceElementContract):
    make = staticmethod(lambda: JointMotor(effort=2.0, stiffness=3.0, damping=0.2, greatest_effort=50.0))

    @pytest.mark.parametrize(
        ("u", "effort", "expected"),
        [
            (0.0, 2.0, 2.0),
            (0.0, 5.0, 5.0),  # exactly the greatest effort
            (0.0, 7.0, 5.0),
            (0.0, -7.0, -5.0),
            (1.8, 7.0, 5.0),  # at the knee the limit begins to fall
            (1.9, 7.0, 2.5),
            (2.0, 7.0, 0.0),
            (3.0, 7.0, 0.0),
            (3.0, -7.0, -5.0),  # braking is not limited by the speed
            (-3.0, -7.0, 0.0),
        ],
    )
    def test_its_effort_is_limited_by_its_greatest_effort_and_speed(
        self, u: float, effort: float, expected: float
    ) -> None:
        values = {
            "stiffness": 0.0,
            "damping": 0.0,
            "greatest_effort": 5.0,
            "greatest_speed": 2.0,
            "knee": 0.9,
        }
        applied, tau, supplied = np.zeros(1), np.zeros(1), np.zeros(1)
        JointMotor.kernels["act"].call_by_name(
            q=0.3, u=u, effort=effort, target=0.0, target_rate=0.0, **values,
            applied=applied, tau=tau, supplied_energy_dot=supplied,
        )  # fmt: skip
        assert tau[0] == applied[0] == pytest.approx(expected, abs=1e-14)
        assert supplied[0] == tau[0] * u

    def test_a_target_acts_like_a_spring_and_a_damper(self) -> None:
        """A wheel under PD control: the closed form of a damped oscillation about the target."""
        model = cosim_mechanics.Multibody("wheel", gravity=(0, 0, 0))
        model.body("wheel", mass=1.0, inertia=(1, 1, 2))
        model.joint("pin", "wheel", name="axle")
        model.add(
            "mechanics.joint_motor", "motor", coordinate="axle", target=1.0, stiffness=32.0, damping=8.0
        )
        result = model.simulate(until=1.0, signals=["axle.q"], accuracy=1e-10, output_interval=0.1)
        t = result.time
        decay, rate = 2.0, np.sqrt(12.0)
        expected = 1 - np.exp(-decay * t) * (np.cos(rate * t) + decay / rate * np.sin(rate * t))
        np.testing.assert_allclose(result["axle.q"], expected, atol=1e-8)


class TestActuator(ForceElementContract):
    make = staticmethod(lambda: Actuator(effort=2.0))


class TestPlainSpring(ForceElementContract):
    make = staticmethod(lambda: PlainSpring(stiffness=50.0))
