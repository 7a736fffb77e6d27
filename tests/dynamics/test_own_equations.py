"""Joints that bring torque equations of their own."""

from __future__ import annotations

import math

import numpy as np
import pytest

import cosim
import cosim_mechanics
from cosim_dynamics import (
    bias,
    cos,
    inverse_dynamics,
    kinetic_energy,
    mass_matrix,
    mass_solve,
    mass_times,
    torque_equations,
)
from cosim_mechanics import Multibody, Pin


class GearedPin(Pin):
    """A pin with a fast rotor behind a gear, and friction that depends on the angle."""

    rotor_inertia = cosim.parameter(unit="kg.m2", minimum=0.0)
    ratio = cosim.parameter(unit="1", default=1.0)
    friction = cosim.parameter(unit="N.m.s/rad", default=0.0)

    def create_equations(self, s):
        equations = super().create_equations(s)
        reflected = self.rotor_inertia * self.ratio * self.ratio
        loss = self.friction * (1.0 + cos(self.q[0])) * s.value("u", 0)
        return [equations[0] + reflected * s.acceleration(self, 0) + loss]


class Twin(cosim_mechanics.Joint):
    """Two translations whose motor couples them by an inertia."""

    coupling = cosim.parameter(unit="kg", default=0.0)
    q = cosim.position(unit="m", shape=2)
    u = cosim.speed(unit="m/s", shape=2)

    @cosim.kernel
    def across(q, X_FM, H_FM):
        for i in range(12):
            X_FM[i] = 0.0
            H_FM[i] = 0.0
        for i in range(3):
            X_FM[4 * i] = 1.0
        X_FM[9] = q[0]
        X_FM[10] = q[1]
        H_FM[3] = 1.0
        H_FM[10] = 1.0

    @cosim.kernel
    def rates(u, q_dot, HDotU_FM):
        for i in range(2):
            q_dot[i] = u[i]
        for i in range(6):
            HDotU_FM[i] = 0.0

    def create_equations(self, s):
        first, second = super().create_equations(s)
        a0, a1 = s.acceleration(self, 0), s.acceleration(self, 1)
        return [first + self.coupling * (a0 - a1), second + self.coupling * (a1 - a0)]


def pendulum(joint=GearedPin, **values):
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
    first, second = system.default_state(), system.default_state()
    second["hinge.ratio"] = 20.0
    M = [mass_matrix(system, s.realize(cosim.Stage.ACCELERATION)) for s in (first, second)]
    assert M[1][0, 0] - M[0][0, 0] == pytest.approx(3.0)
    assert first["hinge.u_dot"] != second["hinge.u_dot"]


DEEP = 7
"""Bodies in a chain that is long enough for the solver to use the recursion."""


def chain(joint="pin", count=2, **rotors):
    """Links one behind the other; ``rotors`` are elements by name."""
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
    """By the mass matrix, by the recursion, and for a joint with several speeds."""
    motor = {"id": "mechanics.joint_motor", "coordinate": "j0", "reflected_inertia": 0.5}
    rotors = {
        "rotor": {"coordinate": "j0[0]", "reflected_inertia": 0.25},
        "second": {"coordinate": "j1", "reflected_inertia": 2.0},
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


def test_a_rotor_beside_equations_of_a_joints_own():
    values = {"rotor_inertia": 0.01, "ratio": 10.0}
    model = pendulum(**values)
    model.add("mechanics.coordinate_inertia", "rotor", coordinate="hinge", reflected_inertia=0.5)
    state, plain = (
        m.build().default_state().realize(cosim.Stage.ACCELERATION) for m in (model, pendulum(**values))
    )
    M, M0 = mass_matrix(state.system, state), mass_matrix(plain.system, plain)
    assert pytest.approx(M - M0, abs=1e-14) == np.diag([0.5, 0.0])
    assert inverse_dynamics(state.system, state, state.y_dot[2:]) == pytest.approx([0.0, 0.0], abs=1e-12)


def test_a_rotor_resists_where_a_body_has_no_inertia():
    """A wheel without mass moments about its axis: u_dot is effort / J."""
    model = Multibody("wheel", gravity=(0, 0, 0))
    model.body("wheel", mass=1.0, inertia=(0, 0, 0))
    model.joint("pin", name="axle", child="wheel")
    with pytest.raises(cosim.ModelError, match="singular"):
        model.build()
    model.add("mechanics.joint_motor", "motor", coordinate="axle", effort=3.0, reflected_inertia=0.5)
    assert model.build().default_state().realize(cosim.Stage.ACCELERATION)["axle.u_dot"] == [6.0]


def test_a_rotor_falls_as_its_closed_form_says():
    """A weight on a rope round a drum: a = m g / (m + J / r^2), here with the drum as reflected inertia."""
    model = Multibody("well")
    model.body("bucket", mass=2.0, inertia=(0, 0, 0))
    model.joint("slider", name="rope", child="bucket", frame_on_parent=((0, 0, 0), (0, "90 deg", 0)))
    model.add("mechanics.coordinate_inertia", "drum", coordinate="rope", reflected_inertia="3 kg")
    result = model.simulate(until=1.0, signals=["rope.q", "energy.residual"])
    assert result["rope.q"][-1] == pytest.approx(0.5 * 9.81 * 2.0 / 5.0, rel=1e-9)
    assert abs(result["energy.residual"]).max() < 1e-9


def test_two_speeds_of_one_joint_may_be_coupled():
    model = Multibody("table", gravity=(1.0, 2.0, 0.0))
    model.body("slide", mass=2.0, inertia=(1.0, 1.0, 1.0))
    model.add(Twin, "twin", parent="ground", child="slide", coupling=3.0)
    state = model.build().default_state().realize(cosim.Stage.ACCELERATION)
    M = np.array([[5.0, -3.0], [-3.0, 5.0]])
    assert mass_matrix(state.system, state) == pytest.approx(M)
    assert state["twin.u_dot"] == pytest.approx(np.linalg.solve(M, [2.0, 4.0]))


class Unbalanced(Pin):
    def create_equations(self, s):
        (equation,) = super().create_equations(s)
        return [2.0 * equation]


class Lopsided(Twin):
    def create_equations(self, s):
        first, second = cosim_mechanics.Joint.create_equations(self, s)
        return [first + self.coupling * s.acceleration(self, 1), second]


class Branching(Pin):
    def create_equations(self, s):
        if self.q[0] > 0.0:
            return []
        return super().create_equations(s)


class Short(Twin):
    def create_equations(self, s):
        return [s.acceleration(self, 0)]


class Quadratic(Pin):
    def create_equations(self, s):
        return [s.acceleration(self, 0) * s.wrench(self)[2]]


class Misspelt(Pin):
    def create_equations(self, s):
        return [s.acceleration(self, 0) * s.value("dampin")]


@pytest.mark.parametrize(
    ("joint", "text"),
    [
        (Unbalanced, "needs H_FM.*would not be symmetric"),
        (Lopsided, "equation 1 has 0.0 times acceleration 0, equation 0 has"),
        (Branching, "branching on a value"),
        (Short, "needs a list of 2 s-vals"),
    ],
)
def test_equations_that_break_the_rules_are_refused_with_the_reason(joint, text):
    with pytest.raises(cosim.ModelError, match=text) as caught:
        pendulum(joint).build()
    assert caught.value.problems[0].where == "hinge"


def test_a_product_of_accelerations_and_a_misspelt_name_are_found_when_the_system_is_built():
    with pytest.raises(cosim.ModelError, match="s-vals.*both carry accelerations"):
        pendulum(Quadratic).build()
    with pytest.raises(cosim.ModelError, match="no declared quantity 'dampin'"):
        pendulum(Misspelt).build()


class Unknown(Pin):
    def create_equations(self, s):
        return [s.acceleration(self, 0) * self.dampin]


class OutOfRange(Pin):
    def create_equations(self, s):
        return [s.acceleration(self, 1)]


class Foreign(Pin):
    def create_equations(self, s):
        return s.wrench("elbow")


@pytest.mark.parametrize(
    ("joint", "text"),
    [
        (Unknown, "test_own_equations.py:.*self.dampin.*\n.*no attribute 'dampin'"),
        (OutOfRange, "the joint has 1 speeds"),
        (Foreign, "takes the joint itself"),
    ],
)
def test_other_mistakes_of_an_author_name_the_line_or_the_call(joint, text):
    with pytest.raises(cosim.ModelError, match=text):
        pendulum(joint).build()


@pytest.mark.parametrize("solver", ["dynamics.sval", "dynamics.articulated_body"])
def test_own_terms_enter_the_recursion_too(solver):
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


def test_the_recursion_refuses_what_couples_two_speeds_of_a_joint():
    model = Multibody("table")
    model.settings["dynamics"] = "dynamics.articulated_body"
    model.body("slide", mass=2.0, inertia=(1.0, 1.0, 1.0))
    model.add(Twin, "twin", parent="ground", child="slide", coupling=3.0)
    with pytest.raises(cosim.ModelError, match="choose dynamics='dynamics.sval'"):
        model.build()


def test_joints_of_one_class_share_a_block():
    model = pendulum(rotor_inertia=0.01)
    model.body("other", mass=1.0, inertia=(0.1, 0.1, 0.1))
    model.add(GearedPin, "second", parent="ground", child="other", rotor_inertia=0.5)
    blocks = [b for b in model.build().blocks if "equations of GearedPin" in b.label]
    assert [b.rows.shape[0] for b in blocks] == [2]
