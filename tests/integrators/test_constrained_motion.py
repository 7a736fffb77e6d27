"""Methods that correct their steps keep constraints; other methods are refused in models with constraints."""

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody


@pytest.fixture(scope="module")
def pendulum():
    """A point on a rod, carried by three coordinates."""
    model = Multibody("pendulum", gravity=(0, 0, -9.81))
    bob = model.body("bob", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.joint("translation", child=bob, q=[1.0, 0, 0])
    model.add("mechanics.rod", "rod", body1="ground", body2=bob, length=1.0)
    return model.build()


@pytest.mark.parametrize(
    ("name", "options", "energy_error"),  # relative to the potential energy of 1 m
    [
        ("runge_kutta_merson", {"accuracy": 1e-7}, 1e-5),
        ("dormand_prince_853", {"accuracy": 1e-8}, 1e-6),
        ("radau5", {"accuracy": 1e-7}, 1e-4),
        ("bdf", {"accuracy": 1e-7}, 1e-4),
        ("velocity_verlet", {"fixed_step": 0.002}, 1e-3),
        ("yoshida_4", {"fixed_step": 0.01}, 1e-3),
    ],
)
def test_the_rod_keeps_its_length_and_the_energy_holds(pendulum, name, options, energy_error) -> None:
    simulator = cosim.Simulator(pendulum, integrator=f"integrators.{name}", **options)
    simulator.advance_to(3.0)
    q, u = simulator.state.q, simulator.state.u
    assert abs(np.linalg.norm(q) - 1.0) < 1e-9
    assert abs(q @ u) < 1e-8
    assert abs(0.5 * u @ u + 9.81 * q[2]) < energy_error * 9.81


def test_a_method_without_corrections_is_refused(pendulum) -> None:
    with pytest.raises(cosim.ModelError, match="ScipyDop853 cannot keep constraints"):
        cosim.Simulator(pendulum, integrator="integrators.scipy_dop853", accuracy=1e-6)
