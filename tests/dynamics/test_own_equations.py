"""Joints with torque equations of their own: mass matrix and bias, both solvers, mistakes of authors."""

from __future__ import annotations

import math

import numpy as np
import pytest
from joints_with_equations import CoupledSlides, GearedPin

import cosim
import cosim_mechanics
from cosim_dynamics import (
    bias,
    inverse_dynamics,
    mass_matrix,
)
from cosim_mechanics import Multibody, Pin


class Unbalanced(Pin):
    """Its equation has another factor than its motion."""

    def create_equations(self, s):
        (equation,) = super().create_equations(s)
        return [2.0 * equation]


class Lopsided(CoupledSlides):
    """Its mass matrix is not symmetric."""

    def create_equations(self, s):
        first, second = cosim_mechanics.Joint.create_equations(self, s)
        return [first + self.coupling * s.acceleration(self, 1), second]


class Branching(Pin):
    """It branches on a value."""

    def create_equations(self, s):
        if self.q[0] > 0.0:
            return []
        return super().create_equations(s)


class Short(CoupledSlides):
    """It has one equation for two speeds."""

    def create_equations(self, s):
        return [s.acceleration(self, 0)]


class Quadratic(Pin):
    """It multiplies two accelerations."""

    def create_equations(self, s):
        return [s.acceleration(self, 0) * s.wrench(self)[2]]


class Misspelt(Pin):
    """It names a quantity that does not exist, as a text."""

    def create_equations(self, s):
        return [s.acceleration(self, 0) * s.value("dampin")]


class Unknown(Pin):
    """It names a quantity that does not exist, as an attribute."""

    def create_equations(self, s):
        return [s.acceleration(self, 0) * self.dampin]


class OutOfRange(Pin):
    """It asks for an acceleration that it does not have."""

    def create_equations(self, s):
        return [s.acceleration(self, 1)]


class Foreign(Pin):
    """It asks for the force of another joint."""

    def create_equations(self, s):
        return s.wrench("elbow")


def pendulum(joint=GearedPin, **values):
    """Return two links; `values` are parameters of the first joint."""
    model = Multibody("pendulum", gravity=(0.0, -9.81, 0.0))
    model.body("arm", mass=2.0, center_of_mass=(0.0, -0.5, 0.0), inertia=(0.1, 0.1, 0.1))
    model.add(joint, "hinge", parent="ground", child="arm", q=0.6, u=0.4, **values)
    model.body("tip", mass=1.0, center_of_mass=(0.0, -0.3, 0.0), inertia=(0.1, 0.1, 0.1))
    model.joint(
        "pin", name="elbow", child="tip", parent="arm", frame_on_parent=(0.0, -1.0, 0.0), q=-0.2, u=1.5
    )
    return model


def test_a_rotor_adds_its_reflected_inertia_and_nothing_else():
    plain = pendulum(rotor_inertia=0.0).build().default_state().realize(cosim.Stage.ACCELERATION)
    state = (
        pendulum(rotor_inertia=0.01, ratio=10.0, friction=0.7)
        .build()
        .default_state()
        .realize(cosim.Stage.ACCELERATION)
    )
    M, M0 = mass_matrix(state.system, state), mass_matrix(plain.system, plain)
    assert pytest.approx(M - M0, abs=1e-14) == np.diag([1.0, 0.0])
    V, V0 = bias(state.system, state), bias(plain.system, plain)
    loss = 0.7 * (1.0 + math.cos(0.6)) * 0.4
    assert pytest.approx([loss, 0.0], abs=1e-14) == V - V0
    # M u_dot + V = T with the same T as without the rotor
    T = M0 @ plain.y_dot[2:] + V0
    assert np.linalg.solve(M, T - V) == pytest.approx(state.y_dot[2:], rel=1e-12)
    assert inverse_dynamics(state.system, state, state.y_dot[2:]) == pytest.approx([0.0, 0.0], abs=1e-12)


def test_parameters_in_equations_belong_to_the_state():
    system = pendulum(rotor_inertia=0.01, ratio=10.0).build()
    state, changed_state = system.default_state(), system.default_state()
    changed_state["hinge.ratio"] = 20.0
    M = [mass_matrix(system, s.realize(cosim.Stage.ACCELERATION)) for s in (state, changed_state)]
    assert M[1][0, 0] - M[0][0, 0] == pytest.approx(3.0)
    assert state["hinge.u_dot"] != changed_state["hinge.u_dot"]


def test_a_rotor_of_an_element_is_added_to_that_of_the_joint():
    values = {"rotor_inertia": 0.01, "ratio": 10.0}
    model = pendulum(**values)
    model.add("mechanics.coordinate_inertia", "rotor", coordinate="hinge", reflected_inertia=0.5)
    state, plain = (
        m.build().default_state().realize(cosim.Stage.ACCELERATION) for m in (model, pendulum(**values))
    )
    M, M0 = mass_matrix(state.system, state), mass_matrix(plain.system, plain)
    assert pytest.approx(M - M0, abs=1e-14) == np.diag([0.5, 0.0])
    assert inverse_dynamics(state.system, state, state.y_dot[2:]) == pytest.approx([0.0, 0.0], abs=1e-12)


def test_two_coupled_speeds_of_one_joint():
    model = Multibody("table", gravity=(1.0, 2.0, 0.0))
    model.body("slide", mass=2.0, inertia=(1.0, 1.0, 1.0))
    model.add(CoupledSlides, "twin", parent="ground", child="slide", coupling=3.0)
    state = model.build().default_state().realize(cosim.Stage.ACCELERATION)
    M = np.array([[5.0, -3.0], [-3.0, 5.0]])
    assert mass_matrix(state.system, state) == pytest.approx(M)
    assert state["twin.u_dot"] == pytest.approx(np.linalg.solve(M, [2.0, 4.0]))


@pytest.mark.parametrize(
    ("joint", "text"),
    [
        (Unbalanced, "needs H_FM.*would not be symmetric"),
        (Lopsided, "equation 1 has 0.0 times acceleration 0, equation 0 has"),
        (Branching, "branching on a value"),
        (Short, "needs a list of 2 s-vals"),
    ],
)
def test_the_error_says_which_rule_an_equation_breaks(joint, text):
    with pytest.raises(cosim.ModelError, match=text) as caught:
        pendulum(joint).build()
    assert caught.value.problems[0].where == "hinge"


def test_building_finds_products_of_accelerations_and_unknown_names():
    with pytest.raises(cosim.ModelError, match="s-vals.*both carry accelerations"):
        pendulum(Quadratic).build()
    with pytest.raises(cosim.ModelError, match="no declared quantity 'dampin'"):
        pendulum(Misspelt).build()


@pytest.mark.parametrize(
    ("joint", "text"),
    [
        (Unknown, "test_own_equations.py:.*self.dampin.*\n.*no attribute 'dampin'"),
        (OutOfRange, "the joint has 1 speeds"),
        (Foreign, "takes the joint itself"),
    ],
)
def test_the_error_names_the_line_or_the_call_of_a_mistake(joint, text):
    with pytest.raises(cosim.ModelError, match=text):
        pendulum(joint).build()


@pytest.mark.parametrize("solver", ["dynamics.sval", "dynamics.articulated_body"])
def test_both_solvers_use_the_joints_equations(solver):
    model = Multibody("deep")
    model.settings["dynamics"] = solver
    for i in range(9):
        model.body(f"b{i}", mass=1.0, center_of_mass=(0.0, -0.5, 0.1), inertia=(0.1, 0.2, 0.3))
        values = {"rotor_inertia": 0.01, "ratio": 5.0, "friction": 0.3} if i % 2 else {"rotor_inertia": 0.0}
        parent = "ground" if i == 0 else f"b{i - 1}"
        model.add(
            GearedPin,
            f"j{i}",
            parent=parent,
            child=f"b{i}",
            frame_on_parent=(0, -1, 0),
            q=0.3 * i,
            u=1.0,
            **values,
        )
    state = model.build().default_state().realize(cosim.Stage.ACCELERATION)
    residual = inverse_dynamics(state.system, state, state.y_dot[9:])
    assert residual == pytest.approx(np.zeros(9), abs=1e-9)


def test_the_recursion_refuses_coupled_speeds_of_a_joint():
    model = Multibody("table")
    model.settings["dynamics"] = "dynamics.articulated_body"
    model.body("slide", mass=2.0, inertia=(1.0, 1.0, 1.0))
    model.add(CoupledSlides, "twin", parent="ground", child="slide", coupling=3.0)
    with pytest.raises(cosim.ModelError, match="choose dynamics='dynamics.sval'"):
        model.build()


def test_joints_of_one_class_share_a_block():
    model = pendulum(rotor_inertia=0.01)
    model.body("other", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add(GearedPin, "second", parent="ground", child="other", rotor_inertia=0.5)
    blocks = [b for b in model.build().blocks if "equations of GearedPin" in b.label]
    assert [b.rows.shape[0] for b in blocks] == [2]
