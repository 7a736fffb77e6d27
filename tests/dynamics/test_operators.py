"""Operators of mechanics against each other, against differences and against the compiled solver."""

from __future__ import annotations

import numpy as np
import pytest
from random_trees import random_state, random_tree, rotation

import cosim
from cosim_dynamics import (
    bias,
    center_of_mass,
    frame_bias,
    frame_jacobian,
    generalized_forces,
    inverse_dynamics,
    kinetic_energy,
    mass_matrix,
    mass_solve,
    mass_times,
    momentum,
    point_bias,
    point_jacobian,
    potential_energy,
)
from cosim_mechanics import Multibody

SEEDS = (3, 5, 8)


def robot(R, p, gravity):
    """Return a free base with two arms; the whole scene is turned by R and shifted by p."""
    model = Multibody("robot", gravity=tuple(gravity))
    model.body("base", mass=5.0, center_of_mass=(0.1, 0.0, 0.05), inertia=(0.2, 0.3, 0.4))
    model.joint("free", child="base", frame_on_parent=(*R.ravel(), *p), u=(0.3, -0.2, 0.5, 1.0, 2.0, 3.0))
    for name, kind, u in (("left", "pin", 1.7), ("right", "ball", (0.4, -0.3, 0.8))):
        model.body(name, mass=1.0, center_of_mass=(0.0, 0.1, 0.5), inertia=(0.1, 0.1, 0.02))
        model.joint(kind, child=name, parent="base", frame_on_parent=(0.2, 0.1, 0.4), u=u)
    return model.build().default_state().realize(cosim.Stage.ACCELERATION)


@pytest.fixture(scope="module", params=SEEDS)
def moving(request):
    """Return a random tree, a random State of it and a random generator."""
    rng = np.random.default_rng(request.param)
    system = random_tree(rng, "dynamics.sval", 12).build()
    return system, random_state(system, rng), rng


def bodies(system):
    return [name for name in system.parts if name.startswith("b")]


def udot_of(system, state):
    return np.array(state.y_dot[system.nq : system.nq + system.nu])


def test_jacobians_give_velocities_and_accelerations(moving):
    system, state, _ = moving
    for body in bodies(system):
        V, A = state[f"{body}.V_GB"], state[f"{body}.A_GB"]
        J = frame_jacobian(system, state, body)
        assert J @ state.u == pytest.approx(V, rel=1e-11, abs=1e-11)
        acceleration = J @ udot_of(system, state) + frame_bias(system, state, body)
        assert acceleration == pytest.approx(A, rel=1e-10, abs=1e-10 * abs(A).max())


def test_a_point_moves_as_its_jacobian_says(moving):
    system, state, _ = moving
    body, station = bodies(system)[-1], (0.3, -0.2, 0.5)
    J = point_jacobian(system, state, body, station)

    def velocity(time):
        later = state.copy()
        later.set_y(state.y + time * state.y_dot + 0.0)
        later.realize(cosim.Stage.VELOCITY)
        return point_jacobian(system, later, body, station) @ later.u

    h = 1e-6
    measured = (velocity(h) - velocity(-h)) / (2 * h)
    expected = J @ udot_of(system, state) + point_bias(system, state, body, station)
    assert measured == pytest.approx(expected, rel=1e-6, abs=1e-6 * abs(expected).max())


def test_the_equation_of_motion_holds_term_by_term(moving):
    system, state, rng = moving
    udot, v = udot_of(system, state), rng.normal(size=system.nu)
    M, V, T = mass_matrix(system, state), bias(system, state), generalized_forces(system, state)
    scale = abs(M) @ abs(udot) + abs(V) + abs(T)
    assert abs(M @ udot + V - T).max() <= 1e-10 * scale.max()
    assert inverse_dynamics(system, state, v) == pytest.approx(M @ v + V - T, abs=1e-11 * scale.max())
    assert mass_times(system, state, v) == pytest.approx(M @ v, abs=1e-12 * abs(M).max() * abs(v).max())
    assert mass_solve(system, state, mass_times(system, state, v)) == pytest.approx(v, rel=1e-8, abs=1e-8)


def test_the_equation_is_affine_in_the_accelerations(moving):
    system, state, rng = moving
    a, b, c = rng.normal(size=(3, system.nu))
    forces = [inverse_dynamics(system, state, x) for x in (a, b, c, a + b - c)]
    assert forces[3] == pytest.approx(forces[0] + forces[1] - forces[2], abs=1e-10 * abs(forces[3]).max())


def test_energy_and_momentum(moving):
    system, state, _ = moving
    M = mass_matrix(system, state)
    energy = kinetic_energy(system, state)
    assert energy == pytest.approx(0.5 * state.u @ M @ state.u, rel=1e-12)
    state.realize(cosim.Stage.REPORT)
    assert energy == pytest.approx(state["energy.kinetic"], rel=1e-12)
    assert potential_energy(system, state) == pytest.approx(state["energy.potential"], rel=1e-12)
    # linear momentum is the sum of m v of the centres of mass; another point changes the angular part
    centers = {b: state[f"{b}.center_of_mass"] for b in bodies(system)}
    p = sum(state[f"{b}.mass"] * point_jacobian(system, state, b, s) @ state.u for b, s in centers.items())
    h = momentum(system, state)
    assert h[3:] == pytest.approx(p, rel=1e-11, abs=1e-11)
    center, point = center_of_mass(system, state), np.array([1.0, 2.0, 3.0])
    about_point = momentum(system, state, about=point)
    assert about_point[:3] == pytest.approx(h[:3] + np.cross(center - point, p), rel=1e-10, abs=1e-10)


def test_power_balance(moving):
    """Nothing dissipates: the power of all forces is the rate of the kinetic energy."""
    system, state, _ = moving
    power = generalized_forces(system, state) @ state.u

    def energy(time):
        moved_state = state.copy()
        moved_state.set_y(state.y + time * state.y_dot)
        return kinetic_energy(system, moved_state.realize(cosim.Stage.VELOCITY))

    h = 1e-5
    rate = (energy(h) - energy(-h)) / (2 * h)
    assert rate == pytest.approx(power, rel=1e-6, abs=1e-6 * abs(power))


def test_a_rigid_motion_of_the_whole_scene_keeps_accelerations():
    answers = []
    for R, p in (
        (np.eye(3), np.zeros(3)),
        (rotation(np.random.default_rng(1)), np.array([30.0, -20.0, 10.0])),
    ):
        state = robot(R, p, gravity=R @ [1.0, -2.0, -9.0])
        answers.append(np.array(state.y_dot))
    assert answers[1] == pytest.approx(answers[0], rel=1e-10, abs=1e-10)


def test_a_falling_mechanism_keeps_its_energy_and_gains_the_momentum_of_its_weight():
    g = np.array([1.0, -2.0, -9.0])
    state = robot(np.eye(3), np.zeros(3), gravity=g)
    system = state.system

    def energy(state):
        return kinetic_energy(system, state) + potential_energy(system, state)

    before = momentum(system, state), energy(state)
    simulator = cosim.Simulator(system, state, integrator="integrators.runge_kutta_merson", accuracy=1e-9)
    simulator.initialize()
    simulator.advance_to(10.0)
    after = simulator.state.realize(cosim.Stage.VELOCITY)
    mass = sum(float(state[f"{name}.mass"]) for name in ("base", "left", "right"))
    gained = np.concatenate([np.zeros(3), 10.0 * mass * g])
    assert momentum(system, after) == pytest.approx(before[0] + gained, rel=1e-6, abs=1e-5)
    assert energy(after) == pytest.approx(before[1], rel=1e-6)


def test_names_and_shapes_are_checked(moving):
    system, state, _ = moving
    with pytest.raises(cosim.LookUpError, match="'b00'"):
        point_jacobian(system, state, "b00")
    with pytest.raises(ValueError, match="3 numbers.*12.*4"):
        frame_jacobian(system, state, "b0", (1, 2, 3, 4))
    with pytest.raises(ValueError, match=r"v has shape \(1,\)"):
        mass_times(system, state, [1.0])
    with pytest.raises(cosim.StageError):
        mass_matrix(system, system.default_state())
    assert not point_jacobian(system, state, "ground").any()
