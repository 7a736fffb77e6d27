"""The motion does not depend on which end of a joint is nearer to Ground; only the numbering does."""

from __future__ import annotations

import numpy as np
import pytest
from joints_with_equations import CoupledSlides, GearedPin
from random_trees import JOINTS, SOLVERS, frame

import cosim
import cosim_mechanics
from cosim_dynamics import (
    bias,
    generalized_forces,
    joint_reactions,
    mass_matrix,
    reactions_on_parents,
    torque_equations,
)
from cosim_mechanics import Multibody

KINDS = {kind: {"pitch": 0.3} if kind == "screw" else {} for kind in JOINTS} | {
    GearedPin: {"rotor_inertia": 0.2, "ratio": 3.0, "friction": 0.4},
    CoupledSlides: {"coupling": 0.7},
}


def pairs(root: str, solver: str, kinds: list, closed: bool) -> cosim.System:
    """Return a joint from a body A to a body B for each kind; a free joint connects `root` with Ground."""
    rng = np.random.default_rng(7)
    model = Multibody("pairs", gravity=(0.7, -3.0, -9.0), dynamics=solver)
    for i, kind in enumerate(kinds):
        for end in "AB":
            inertia = np.diag([0.3, 0.4, 0.5]) + 0.02
            model.body(f"{end}{i}", mass=1.0 + 0.1 * i, center_of_mass=rng.normal(size=3), inertia=inertia)
        model.joint("free", name=f"root{i}", child=f"{root}{i}")
        values = {"frame_on_parent": frame(rng), "frame_on_child": frame(rng), **KINDS[kind]}
        if isinstance(kind, str):
            model.joint(kind, name=f"joint{i}", parent=f"A{i}", child=f"B{i}", **values)
        else:
            model.add(kind, f"joint{i}", parent=f"A{i}", child=f"B{i}", **values)
    model.add("mechanics.coordinate_spring", "spring", coordinate="joint0", stiffness=30.0)
    model.add("mechanics.two_point_spring", "tie", body1="A1", body2="B3", stiffness=20.0, free_length=0.4)
    if closed:
        ends = {"point1": (0.1, 0.2, 0.3), "point2": (0.4, -0.3, 0.1), "length": 1.5}
        model.constraint("rod", "rod", body1="B1", body2="B2", projected=False, **ends)
        model.constraint("gear", "gear", coordinate1="joint0", coordinate2="joint1", ratio=0.6)
    return model.build()


def quaternion(R: np.ndarray) -> np.ndarray:
    """Return the quaternion of a rotation by less than half a turn."""
    w = 0.5 * np.sqrt(max(0.0, 1.0 + np.trace(R)))
    return np.array([w, *(np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w))])


def same_motion(system: cosim.System, reference: cosim.State, root: str, count: int) -> cosim.State:
    """Return the State of a system with another root, in the same motion as `reference`."""
    state = system.default_state()
    for i in range(count):
        X, V = reference[f"{root}{i}.X_GB"], reference[f"{root}{i}.V_GB"]
        state[f"root{i}.q"] = [*quaternion(X[:9].reshape(3, 3)), *X[9:]]
        state[f"root{i}.u"] = V
        if f"joint{i}.q" in system.variables:
            state[f"joint{i}.q"] = reference[f"joint{i}.q"]
            state[f"joint{i}.u"] = reference[f"joint{i}.u"]
    return state.realize(cosim.Stage.ACCELERATION)


@pytest.mark.few(2)
@pytest.mark.parametrize("solver", [*SOLVERS, "closed"])
def test_every_joint_moves_alike_with_either_end_nearer_to_ground(solver: str) -> None:
    closed = solver == "closed"
    kinds = [k for k in KINDS if k is not CoupledSlides or solver in ("closed", "dynamics.sval")]
    name = "dynamics.sval" if closed else solver
    forward, backward = (pairs(root, name, kinds, closed) for root in "AB")
    rng = np.random.default_rng(3)
    state = forward.default_state()
    state.set_u(rng.uniform(-1.0, 1.0, forward.nu))
    q = state.q + rng.uniform(-0.4, 0.4, forward.nq)
    state.set_q(q)
    for joint in forward.parts.values():  # quaternions of length 1, so that their rates can be compared
        if isinstance(joint, cosim_mechanics.Joint) and joint.quaternions:
            values = np.array(state[f"{joint.name}.q"])
            values[:4] /= np.linalg.norm(values[:4])
            state[f"{joint.name}.q"] = values
    state.realize(cosim.Stage.ACCELERATION)
    reversed_state = same_motion(backward, state, "B", len(kinds))
    reactions, on_parents = joint_reactions(forward, state), reactions_on_parents(forward, state)
    reversed_reactions, reversed_on_parents = (
        joint_reactions(backward, reversed_state),
        reactions_on_parents(backward, reversed_state),
    )

    def check(a, b, quantity: str) -> None:
        a, b = np.atleast_1d(a), np.atleast_1d(b)
        assert abs(a - b).max() <= 1e-10 * (1.0 + abs(b).max()), f"{quantity}: {a}, forward {b}"

    for i, kind in enumerate(kinds):
        for end in "AB":
            for slot in ("X_GB", "V_GB", "A_GB"):
                check(reversed_state[f"{end}{i}.{slot}"], state[f"{end}{i}.{slot}"], f"{kind} {end}.{slot}")
        for slot in ("q_dot", "u_dot"):
            if f"joint{i}.{slot[0]}" in forward.variables:
                check(reversed_state[f"joint{i}.{slot}"], state[f"joint{i}.{slot}"], f"{kind} {slot}")
        check(reversed_reactions[f"joint{i}"], reactions[f"joint{i}"], f"{kind} reaction")
        check(reversed_on_parents[f"joint{i}"], on_parents[f"joint{i}"], f"{kind} reaction on the parent")

    if not closed:
        M, V, T = (
            mass_matrix(backward, reversed_state),
            bias(backward, reversed_state),
            generalized_forces(backward, reversed_state),
        )
        udot = reversed_state.y_dot[backward.nq : backward.nq + backward.nu]
        assert abs(M @ udot + V - T).max() < 1e-10 * (1.0 + abs(T).max())
        for i, equation in torque_equations(backward, reversed_state).items():
            assert abs(equation.row(backward.nu) - M[i]).max() < 1e-12 * abs(M).max()
            assert abs(equation.bias - V[i]) < 1e-12 * (1.0 + abs(V).max())
    else:
        check(reversed_state["rod.multipliers"], state["rod.multipliers"], "multiplier")


def test_a_joint_whose_child_is_ground_is_reversed() -> None:
    """The angle turns Ground's frame in that of the body."""
    model = Multibody("hanging", gravity=(0.0, -9.81, 0.0))
    model.body("arm", mass=2.0, center_of_mass=(0.5, 0.0, 0.0), inertia=(0.1, 0.1, 0.1))
    model.joint("pin", "ground", parent="arm", name="hinge", q=0.3, u=0.2)
    state = model.build().default_state().realize(cosim.Stage.ACCELERATION)
    expected = [np.cos(0.3), np.sin(0.3), -np.sin(0.3), np.cos(0.3)]
    np.testing.assert_allclose(state["arm.X_GB"][[0, 1, 3, 4]], expected, atol=1e-15)
    assert state["arm.wz"] == pytest.approx(-0.2)
    # m g l cos(angle) pulls the arm down, which is toward a larger q here
    assert state["hinge.u_dot"][0] == pytest.approx(2.0 * 9.81 * 0.5 * np.cos(0.3) / (0.1 + 2.0 * 0.25))


def test_a_reversed_tip_without_inertia_is_reported() -> None:
    model = Multibody("light")
    model.body("bob", mass=1.0, center_of_mass=(0.0, 0.0, 1.0), inertia=(0.0, 0.0, 0.0))
    model.joint("pin", "ground", parent="bob", name="hinge")
    with pytest.raises(cosim.ModelError, match=r"hinge.*nothing resists u\[0\], since body 'bob'"):
        model.build()
