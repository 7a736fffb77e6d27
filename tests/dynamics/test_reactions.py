"""Forces in joints, against constraints that replace a joint and against the rates of momenta."""

from __future__ import annotations

import numpy as np
import pytest
from constraint_references import REFERENCES, model_of, put

import cosim
from cosim_dynamics import joint_reactions, reactions_on_parents
from cosim_mechanics import Multibody

HINGE = [0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6, 0.1, -0.2, 0.3]


def arms(jointed: bool) -> Multibody:
    """Return two arms with a hinge between them: a joint, or five equations between free bodies."""
    model = Multibody("arms", gravity=(0.5, -9.0, 2.0))
    for name, mass in (("upper", 2.0), ("lower", 1.3)):
        model.body(name, mass=mass, center_of_mass=(0.1, -0.4, 0.2), inertia=(0.3, 0.2, 0.4, 0.02, 0.0, 0.01))
    model.joint("universal", name="shoulder", child="upper", q=(0.4, -0.3), u=(1.1, -0.7))
    if jointed:
        model.joint("pin", name="elbow", child="lower", parent="upper", frame_on_parent=HINGE, q=0.7, u=2.1)
        return model
    model.joint("free", name="loose", child="lower")
    ends = {"body1": "upper", "body2": "lower"}
    model.constraint("ball_constraint", "c0", point1=HINGE[9:], projected=False, **ends)
    axis = (HINGE[2], HINGE[5], HINGE[8])
    for i, cross in ((1, "x"), (2, "y")):
        model.constraint("constant_angle", f"c{i}", axis1=axis, axis2=cross, projected=False, **ends)
    return model


def place(X, station):
    """Return a station of a body in Ground."""
    return X[9:] + X[:9].reshape(3, 3) @ np.asarray(station)


def joint_origin(state, entry, frame, body):
    """Return the origin of a joint's frame in Ground."""
    return place(state[f"{body}.X_GB"], entry[frame]["p"])


def momenta(system, y, reference):
    """Return angular and linear momentum of each body about Ground's origin."""
    state = system.default_state()
    state.set_y(y)
    state.realize(cosim.Stage.VELOCITY)
    values = []
    for entry in reference["bodies"]:
        X, V = state[f"b{entry['index']}.X_GB"], state[f"b{entry['index']}.V_GB"]
        R, center = X[:9].reshape(3, 3), place(X, entry["body"]["com"])
        p = entry["body"]["mass"] * (V[3:] + np.cross(V[:3], center - X[9:]))
        spin = R @ np.array(entry["body"]["inertia_com"]) @ R.T @ V[:3]
        values.append(np.concatenate([spin + np.cross(center, p), p]))
    return values


def about_ground(wrench, point):
    """Return moment and force about Ground's origin, of those about a point."""
    return np.concatenate([wrench[:3] + np.cross(point, wrench[3:]), wrench[3:]])


def test_a_hinge_transmits_the_forces_of_the_constraints_that_replace_it():
    tree, loose = arms(True).build(), arms(False).build()
    state = tree.default_state().realize(cosim.Stage.ACCELERATION)
    loose_state = loose.default_state()
    X, V = state["lower.X_GB"], state["lower.V_GB"]
    R = X[:9].reshape(3, 3)
    w = 0.5 * np.sqrt(1.0 + np.trace(R))
    q = [w, *np.array([R[2, 1] - R[1, 2], R[0, 2] - R[2, 0], R[1, 0] - R[0, 1]]) / (4.0 * w), *X[9:]]
    loose_state["loose.q"], loose_state["loose.u"] = q, V
    loose_state.realize(cosim.Stage.ACCELERATION)
    expected, reactions = joint_reactions(tree, state), joint_reactions(loose, loose_state)
    np.testing.assert_allclose(reactions["shoulder"], expected["shoulder"], rtol=1e-10, atol=1e-10)
    np.testing.assert_allclose(reactions["loose"], np.zeros(6), atol=1e-10)  # a free joint transmits nothing
    # `lower` has its frame at the hinge, so forces about its origin are forces about the hinge.
    constraint_force = sum(loose_state[f"c{i}.force_on_body2"] for i in range(3))
    np.testing.assert_allclose(constraint_force, expected["elbow"], rtol=1e-10, atol=1e-10)
    on_parent = reactions_on_parents(tree, state)["elbow"]
    np.testing.assert_allclose(on_parent, -expected["elbow"], atol=1e-12)  # F and M share their origin


@pytest.mark.parametrize("name", REFERENCES)
def test_the_sum_of_forces_on_a_body_is_the_rate_of_its_momentum(name):
    """Newton and Euler for each body of a closed loop, about Ground's origin."""
    reference = REFERENCES[name]
    model = model_of(reference)
    for entry in reference["bodies"]:
        if entry["nu"] == 1:
            joint = f"b{entry['index']}_joint"
            model.add("mechanics.coordinate_spring", f"s_{joint}", coordinate=joint, stiffness=7.0)
    system = model.build()
    state = system.default_state()
    put(reference, reference["states"][0], system, state)
    state.realize(cosim.Stage.ACCELERATION)
    h, y, y_dot = 1e-5, state.y.copy(), state.y_dot.copy()
    later, earlier = (momenta(system, y + s * h * y_dot, reference) for s in (1.0, -1.0))
    on_child, on_parent = joint_reactions(system, state), reactions_on_parents(system, state)
    for i, entry in enumerate(reference["bodies"]):
        expected = (later[i] - earlier[i]) / (2.0 * h)
        body, weight = f"b{entry['index']}", entry["body"]["mass"] * np.array(reference["gravity"])
        center = place(state[f"{body}.X_GB"], entry["body"]["com"])
        total = about_ground(on_child[f"{body}_joint"], joint_origin(state, entry, "X_BM", body))
        total += np.concatenate([np.cross(center, weight), weight])
        for child in reference["bodies"]:
            if child["parent"] == entry["index"]:
                total += about_ground(
                    on_parent[f"b{child['index']}_joint"], joint_origin(state, child, "X_PF", body)
                )
        for attachment, attached in system.parts["c0"].values.attachments.items():
            if attached == body:
                total += about_ground(state[f"c0.force_on_{attachment}"], state[f"{body}.X_GB"][9:])
        np.testing.assert_allclose(total, expected, atol=2e-7 * (1.0 + abs(expected).max()))
