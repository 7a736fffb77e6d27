"""What a motion keeps, over some seconds."""

from __future__ import annotations

import numpy as np
import pytest

import cosim
from cosim_dynamics import mass_matrix
from cosim_mechanics import Multibody


def kinetic_energy(state):
    u = state.u
    return 0.5 * u @ mass_matrix(state.system, state) @ u


def test_a_double_pendulum_keeps_its_energy(pin_chain):
    system = pin_chain(2)
    state = system.default_state()
    state.set_q([1.2, -0.7])

    def energy(s):
        s.realize(cosim.Stage.DYNAMICS)
        return kinetic_energy(s) + s["gravity.potential_energy"]

    before = energy(state)
    simulator = cosim.Simulator(system, state, accuracy=1e-9)
    simulator.initialize()
    simulator.advance_to(3.0)
    assert energy(simulator.state) == pytest.approx(before, abs=1e-6)
    assert kinetic_energy(simulator.state) > 0.1


def test_a_free_body_keeps_its_angular_momentum():
    inertia = np.diag([1.0, 2.0, 3.0])
    model = Multibody("asteroid", gravity=(0.0, 0.0, 0.0))
    model.body("rock", mass=2.0, inertia=inertia)
    model.joint("free", child="rock", u=(0.1, 2.0, 0.1, 1.0, 0.0, 0.0))
    simulator = cosim.Simulator(model.build(), accuracy=1e-9)
    simulator.initialize()

    def momentum(state):
        state.realize(cosim.Stage.VELOCITY)
        R = state["rock.X_GB"][:9].reshape(3, 3)
        return R @ inertia @ R.T @ state["rock.V_GB"][:3]

    before = momentum(simulator.state)
    simulator.advance_to(5.0)
    assert momentum(simulator.state) == pytest.approx(before, abs=1e-6)
    assert simulator.state["rock.x"] == pytest.approx(5.0)
