"""The smooth contact of a sphere: the forces that Simbody's documentation publishes, and a ball at rest."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.integrate import quad

import cosim
from cosim_mechanics import Multibody, SmoothSphereContact

CONTACT = {
    "radius": 0.12, "stiffness": 2e5, "dissipation": 0.7, "static_friction": 0.9, "dynamic_friction": 0.5,
    "viscous_friction": 0.2, "transition_velocity": 0.05,
}  # fmt: skip


def published_forces(x: float, x_dot: float, slip: np.ndarray) -> tuple[float, float]:
    """Return normal and friction force as in the documentation of Simbody's SmoothSphereHalfSpaceForce."""
    p, cf, bd, bv = CONTACT, 1e-5, 300.0, 50.0
    k = 0.5 * p["stiffness"] ** (2 / 3)
    hertz = 4 / 3 * k * (p["radius"] * k) ** 0.5 * ((x**2 + cf) ** 0.5) ** 1.5
    hertz *= 0.5 + 0.5 * np.tanh(bd * x)
    c = p["dissipation"]
    normal = hertz * (1 + 1.5 * c * x_dot) * (0.5 + 0.5 * np.tanh(bv * (x_dot + 2 / (3 * c))))
    vs = float(np.sqrt(slip @ slip + cf))
    ratio = vs / p["transition_velocity"]
    us, ud = p["static_friction"], p["dynamic_friction"]
    friction = normal * (min(ratio, 1) * (ud + 2 * (us - ud) / (1 + ratio**2)) + p["viscous_friction"] * vs)
    return normal, friction


@pytest.mark.parametrize(
    ("depth", "velocity"), [(0.01, (0.3, 0.1, -0.2)), (-0.002, (0.01, 0, 0.3)), (0.03, (0, 0, 0))]
)
def test_the_contact_has_the_published_forces(depth: float, velocity: tuple[float, float, float]) -> None:
    model = Multibody("ball", gravity=(0, 0, 0))
    ball = model.body("ball", mass=1.0, inertia=(0.01, 0.01, 0.01))
    model.joint(
        "free", child=ball, q=[1, 0, 0, 0, 0.3, 0.1, CONTACT["radius"] - depth], u=[0, 0, 0, *velocity]
    )
    model.add("mechanics.smooth_sphere_contact", "floor", body1="ground", body2=ball, **CONTACT)
    state = model.build().default_state().realize(cosim.Stage.REPORT)
    normal, friction = published_forces(depth, -velocity[2], np.array([*velocity[:2], 0.0]))
    assert state["floor.normal_force"] == pytest.approx(normal, rel=1e-12)
    assert state["floor.friction_force"] == pytest.approx(friction, rel=1e-12)
    assert state["ball.F_GB"][5] == pytest.approx(normal, rel=1e-12)
    slip = np.array(velocity[:2])
    np.testing.assert_allclose(
        state["ball.F_GB"][3:5], -friction * slip / np.sqrt(slip @ slip + 1e-5), rtol=1e-12
    )

    def static_force(x: float) -> float:
        return published_forces(x, 0.0, np.zeros(3))[0]

    # at -0.08 m the force has vanished
    energy = quad(static_force, -0.08, min(0.0, depth), limit=200)[0]
    energy += quad(static_force, 0.0, depth)[0] if depth > 0 else 0.0
    assert state["floor.potential_energy"] == pytest.approx(energy, rel=1e-7)


def test_a_ball_comes_to_rest_on_the_smooth_floor() -> None:
    model = Multibody("drop")
    ball = model.body("ball", mass=1.0, inertia=(0.004, 0.004, 0.004))
    model.joint("free", child=ball, q=[1, 0, 0, 0, 0, 0, 0.3], u=[0, 0, 0, 1.0, 0, 0])
    model.add(
        "mechanics.smooth_sphere_contact",
        "floor",
        body1="ground",
        body2=ball,
        **{**CONTACT, "dissipation": 1.5},
    )
    result = model.simulate(until=2.0, accuracy=1e-8)
    assert abs(result["ball.vz"][-1]) < 0.02
    assert result["ball.z"][-1] == pytest.approx(CONTACT["radius"], abs=0.01)
    assert result["ball.wy"][-1] * CONTACT["radius"] == pytest.approx(result["ball.vx"][-1], rel=0.05), (
        "it rolls"
    )
    assert result["floor.dissipated_energy"][-1] > 1.5
    assert abs(result["energy.residual"]).max() < 1e-6
    assert [f.kind for f in result.findings if "smoothing" in f.message], (
        "the floor says that the ball floats"
    )


def test_a_contact_needs_a_radius() -> None:
    with pytest.raises(cosim.ModelError, match="radius"):
        SmoothSphereContact(stiffness=1e5)
