"""Compiled solvers and s-vals with numbers give the same equations of motion."""

from __future__ import annotations

import functools

import numpy as np
import pytest
from how_many import many
from hypothesis import given, settings
from hypothesis import strategies as st

import cosim
from cosim_dynamics import SVal, bias, inverse_dynamics, mass_matrix, torque_equations
from cosim_mechanics import Multibody

TOLERANCE = 1e-12  # relative

number = st.floats(-2.0, 2.0, allow_nan=False)


@functools.cache
def chain() -> cosim.System:
    """Return a chain of four links on pins and a slider."""
    model = Multibody("chain")
    for i, kind in enumerate(["pin", "slider", "pin", "pin"]):
        model.body(
            f"b{i}",
            mass=1.0 + i,
            center_of_mass=(0.1, -0.5, 0.2),
            inertia=(0.2, 0.3, 0.4, 0.01, -0.02, 0.03),
        )
        parent = "ground" if i == 0 else f"b{i - 1}"
        model.joint(kind, name=f"j{i}", child=f"b{i}", parent=parent, frame_on_parent=(0.3, -1.0, 0.1 * i))
    return model.build()


def robot_accelerations(place):
    """Return the accelerations of a free robot whose joint is at this place."""
    model = Multibody("robot")
    model.body("base", mass=50.0, inertia=(2.0, 3.0, 4.0))
    model.joint("free", child="base", frame_on_parent=place, u=(0.3, -0.2, 0.5, 1.0, 2.0, 3.0))
    model.body("arm", mass=5.0, center_of_mass=(0.0, 0.0, 0.5), inertia=(0.4, 0.4, 0.1))
    model.joint("pin", child="arm", parent="base", frame_on_parent=(0.2, 0.1, 0.4), u=1.7)
    state = model.build().default_state().realize(cosim.Stage.ACCELERATION)
    return state.y_dot[8:].tolist()


@pytest.mark.few(4)
@pytest.mark.parametrize(
    "name", ["mixed_chain_0", "mixed_chain_1", "tree_9", "pair_of_bushing", "pin_chain_random3d_10"]
)
def test_compiled_accelerations_satisfy_the_authored_equations(name, build_reference, put_case):
    reference, system = build_reference(name)
    for case in reference["states"]:
        state = system.default_state()
        put_case(reference, case, state)
        state.realize(cosim.Stage.ACCELERATION)
        udot = state.y_dot[system.nq : system.nq + system.nu]
        left = inverse_dynamics(system, state, udot)
        scale = abs(mass_matrix(system, state)) @ abs(udot) + abs(bias(system, state))
        assert (abs(left) <= TOLERANCE * scale.max()).all()


def test_the_mass_matrix_is_symmetric_and_positive(build_reference, put_case):
    reference, system = build_reference("tree_9")
    state = system.default_state()
    put_case(reference, reference["states"][0], state)
    state.realize(cosim.Stage.ACCELERATION)
    M = mass_matrix(system, state)
    assert pytest.approx(M.T, rel=TOLERANCE, abs=TOLERANCE * abs(M).max()) == M
    assert np.linalg.eigvalsh(M).min() > 0.0


def test_an_equation_has_a_row_of_the_mass_matrix(pin_chain):
    system = pin_chain(2)
    state = system.default_state()
    state.set_q([0.4, -0.9])
    state.realize(cosim.Stage.VELOCITY)
    first = torque_equations(system, state)[0]
    assert isinstance(first, SVal)
    assert first.dofs == {0, 1}
    assert first.row(2) == pytest.approx(mass_matrix(system, state)[0])


def test_an_equation_only_has_accelerations_of_its_own_branch():
    model = Multibody("star")
    parents = {"trunk": "ground", "left": "trunk", "right": "trunk", "hand": "left"}
    for name, parent in parents.items():
        model.body(name, mass=1.0, center_of_mass=(0.1, 0.5, 0.0), inertia=(0.1, 0.1, 0.1))
        model.joint("pin", name=f"{name}_pin", child=name, parent=parent, frame_on_parent=(0.0, 1.0, 0.0))
    system = model.build()
    state = system.default_state().realize(cosim.Stage.VELOCITY)
    index = {name: system.variables[f"{name}_pin.u"].slot.offset - system.nq for name in parents}
    equations = torque_equations(system, state)
    assert equations[index["hand"]].dofs == {index[n] for n in ("trunk", "left", "hand")}
    assert equations[index["right"]].dofs == {index[n] for n in ("trunk", "right")}
    assert equations[index["trunk"]].dofs == set(index.values())


def test_equations_need_the_velocity_stage(pin_chain):
    system = pin_chain(1)
    with pytest.raises(cosim.StageError):
        mass_matrix(system, system.default_state())


def test_inverse_dynamics_needs_one_acceleration_for_each_speed(pin_chain):
    system = pin_chain(2)
    with pytest.raises(ValueError, match=r"udot has shape \(3,\).*\(2,\)"):
        inverse_dynamics(system, system.default_state(), [0.0] * 3)


@settings(max_examples=many(20), deadline=None)
@given(st.lists(number, min_size=4, max_size=4), st.lists(number, min_size=4, max_size=4))
def test_random_states_of_a_chain(q, u):
    system = chain()
    state = system.default_state()
    state.set_q(q)
    state.set_u(u)
    state.realize(cosim.Stage.ACCELERATION)
    M = mass_matrix(system, state)
    missing = inverse_dynamics(system, state, state.y_dot[4:])
    assert abs(missing).max() <= 1e-11 * (abs(M).max() * abs(state.y_dot[4:]).max() + 100.0)


def test_a_mechanism_far_from_the_origin_loses_no_digits():
    near, far = robot_accelerations((0.0, 0.0, 0.0)), robot_accelerations((1e4, -2e4, 5e3))
    assert far == pytest.approx(near, rel=1e-10)
