"""Rotors of elements: reflected inertia on the diagonal of the mass matrix."""

from __future__ import annotations

import numpy as np
import pytest

import cosim
from cosim_dynamics import kinetic_energy, mass_matrix, mass_solve, mass_times, torque_equations
from cosim_mechanics import Multibody

DEEP = 7
"""Bodies in a chain that is long enough for the solver to use the recursion."""


def chain(joint="pin", count=2, **rotors):
    """Return a chain of links; ``rotors`` are elements by name."""
    model = Multibody("chain", gravity=(0.0, -9.81, 0.0))
    parent = "ground"
    for i in range(count):
        values = {"mass": 1.0 + i, "center_of_mass": (0.1, -0.3, 0.2), "inertia": (0.1, 0.2, 0.15)}
        model.body(f"body{i}", **values)
        speeds = {"u": 0.4 - 0.1 * i} if joint == "pin" else {"u": (0.3, -0.2, 0.5)}
        model.joint(
            joint, name=f"j{i}", child=f"body{i}", parent=parent, frame_on_parent=(0, -0.6, 0), **speeds
        )
        parent = f"body{i}"
    for name, values in rotors.items():
        model.add(values.pop("id", "mechanics.coordinate_inertia"), name, **values)
    return model


@pytest.mark.parametrize(("joint", "count"), [("pin", 2), ("pin", DEEP), ("ball", 2)])
def test_rotors_of_elements_are_added_to_the_diagonal(joint, count):
    """With the mass matrix, with the recursion, and for a joint with several speeds.

    Operators, s-vals and energies count rotors too; a rotor that is off or has no inertia adds nothing.
    """
    motor = {"id": "mechanics.joint_motor", "coordinate": "j0", "reflected_inertia": 0.5}
    rotors = {
        "rotor": {"coordinate": "j0[0]", "reflected_inertia": 0.25},
        "rotor_of_j1": {"coordinate": "j1", "reflected_inertia": 2.0},
    }
    if joint == "pin":
        rotors["motor"] = motor
    models = chain(joint, count), chain(joint, count, **{n: {**v} for n, v in rotors.items()})
    plain, state = (m.build().default_state().realize(cosim.Stage.REPORT) for m in models)
    expected = np.zeros(len(state.u))
    expected[[0, len(expected) // count]] = 0.75 if joint == "pin" else 0.25, 2.0
    M, M0 = mass_matrix(state.system, state), mass_matrix(plain.system, plain)
    assert pytest.approx(M - M0, abs=1e-13) == np.diag(expected)
    T = M0 @ plain.y_dot[plain.system.nq : plain.system.nq + len(expected)]
    u_dot = state.y_dot[state.system.nq : state.system.nq + len(expected)]
    assert M @ u_dot == pytest.approx(T, rel=1e-11, abs=1e-11)
    assert mass_solve(state.system, state, M @ u_dot) == pytest.approx(u_dot, rel=1e-11, abs=1e-12)
    assert mass_times(state.system, state, u_dot) == pytest.approx(M @ u_dot, rel=1e-11, abs=1e-12)
    equations = torque_equations(state.system, state)
    assert [equations[i].coefficient(i) for i in equations] == pytest.approx(M.diagonal())
    kinetic = 0.5 * state.u @ M @ state.u
    assert [float(state["energy.kinetic"]), kinetic_energy(state.system, state)] == pytest.approx(
        [kinetic] * 2
    )
    state["rotor.reflected_inertia"] = 0.0
    without_rotor = mass_matrix(state.system, state.realize(cosim.Stage.VELOCITY))
    assert M[0, 0] - without_rotor[0, 0] == pytest.approx(0.25, abs=1e-13)
    state["rotor.enabled"], state["rotor.reflected_inertia"] = 0, 0.25
    assert mass_matrix(state.system, state.realize(cosim.Stage.VELOCITY))[0, 0] == without_rotor[0, 0]


def test_a_rotor_resists_where_a_body_has_no_inertia():
    """A wheel without mass moments about its axis: u_dot is effort / J."""
    model = Multibody("wheel", gravity=(0, 0, 0))
    model.body("wheel", mass=1.0, inertia=(0, 0, 0))
    model.joint("pin", name="axle", child="wheel")
    with pytest.raises(cosim.ModelError, match="singular"):
        model.build()
    model.add("mechanics.joint_motor", "motor", coordinate="axle", effort=3.0, reflected_inertia=0.5)
    assert model.build().default_state().realize(cosim.Stage.ACCELERATION)["axle.u_dot"] == [6.0]


def test_a_weight_on_the_rope_of_a_drum_falls_with_its_closed_form():
    """A weight on a rope round a drum: a = m g / (m + J / r^2), here with the drum as reflected inertia."""
    model = Multibody("well")
    model.body("bucket", mass=2.0, inertia=(0, 0, 0))
    model.joint("slider", name="rope", child="bucket", frame_on_parent=((0, 0, 0), (0, "90 deg", 0)))
    model.add("mechanics.coordinate_inertia", "drum", coordinate="rope", reflected_inertia="3 kg")
    result = model.simulate(until=1.0, signals=["rope.q", "energy.residual"])
    assert result["rope.q"][-1] == pytest.approx(0.5 * 9.81 * 2.0 / 5.0, rel=1e-9)
    assert abs(result["energy.residual"]).max() < 1e-9
