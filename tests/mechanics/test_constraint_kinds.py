"""Every kind of constraint: its equation is a derivative of its error, its forces are those of numpy."""

from __future__ import annotations

import numpy as np
import pytest

import cosim
import cosim_mechanics
from cosim_dynamics import mass_matrix
from cosim_mechanics import Multibody

TILTED = [0.36, 0.48, -0.8, -0.8, 0.6, 0.0, 0.48, 0.64, 0.6, 0.1, -0.2, 0.3]
BODIES = {"body1": "a", "body2": "b"}
POINTS = {"point1": (0.2, -0.1, 0.3), "point2": (-0.3, 0.4, 0.1)}
COORDINATES = {"coordinate1": "arm_joint", "coordinate2": "cart_joint[0]"}
KINDS = {
    "rod": {**BODIES, **POINTS, "length": 1.3},
    "ball_constraint": {**BODIES, **POINTS},
    "weld_constraint": {**BODIES, "frame1": TILTED, "frame2": POINTS["point2"]},
    "point_in_plane": {**BODIES, **POINTS, "normal": (1, 2, -1)},
    "point_on_line": {**BODIES, **POINTS, "axis": (0.3, -1, 2)},
    "constant_angle": {**BODIES, "axis1": (1, 2, 3), "axis2": (0, 1, -1), "angle": 1.1},
    "rolling_ball": {**BODIES, **POINTS, "normal": (0.2, 0.1, 1), "radius": 0.4},
    "rolling_disc": {**BODIES, **POINTS, "normal": (0.2, 0.1, 1), "axis": (1, 0.3, 0), "radius": 0.4},
    "coordinate_coupler": {**COORDINATES, "ratio": -0.7, "offset": 0.2},
    "speed_coupler": {**COORDINATES, "ratio": -0.7, "offset": 0.2},
    "gear": {**COORDINATES, "ratio": 2.5},
    "constant_speed": {"coordinate": "arm_joint", "speed": 0.4},
    "constant_acceleration": {"coordinate": "arm_joint", "acceleration": 0.4},
    "lock": {"coordinate": "arm_joint", "value": 0.4},
    "prescribed_speed": {"coordinate": "b_joint[1]", "source": "wave"},
    "prescribed_motion": {"coordinate": "arm_joint", "source": "wave"},
}


COMBINED = {
    "loop and plane": ["rod", "point_in_plane", "coordinate_coupler"],
    "repeated": ["ball_constraint", "ball_constraint", "constant_angle"],
    "rolling": ["rolling_ball", "gear"],
}


class Belt(cosim_mechanics.Constraint):
    """A constraint as a user writes one. Law: q2 = gain q1^2 / 2."""

    coordinate1 = cosim_mechanics.coordinate()
    coordinate2 = cosim_mechanics.coordinate()
    gain = cosim.parameter(unit="1")

    def create_constraint_equations(self, s):
        q, u = s.coordinate(self.coordinate1), s.speed(self.coordinate1)
        a1, a2 = s.acceleration(self.coordinate1), s.acceleration(self.coordinate2)
        return [a2 - self.gain * (q * a1 + u * u)]

    @cosim.kernel
    def position_error(q1, q2, gain, position_error):
        position_error[0] = q2 - 0.5 * gain * q1 * q1


def model_with(*constraints):
    """Return a free body, an arm with a body and a cart on it, and the constraints c0 …"""
    model = Multibody("free", gravity=(0.3, -1.0, -9.0))
    for name, mass in (("a", 1.5), ("b", 0.7), ("arm", 2.0), ("cart", 1.1)):
        model.body(
            name, mass=mass, center_of_mass=(0.1, 0.2, -0.1), inertia=(0.3, 0.4, 0.5, 0.02, 0.01, -0.03)
        )
    model.joint("free", child="a")
    model.joint("pin", child="arm")
    model.joint("ball", child="b", parent="arm", frame_on_parent=(0.5, 0.2, 0.7))
    model.joint("translation", child="cart", parent="arm", frame_on_child=TILTED)
    model.measure("measures.sinusoid", "wave", amplitude=0.3, frequency=2.0, phase=0.4)
    for i, (kind, values) in enumerate(constraints):
        model.add(kind if isinstance(kind, type) else f"mechanics.{kind}", f"c{i}", projected=False, **values)
    return model


def random_state(system, seed):
    """Return a State with random coordinates and speeds at 0.7 s."""
    rng = np.random.default_rng(seed)
    state = system.default_state()
    state.set_time(0.7)
    state.set_q(rng.normal(size=system.nq))
    state.set_u(rng.normal(size=system.nu))
    state.realize(cosim.Stage.ACCELERATION)
    return state


def errors(system, y, t, quantity):
    """Return the errors of all constraints at states y and time t."""
    state = system.default_state()
    state.set_time(t)
    state.set_q(y[: system.nq])
    state.set_u(y[system.nq : system.nq + system.nu])
    state.realize(cosim.Stage.ACCELERATION)
    names = [n for n, p in system.parts.items() if isinstance(p, cosim_mechanics.Constraint)]
    return np.concatenate([np.atleast_1d(state[f"{n}.{quantity}"]) for n in names])


@pytest.mark.parametrize("kind", [*KINDS, Belt], ids=str)
def test_the_equation_is_the_derivative_of_the_errors(kind):
    system = model_with((kind, KINDS.get(kind, {**COORDINATES, "gain": 0.8}))).build()
    state = random_state(system, 4)
    cls, h, t = type(system.parts["c0"]), 1e-5, state.time
    y, y_dot = state.y.copy(), state.y_dot.copy()
    rates = {
        quantity: (
            errors(system, y + h * y_dot, t + h, quantity) - errors(system, y - h * y_dot, t - h, quantity)
        )
        / (2 * h)
        for quantity in ("position_error", "velocity_error")
    }
    velocity_error = np.atleast_1d(state["c0.velocity_error"])
    for i, level in enumerate(cls.levels()):
        if level == "position":
            assert rates["position_error"][i] == pytest.approx(velocity_error[i], abs=1e-7)
        if level != "acceleration":
            assert rates["velocity_error"][i] == pytest.approx(0.0, abs=2e-7)
    if kind == "constant_acceleration":
        assert state.y_dot[system.nq + 6] == pytest.approx(0.4, abs=1e-12)


@pytest.mark.parametrize("kinds", COMBINED.values(), ids=COMBINED)
def test_accelerations_and_multipliers_are_those_of_a_dense_solution(kinds):
    system = model_with(*[(kind, KINDS[kind]) for kind in kinds]).build()
    free_system = model_with().build()
    state, free_state = random_state(system, 11), random_state(free_system, 11)
    t, y, nq, nu = state.time, state.y.copy(), system.nq, system.nu
    present = errors(system, y, t, "velocity_error")
    G = np.column_stack(
        [errors(system, y + e, t, "velocity_error") - present for e in np.eye(y.size)[nq : nq + nu]]
    )
    h, motion = 1e-5, np.concatenate([state.y_dot[:nq], np.zeros(y.size - nq)])
    later, earlier = (errors(system, y + s * motion, t, "velocity_error") for s in (h, -h))
    b = (later - earlier) / (2 * h)
    M = mass_matrix(free_system, free_state)
    A = G @ np.linalg.solve(M, G.T)
    multipliers = np.linalg.pinv(A, rcond=1e-9) @ (G @ free_state.y_dot[nq : nq + nu] + b)
    expected = free_state.y_dot[nq : nq + nu] - np.linalg.solve(M, G.T @ multipliers)
    assert state.y_dot[nq : nq + nu] == pytest.approx(expected, abs=1e-6 * abs(expected).max())
    actual = np.concatenate([np.atleast_1d(state[f"c{i}.multipliers"]) for i in range(len(kinds))])
    assert actual == pytest.approx(multipliers, abs=1e-6 * abs(multipliers).max())
    assert any(state[f"c{i}.redundant"] for i in range(len(kinds))) == (len(set(kinds)) < len(kinds))
