"""Motions with constraints keep energy and momentum; their errors decay with the rate of stabilization."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim
from cosim_dynamics import kinetic_energy, momentum, potential_energy
from cosim_mechanics import Multibody


def ring(gravity: tuple[float, float, float], base: str) -> cosim.System:
    """Return a ring of four links on different joints, closed by a ball constraint."""
    model = Multibody("ring", gravity=gravity)
    corners = {"a": "free" if base == "free" else "pin", "b": "ball", "c": "universal", "d": "gimbal"}
    parent = "ground"
    for i, (name, joint) in enumerate(corners.items()):
        model.body(name, mass=1.0 + 0.3 * i, center_of_mass=(0.5, 0.05, 0), inertia=(0.05, 0.1, 0.12))
        quarter = [0, -1, 0, 1, 0, 0, 0, 0, 1, 1.0, 0, 0]
        model.joint(joint, child=name, parent=parent, frame_on_parent=(0, 0, 0) if i == 0 else quarter)
        parent = name
    model.constraint("ball_constraint", "closure", body1="d", body2="a", point1=(1, 0, 0), point2=(0, 0, 0))
    return model.build()


def start_motion(system: cosim.System) -> cosim.Simulator:
    """Return a simulator that starts with random speeds."""
    state = system.default_state()
    state.set_u(np.random.default_rng(3).normal(size=system.nu))
    simulator = cosim.Simulator(system, state, "integrators.dormand_prince_853", accuracy=1e-9)
    simulator.initialize()
    return simulator


def test_energy_is_kept_for_ten_seconds() -> None:
    simulator = start_motion(ring((0.0, -9.81, 0.0), "pin"))
    system, energies = simulator.system, []
    for t in range(11):
        simulator.advance_to(float(t))
        state = simulator.state
        energies.append(kinetic_energy(system, state) + potential_energy(system, state))
        assert np.abs(state["closure.position_error"]).max() < 1e-9
    assert np.ptp(energies) < 1e-6 * max(abs(x) for x in energies)


def test_momentum_of_a_free_loop_is_kept() -> None:
    simulator = start_motion(ring((0.0, 0.0, 0.0), "free"))
    system, momenta = simulator.system, []
    for t in (0.0, 1.0, 2.5, 4.0):
        simulator.advance_to(t)
        momenta.append(momentum(system, simulator.state, (0.0, 0.0, 0.0)))
    assert np.abs(momenta[0]).max() > 0.5
    assert np.abs(np.array(momenta) - momenta[0]).max() < 1e-7


@pytest.mark.parametrize("rate", [3.0, 20.0])
def test_stabilization_reduces_errors_with_its_rate(rate: float) -> None:
    """The error obeys e'' + 2 rate e' + rate^2 e = 0, so it is (e0 + (e0' + rate e0) t) exp(-rate t)."""
    model = Multibody("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.joint("translation", child=bob, q=[0.8, 0, -0.7], u=(0.3, 1.0, -0.2))
    rod = {"body1": "ground", "body2": bob, "length": 1.0}
    model.add("mechanics.rod", "rod", projected=False, stabilization=rate, **rod)
    simulator = cosim.Simulator(model.build(), integrator="integrators.dormand_prince_853", accuracy=1e-11)
    simulator.initialize()
    e0, v0 = (
        float(np.atleast_1d(simulator.state[f"rod.{level}_error"])[0]) for level in ("position", "velocity")
    )
    assert abs(e0) > 0.05 and abs(v0) > 0.05
    for t in (0.1, 0.4, 1.0):
        simulator.advance_to(t)
        error = float(np.atleast_1d(simulator.state["rod.position_error"])[0])
        assert error == pytest.approx((e0 + (v0 + rate * e0) * t) * math.exp(-rate * t), abs=1e-9)


def test_without_projection_and_stabilization_errors_grow_linearly() -> None:
    """Then e'' = 0, so the error is e0 + e0' t."""
    model = Multibody("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.joint("translation", child=bob, q=[0.8, 0, -0.7], u=(0.3, 1.0, -0.2))
    model.add("mechanics.rod", "rod", body1="ground", body2=bob, length=1.0, projected=False)
    simulator = cosim.Simulator(model.build(), integrator="integrators.dormand_prince_853", accuracy=1e-11)
    simulator.initialize()
    e0, v0 = (
        float(np.atleast_1d(simulator.state[f"rod.{level}_error"])[0]) for level in ("position", "velocity")
    )
    simulator.advance_to(0.5)
    error = float(np.atleast_1d(simulator.state["rod.position_error"])[0])
    assert error == pytest.approx(e0 + 0.5 * v0, abs=1e-8)
