"""Starts are assembled, steps are corrected, and constraints that cannot be met are reported."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim
from cosim_integrators.kit import CompiledIntegrator
from cosim_mechanics import Multibody

HORIZONTAL_HINGE = [1, 0, 0, 0, 0, -1, 0, 1, 0, 0, 0, 0]
"""A frame whose z axis is horizontal."""


def four_bar(**start):
    """Return a four-bar linkage that is open at its default start; `start` has angles by link."""
    model = Multibody("four_bar", gravity=(0, -9.81, 0))
    links = {"crank": 0.4, "coupler": 1.0, "rocker": 0.8}
    for name, length in links.items():
        model.body(
            name,
            mass=length,
            center_of_mass=(length / 2, 0, 0),
            inertia=(0.001, length**3 / 12, length**3 / 12),
        )
    model.joint("pin", child="crank", q=start.get("crank", 1.0))
    model.joint(
        "pin", child="coupler", parent="crank", frame_on_parent=(0.4, 0, 0), q=start.get("coupler", -0.5)
    )
    model.joint("pin", child="rocker", frame_on_parent=(1.0, 0, 0), q=start.get("rocker", 1.5))
    model.add(
        "mechanics.ball_constraint",
        "closure",
        body1="coupler",
        body2="rocker",
        point1=(1, 0, 0),
        point2=(0.8, 0, 0),
    )
    return model


def test_an_open_loop_is_assembled_and_its_redundant_equation_is_reported():
    system = four_bar().build()
    simulator = cosim.Simulator(system)
    simulator.initialize()
    state = simulator.state
    assert abs(state["closure.position_error"]).max() < 1e-10
    witnesses = [f.witness for f in simulator.findings if f.kind != "moved start"]
    assert witnesses == ["closure.redundant"]
    moved_starts = [f.witness for f in simulator.findings if f.kind == "moved start"]
    assert "crank_joint.q" in moved_starts


def test_a_resumed_run_of_a_loop_has_the_same_bytes_and_stays_closed():
    system = four_bar().build()
    simulator = cosim.Simulator(system)
    simulator.initialize()
    start = simulator.state.to_bytes()
    simulator.advance_to(0.3)
    middle = simulator.state.to_bytes()
    simulator.advance_to(1.0)
    end = simulator.state.to_bytes()
    resumed = cosim.Simulator(system, system.state_from_bytes(middle))
    resumed.advance_to(1.0)
    assert resumed.state.to_bytes() == end
    assert start != end
    resumed.state.realize(cosim.Stage.ACCELERATION)
    assert abs(resumed.state["closure.position_error"]).max() < 1e-9
    assert abs(resumed.state["closure.velocity_error"]).max() < 1e-9


def test_a_loop_that_cannot_close_is_named():
    model = four_bar()
    model.parts["closure"].values.numbers["point2"][:] = (9.0, 0, 0)
    with pytest.raises(cosim.SimulationError, match=r"closure \(position_error"):
        model.simulate(until=0.1)


def test_quaternions_keep_their_length():
    model = Multibody("top", gravity=(0, 0, 0))
    model.body("top", mass=1.0, inertia=(1.0, 2.0, 2.5))
    model.joint("free", child="top", q=(2.0, 0, 0, 0, 0, 0, 0), u=(0.1, 3.0, 0.1, 0, 0, 0))
    simulator = cosim.Simulator(model.build(), accuracy=1e-3)
    simulator.advance_to(5.0)
    assert abs(np.linalg.norm(simulator.state.q[:4]) - 1.0) < 1e-15


def test_a_locked_joint_moves_after_its_lock_is_disabled():
    model = Multibody("door")
    model.body("door", mass=2.0, center_of_mass=(0.4, 0, 0), inertia=(0.01, 0.2, 0.2))
    model.joint("pin", child="door", frame_on_parent=HORIZONTAL_HINGE, q=0.3)
    model.add("mechanics.lock", "latch", coordinate="door_joint", value=0.3)
    system = model.build()
    simulator = cosim.Simulator(system)
    simulator.advance_to(0.5)
    assert simulator.state["door_joint.angle"] == pytest.approx(0.3, abs=1e-12)
    simulator.state.realize(cosim.Stage.ACCELERATION)
    assert simulator.state["latch.multipliers"] == pytest.approx(-2.0 * 9.81 * 0.4 * math.cos(0.3), rel=1e-12)
    simulator.state["latch.enabled"] = False
    simulator.advance_to(1.0)
    assert abs(simulator.state["door_joint.angle"] - 0.3) > 0.1


def test_gimbal_lock_is_reported_with_the_joint():
    model = Multibody("gyro", gravity=(0, 0, 0))
    model.body("rotor", mass=1.0, inertia=(1.0, 1.0, 1.0))
    model.joint("gimbal", child="rotor", q=(0.0, 1.5, 0.0), u=(0.0, 1.0, 0.0))
    simulator = cosim.Simulator(model.build(), integrator="integrators.runge_kutta_4", fixed_step=1e-3)
    simulator.advance_to(0.1)
    assert [f.witness for f in simulator.findings] == ["rotor_joint.locked"]
    model.parts["rotor_joint"].values.numbers["q"][1] = math.pi / 2
    with pytest.raises(cosim.ModelError, match="rotor_joint.*singular"):
        model.build()


def test_integrators_declare_whether_they_support_constraints():
    entries = cosim.registry().entries("integrator")
    compiled = [e for e in entries if issubclass(e.cls, CompiledIntegrator)]
    assert all(e.cls.capabilities.supports_constraints for e in compiled)
    assert len(compiled) > 10
    with pytest.raises(cosim.ModelError, match="supports_constraints"):
        cosim.Simulator(four_bar().build(), integrator="integrators.scipy_dop853")
