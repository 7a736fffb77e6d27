"""Andrews' squeezer: seven bodies and three loops, which a constraint of a user closes.

Data and reference values are those of the IVP test set's problem "andrews" as the R package deTestSet
(ex_andrews.R) and the project pySDC (AndrewsSqueezingMechanismDAE) state them.
"""

from __future__ import annotations

import numpy as np
import pytest

import cosim
import cosim_mechanics
from cosim_mechanics import Multibody

START = {
    "k1": -0.0617138900142764496358948458001,
    "k2": 0.0,
    "k3": 0.455279819163070380255912382449,
    "k4": 0.222668390165885884674473185609,
    "k5": 0.487364979543842550225598953530,
    "k6": -0.222668390165885884674473185609,
    "k7": 1.23054744454982119249735015568,
}
U_DOT = [14222.4439199541138705911625887, -10666.8329399655854029433719415, 0, 0, 0, 0, 0]
MULTIPLIERS = [98.5668703962410896057654982170, -6.12268834425566265503114393122, 0, 0, 0, 0]
END = [
    15.81077119629904,
    -15.75637105984298,
    0.04082224013073101,
    -0.5347301163226948,
    0.5244099658805304,
    0.5347301163226948,
    1.048080741042263,
]
A, B, C = (-0.06934, -0.00227, 0), (-0.03635, 0.03273, 0), (0.014, 0.072, 0)


class PlanarLoop(cosim_mechanics.Constraint):
    """Two points have the same x and y."""

    equations = 2

    body1 = cosim_mechanics.body()
    body2 = cosim_mechanics.body()
    point1 = cosim.parameter(unit="m", shape=3)
    point2 = cosim.parameter(unit="m", shape=3)

    def create_constraint_equations(self, s):
        a = s.point_acceleration(self.body1, self.point1) - s.point_acceleration(self.body2, self.point2)
        return [a.x, a.y]

    @cosim.kernel
    def position_error(X_GB1, X_GB2, point1, point2, position_error):
        for i in range(2):
            row = 3 * i
            p1 = X_GB1[9 + i] + X_GB1[row] * point1[0] + X_GB1[row + 1] * point1[1]
            p2 = X_GB2[9 + i] + X_GB2[row] * point2[0] + X_GB2[row + 1] * point2[1]
            position_error[i] = p1 - p2


def squeezer():
    """Return the system of the squeezer at its published start."""
    model = Multibody("squeezer", gravity=(0, 0, 0))
    bodies = {  # mass, moment of inertia, centre of mass, parent, place of the pin on it
        "k1": (0.04325, 2.194e-6, (0.00092, 0, 0), "ground", (0, 0, 0)),
        "k2": (0.00365, 4.410e-7, (-0.0115, 0, 0), "k1", (0.007, 0, 0)),
        "k3": (0.02373, 5.255e-6, (0.01043, -0.01874, 0), "ground", B),
        "k5": (0.07050, 1.169e-5, (0.02308, 0.00916, 0), "ground", A),
        "k4": (0.00706, 5.667e-7, (0, 0.01421 - 0.02, 0), "k5", (0.04, 0, 0)),
        "k7": (0.05498, 1.912e-5, (-0.01228, -0.00449, 0), "ground", A),
        "k6": (0.00706, 5.667e-7, (0.02 - 0.01421, 0, 0), "k7", (0, -0.04, 0)),
    }
    for name, (mass, moment, center, _, _) in bodies.items():
        model.body(name, mass=mass, center_of_mass=center, inertia=(moment, moment, moment))
    for name, (*_, parent, place) in bodies.items():
        model.joint("pin", child=name, parent=parent, frame_on_parent=place, q=START[name])
    tip = {"body1": "k2", "point1": (-0.028, 0, 0)}
    for i, (name, point) in enumerate(
        {"k3": (0, -0.035, 0), "k4": (0, -0.02, 0), "k6": (0.02, 0, 0)}.items()
    ):
        model.add(PlanarLoop, f"loop{i}", **tip, body2=name, point2=point)
    model.add(
        "mechanics.two_point_spring",
        "spring",
        body1="ground",
        body2="k3",
        station_on_body1=C,
        station_on_body2=(0.02, -0.018, 0),
        stiffness=4530.0,
        free_length=0.07785,
    )
    model.add("mechanics.constant_torque", "motor", body="k1", torque=(0, 0, 0.033))
    return model.build()


def test_accelerations_multipliers_and_end_are_the_published_ones():
    system = squeezer()
    state = system.default_state()
    state.realize(cosim.Stage.ACCELERATION)
    accelerations = [state.y_dot[system.nq + system.variables[f"{k}_joint.q"].slot.offset] for k in START]
    assert accelerations == pytest.approx(U_DOT, rel=1e-10, abs=1e-6)
    multipliers = np.concatenate([state[f"loop{i}.multipliers"] for i in range(3)])
    assert multipliers == pytest.approx(MULTIPLIERS, rel=1e-10, abs=1e-8)
    simulator = cosim.Simulator(system, state, accuracy=1e-10)
    simulator.advance_to(0.03)
    end = [simulator.state[f"{k}_joint.angle"] for k in START]
    assert end == pytest.approx(END, abs=2e-7)


def test_generalized_alpha_has_order_2():
    errors = []
    for step in (2e-5, 1e-5):
        simulator = cosim.Simulator(squeezer(), integrator="integrators.generalized_alpha", fixed_step=step)
        simulator.advance_to(0.03)
        end = np.array([simulator.state[f"{k}_joint.angle"][0] for k in START])
        errors.append(np.abs(end - END).max())
    assert errors[1] < 1e-3
    assert errors[0] / errors[1] == pytest.approx(4.0, rel=0.1)
