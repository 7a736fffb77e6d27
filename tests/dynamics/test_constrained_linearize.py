"""Equilibria and linear systems of closed loops, against mechanics with one degree of freedom by hand."""

from __future__ import annotations

import math

import numpy as np
import pytest
from scipy.optimize import brentq, fsolve

import cosim
from cosim_dynamics import Linearization, equilibrium, linearize
from cosim_mechanics import Multibody

CRANK, COUPLER, ROCKER = 0.4, 1.0, 0.8
STIFFNESS, NEUTRAL = 60.0, 1.9


def four_bar(
    lengths: tuple[float, float, float], stiffness: float, neutral: float, crank: float
) -> cosim.System:
    """Return a four-bar linkage with a spring at its crank."""
    model = Multibody("four_bar", gravity=(0.0, -9.81, 0.0))
    for name, length in zip(("crank", "coupler", "rocker"), lengths, strict=True):
        moment = length**3 / 12
        model.body(name, mass=length, center_of_mass=(length / 2, 0, 0), inertia=(0.001, moment, moment))
    model.joint("pin", child="crank", q=crank)
    model.joint("pin", child="coupler", parent="crank", frame_on_parent=(lengths[0], 0, 0), q=-0.5)
    model.joint("pin", child="rocker", frame_on_parent=(1.0, 0, 0), q=1.5)
    ends = {"point1": (lengths[1], 0, 0), "point2": (lengths[2], 0, 0)}
    model.add("mechanics.ball_constraint", "closure", body1="coupler", body2="rocker", **ends)
    spring = {"coordinate": "crank_joint", "stiffness": stiffness, "neutral": neutral}
    model.add("mechanics.coordinate_spring", "spring", **spring)
    return model.build()


def motion(linear: Linearization) -> list[str]:
    """Return the states without dissipated energies."""
    return [name for name in linear.states if "energy" not in name]


def pose(angle: float) -> np.ndarray:
    """Return the absolute angles of coupler and rocker for an angle of the crank."""

    def gap(x: np.ndarray) -> list[float]:
        left = CRANK * np.exp(1j * angle) + COUPLER * np.exp(1j * x[0])
        gap_vector = left - 1.0 - ROCKER * np.exp(1j * x[1])
        return [gap_vector.real, gap_vector.imag]

    return np.array(fsolve(gap, [0.5, 1.5], xtol=1e-12))


def rates(angle: float) -> np.ndarray:
    """Return the rates of coupler and rocker for a rate of 1 of the crank."""
    coupler, rocker = pose(angle)
    columns = np.array([1j * COUPLER * np.exp(1j * coupler), -1j * ROCKER * np.exp(1j * rocker)])
    velocity = -1j * CRANK * np.exp(1j * angle)
    return np.linalg.solve(np.array([columns.real, columns.imag]), [velocity.real, velocity.imag])


def energy(angle: float) -> float:
    """Return the potential energy of links and spring."""
    coupler, rocker = pose(angle)
    heights = CRANK**2 / 2 * math.sin(angle)
    heights += COUPLER * (CRANK * math.sin(angle) + COUPLER / 2 * math.sin(coupler))
    return 9.81 * (heights + ROCKER**2 / 2 * math.sin(rocker)) + STIFFNESS / 2 * (angle - NEUTRAL) ** 2


def inertia(angle: float) -> float:
    """Return the inertia that the crank feels."""
    coupler, rocker = rates(angle)
    v = 1j * CRANK * np.exp(1j * angle) + 1j * COUPLER / 2 * coupler * np.exp(1j * pose(angle)[0])
    at_pins = CRANK**3 / 3 + ROCKER**3 / 3 * rocker**2
    return at_pins + COUPLER**3 / 12 * coupler**2 + COUPLER * abs(v) ** 2


def slope(angle: float, h: float = 1e-3) -> float:
    """Return the derivative of the energy, by differences of fourth order."""
    e = [energy(angle + i * h) for i in (-2, -1, 1, 2)]
    return (e[0] - 8 * e[1] + 8 * e[2] - e[3]) / (12 * h)


def lock_all_but(system: cosim.System, state: cosim.State, places: list[int], y: np.ndarray) -> None:
    """Close the loop again by solving for all states but these."""
    solved_for = [i for i in range(system.nq + system.nu) if i not in places]

    def gap(x: np.ndarray) -> np.ndarray:
        z = y.copy()
        z[solved_for] = x
        state.set_y(z)
        state.realize(cosim.Stage.ACCELERATION)
        return np.r_[state["closure.position_error"][:2], state["closure.velocity_error"][:2]]

    gap(fsolve(gap, y[solved_for], xtol=1e-12))


def test_a_four_bar_on_a_spring_swings_as_one_degree_of_freedom_does() -> None:
    system = four_bar((CRANK, COUPLER, ROCKER), STIFFNESS, NEUTRAL, 1.2)
    state = equilibrium(system)
    angle = brentq(slope, 1.2, 2.2, xtol=1e-13)
    assert state["crank_joint.q"][0] == pytest.approx(angle, abs=1e-9)
    linear = linearize(system, state, inputs=["spring.neutral"], outputs=["rocker_joint.angle"])
    assert len(motion(linear)) == 2
    (mode,) = [mode for mode in linear.modes() if mode.oscillates]
    stiffness = (slope(angle + 1e-4) - slope(angle - 1e-4)) / 2e-4
    assert 2 * math.pi * mode.frequency == pytest.approx(math.sqrt(stiffness / inertia(angle)), rel=1e-6)
    # statics: the crank follows the neutral angle by k / V'', and the rocker follows the crank by its rate
    static_gain = linear.D - linear.C[:, :2] @ np.linalg.solve(linear.A[:2, :2], linear.B[:2])
    assert static_gain[0, 0] == pytest.approx(STIFFNESS / stiffness * rates(angle)[1], rel=1e-6)


def test_a_parallelogram_in_closed_form() -> None:
    """The coupler only moves along: J = 2 m l^2 / 3 + m_c l^2, V = g l sin(angle) (m + m_c) + spring."""
    system = four_bar((0.5, 1.0, 0.5), 40.0, 1.4, 1.0)
    state = equilibrium(system)
    moment = 9.81 * 0.5 * (0.5 + 1.0)
    angle = brentq(lambda a: moment * math.cos(a) + 40.0 * (a - 1.4), 0.5, 1.6, xtol=1e-14)
    assert state["crank_joint.q"][0] == pytest.approx(angle, abs=1e-9)
    stiffness = 40.0 - moment * math.sin(angle)
    inertia = 2 * 0.5 * 0.25 / 3 + 1.0 * 0.25
    (mode,) = [mode for mode in linearize(system, state).modes() if mode.oscillates]
    assert 2 * math.pi * mode.frequency == pytest.approx(math.sqrt(stiffness / inertia), rel=1e-8)


@pytest.mark.few(2)
@pytest.mark.parametrize("seed", range(4))
def test_equilibria_of_spatial_loops_are_stable(seed: int) -> None:
    """A chain between two points of Ground, from a random pose; no eigenvalue is positive."""
    model = Multibody("chain", gravity=(0, -9.81, 0))
    parent = "ground"
    for i, (name, joint) in enumerate(
        {"a": "universal", "b": "ball", "c": "universal", "d": "gimbal"}.items()
    ):
        model.body(name, mass=1.0 + 0.3 * i, center_of_mass=(0.5, 0.05, 0), inertia=(0.05, 0.1, 0.12))
        model.joint(joint, child=name, parent=parent, frame_on_parent=(0 if i == 0 else 1.0, 0, 0))
        parent = name
    ends = {"body1": "d", "body2": "ground", "point1": (1, 0, 0), "point2": (2.0, 0.5, 0.7)}
    model.add("mechanics.ball_constraint", "closure", **ends)
    model.add("mechanics.global_damper", "drag", damping=0.5)
    system = model.build()
    state = system.default_state()
    state.set_q(state.q + 0.3 * np.random.default_rng(seed).normal(size=system.nq))
    state = equilibrium(system, state)
    assert abs(state["closure.position_error"]).max() < 1e-9
    assert abs(state.y_dot).max() < 1e-6
    linear = linearize(system, state)
    assert len(motion(linear)) == 2 * (system.nu - 3)
    assert max(mode.eigenvalue.real for mode in linear.modes()) < 1e-6


def test_rolling_removes_speeds_but_no_coordinates() -> None:
    """A ball on a plane: six coordinates less the height, and six speeds less three."""
    model = Multibody("ball", gravity=(0, 0, -9.81))
    model.body("ball", mass=2.0, inertia=(0.2, 0.2, 0.2))
    model.joint("free", child="ball", q=(1, 0, 0, 0, 0, 0, 0.5))
    ends = {"body1": "ground", "body2": "ball", "normal": (0, 0, 1)}
    model.add("mechanics.rolling_ball", "track", radius=0.5, **ends)
    linear = linearize(model.build())
    assert len(linear.states) == 5 + 3
    assert np.abs(np.linalg.eigvals(linear.A)).max() < 1e-3


def test_small_changes_of_a_moving_linkage_grow_as_the_matrix_says() -> None:
    system = four_bar((CRANK, COUPLER, ROCKER), STIFFNESS, NEUTRAL, 1.2)
    state = system.default_state()
    state.set_u(np.array([2.0, 0.0, 0.0]))
    cosim.assemble(system, state)
    linear = linearize(system, state)
    assert len(motion(linear)) == 2
    places = [int(system.variables[name].slot.offset) for name in motion(linear)]
    direction, h = np.array([1.0, -0.7]), 1e-5
    derivatives = []
    for sign in (1.0, -1.0):
        changed_state = state.copy()
        y = np.array(state.y)
        y[places] += sign * h * direction
        changed_state.set_y(y)
        lock_all_but(system, changed_state, places, y)
        derivatives.append(changed_state.y_dot[places].copy())
    assert (derivatives[0] - derivatives[1]) / (2 * h) == pytest.approx(
        linear.A[:2, :2] @ direction, rel=1e-5
    )
