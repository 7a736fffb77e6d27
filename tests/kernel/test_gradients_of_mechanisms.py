"""Gradients of mechanisms: joints, freely turning bodies, constraints."""

from __future__ import annotations

import pytest
from gradient_checks import check_against_tangents

from cosim_mechanics import Multibody

# a gradient of a mechanism takes long to compile
pytestmark = pytest.mark.thorough


def double_pendulum() -> Multibody:
    model = Multibody("pendulum", gravity=(0, -9.81, 0))
    for link, joint, parent in (("arm", "shoulder", "ground"), ("tip", "elbow", "arm")):
        model.body(link, mass=1.0, inertia=(1.0, 1.0, 1.0), center_of_mass=(0.0, 0.5, 0.0))
        model.joint("pin", link, parent, joint, frame_on_parent=(0.0, 1.0, 0.0), q=0.4)
    return model


def test_a_mechanism_and_its_energy() -> None:
    by = ["arm.mass", "tip.mass", "shoulder.q", "elbow.u", "gravity.gravity[1]"]
    options = {"until": 0.3, "output_interval": 0.05, "signals": ["shoulder.q", "elbow.u", "energy.*"]}
    check_against_tangents(double_pendulum(), by, close=1e-10, **options)


def test_a_body_that_turns_freely() -> None:
    """Quaternions are normalized in each step; the length of one means nothing."""
    model = Multibody("free", gravity=(0, 0, 0))
    body = model.body("body", mass=1.0, inertia=(1.0, 2.0, 3.0))
    model.joint("free", name="joint", child=body, u=[0.5, 0.1, 0, 0, 0, 0])
    by = [f"joint.{name}" for name in ("u[0]", "u[1]", "q[0]", "q[2]")]
    check_against_tangents(model, by, until=1.0, output_interval=0.2, signals=["joint.q", "joint.u"])
    whole = model.gradient("joint.q[1]", ["joint.u"], until=1.0, signals=["joint.q[1]"])
    assert whole["joint.u"].shape == (6,)


def closed_chain() -> Multibody:
    """A bar on two rods."""
    model = Multibody("chain", gravity=(0, -9.81, 0))
    for i in range(2):
        model.body(f"rod{i}", mass=1.0, center_of_mass=(0.5, 0, 0), inertia=(1e-3, 1 / 12, 1 / 12))
        model.joint("pin", name=f"pin{i}", child=f"rod{i}", frame_on_parent=(2.0 * i, 0, 0), q=1.2, u=-1.0)
    model.body("bar", mass=1.0, center_of_mass=(1.0, 0, 0), inertia=(1e-3, 1 / 3, 1 / 3))
    model.joint("pin", name="tip", child="bar", parent="rod0", frame_on_parent=(1, 0, 0), q=-1.2, u=1.0)
    ends = {"point1": (2, 0, 0), "point2": (1, 0, 0)}
    model.constraint("ball_constraint", "closure", body1="bar", body2="rod1", **ends)
    return model


def test_constraints() -> None:
    options = {"until": 0.2, "output_interval": 0.1, "signals": ["pin0.q", "pin0.u", "pin1.q"]}
    check_against_tangents(closed_chain(), ["rod0.mass", "bar.mass", "pin0.u"], close=1e-9, **options)
