"""Shapes on bodies that collide: forces as those of single contacts, friction that holds, energy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from collision_scenes import FLOOR, LAW, balls
from contact_formulas import GRAVITY, hertz_depth

import cosim
from cosim_mechanics import Multibody, shapes

SHAPES: dict[str, Any] = {
    "crate": shapes.Box((0.3, 0.2, 0.16), 0.02, (0.01, 0, 0)),
    "drum": shapes.Cylinder(0.12, 0.3, 0.02, {"angles": (0.4, 0.2, 0)}),
    "stone": shapes.ConvexMesh(np.random.default_rng(1).uniform(-0.12, 0.12, (9, 3)), 0.02),
    "rod": shapes.Capsule(0.05, (0.1, 0.05, 0), (0, 0.02, 0)),
    "ball": shapes.Sphere(0.11, (0.02, 0, 0)),
    "small_ball": shapes.Sphere(0.07),
}
"""A shape of each kind, by the names of their bodies."""
PLANES = [shapes.HalfSpace(), shapes.HalfSpace({"position": (-0.1, 0, 0), "angles": (0, math.pi / 2, 0)})]
CONVEX = {"crate", "drum", "stone"}
DAMPED_LAW = {**LAW, "dissipation": 0.1}


def bodies_with_shapes(name: str) -> Multibody:
    """Return a model of free bodies, one for each of `SHAPES`, without contacts."""
    model = Multibody(name)
    for body_name in SHAPES:
        body = model.body(body_name, mass=1.0 + 0.1 * len(body_name), inertia=(0.02, 0.02, 0.02))
        model.joint("free", child=body)
    return model


def add_single_contacts(model: Multibody) -> list[str]:
    """Add contacts of all shapes with the planes and with each other, and return their names.

    Boxes, cylinders and meshes have no contacts with each other.
    """
    contacts = []
    names = list(SHAPES)
    for i, name in enumerate(names):
        for k, plane in enumerate(PLANES):
            contacts += model.shape_contacts(
                f"{name}_on{k}", "ground", plane, name, SHAPES[name], **DAMPED_LAW
            )
        for other in names[:i]:
            if not {name, other} <= CONVEX:
                contacts += model.shape_contacts(
                    f"{name}_{other}", name, SHAPES[name], other, SHAPES[other], **DAMPED_LAW
                )
    return [contact.name for contact in contacts]


def assert_equal_forces(scene: cosim.State, single: cosim.State, contacts: list[str]) -> None:
    """Compare forces on bodies, energies and the number of contacts."""
    for name in SHAPES:
        force = single[f"{name}.F_GB"]
        np.testing.assert_allclose(scene[f"{name}.F_GB"], force, rtol=1e-9, atol=1e-9 * np.abs(force).max())
    for quantity in ("potential_energy", "dissipated_energy_dot"):
        total = sum(single[f"{name}.{quantity}"] for name in contacts)
        assert scene[f"scene.{quantity}"] == pytest.approx(total, rel=1e-9)


def test_forces_of_a_scene_are_the_sums_of_single_contacts() -> None:
    """In random poses; a pose in which a contact has no depth (NaN) has no energy in the scene either."""
    random = np.random.default_rng(2)
    scene_model, single_model = bodies_with_shapes("scene"), bodies_with_shapes("single")
    scene_model.collisions("scene", {"ground": PLANES, **SHAPES}, **DAMPED_LAW)
    contacts = add_single_contacts(single_model)
    states = [model.build().default_state() for model in (scene_model, single_model)]
    kinds, compared = set(), 0
    for _ in range(150):
        for name in SHAPES:
            turn = random.normal(size=4)
            q = [*(turn / np.linalg.norm(turn)), *random.uniform(0.0, 0.4, 3)]
            u = random.normal(size=6)
            for state in states:
                state[f"{name}_joint.q"], state[f"{name}_joint.u"] = q, u
        try:
            scene, single = (state.realize(cosim.Stage.REPORT) for state in states)
        except cosim.SimulationError:  # centres of two shapes meet
            continue
        touching = {name for name in contacts if not single[f"{name}.depth"] <= 0.0}
        if any(math.isnan(single[f"{name}.depth"]) for name in touching):
            assert math.isnan(scene["scene.potential_energy"])
            continue
        compared += 1
        kinds |= {name.rstrip("_12345678") for name in touching}
        assert scene["scene.contacts"] == len(touching)
        assert_equal_forces(scene, single, contacts)
    assert compared > 40
    # with the two planes, between balls and rod, and of these with convex bodies
    assert len(kinds) == 2 * 6 + 3 + 3 * 3


def test_sliding_turns_into_rolling_at_its_time_and_speed() -> None:
    result = balls(
        [(0, 0, 0.1 - hertz_depth(GRAVITY, 1e9, 0.1))], [0.1], [[0, 0, 0, 2.0, 0, 0]], friction=0.3,
        stiffness=1e9,
    ).simulate(until=0.25, accuracy=1e-6)  # fmt: skip
    assert result["ball0.vx"][-1] == pytest.approx(2.0 * 5.0 / 7.0, rel=1e-5)
    assert result["ball0.wy"][-1] * 0.1 == pytest.approx(2.0 * 5.0 / 7.0, rel=1e-5)
    slip = np.asarray(result["ball0.vx"]) - 0.1 * np.asarray(result["ball0.wy"])
    rolling_start = 2.0 * 2.0 / (7.0 * 0.3 * GRAVITY)
    sliding = result.time < 0.999 * rolling_start
    np.testing.assert_allclose(
        slip[sliding], 2.0 - 3.5 * 0.3 * GRAVITY * result.time[sliding], atol=1e-3 * 2.0
    )
    assert abs(slip[result.time > 1.001 * rolling_start]).max() < 2e-3
    assert abs(result["energy.residual"]).max() < 1e-6


@pytest.mark.parametrize(("share", "stays"), [(0.99, True), (1.01, False)])
def test_a_crate_within_its_cone_stays(share: float, stays: bool) -> None:
    slope = math.atan(0.5) * share
    model = Multibody("slope", gravity=(GRAVITY * math.sin(slope), 0, -GRAVITY * math.cos(slope)))
    crate = model.body("crate", mass=2.0, inertia=(0.02,) * 3)
    depth = hertz_depth(0.5 * GRAVITY * math.cos(slope), 1e7, 0.02)
    model.joint("free", child=crate, q=[1, 0, 0, 0, 0, 0, 0.05 - depth])
    model.collisions("scene", {**FLOOR, "crate": shapes.Box((0.4, 0.4, 0.1), 0.02)}, friction=0.5, **LAW)
    result = model.simulate(until=5.0, accuracy=1e-6, output_interval=0.5)
    late = np.asarray(result["crate.x"])[result.time > 1.0]
    if stays:
        assert np.ptp(late) < 1e-10
        assert abs(late[0]) < 2.0 * depth
    else:
        acceleration = GRAVITY * (math.sin(slope) - 0.5 * math.cos(slope))
        speed_gain = result["crate.vx"][-1] - result["crate.vx"][2]
        assert speed_gain == pytest.approx((result.time[-1] - result.time[2]) * acceleration, rel=1e-2)
    assert abs(result["energy.residual"]).max() < 1e-5


@pytest.mark.parametrize(("friction", "stays"), [(0.4, True), (0.1, False)])
def test_a_pyramid_of_balls_stands_by_friction_alone(friction: float, stays: bool) -> None:
    """Three balls carry a fourth one, which pushes them apart; they roll away unless friction holds them."""
    radius = 0.2 / math.sqrt(3.0)
    base = [
        (radius * math.cos(a), radius * math.sin(a), 0.1) for a in (0.0, 2 * math.pi / 3, 4 * math.pi / 3)
    ]
    top = (0.0, 0.0, 0.1 + math.sqrt(0.2**2 - radius**2))
    result = balls([*base, top], [0.1] * 4, friction=friction).simulate(
        until=10.0 if stays else 1.0, accuracy=1e-5, output_interval=0.5
    )
    heights = np.asarray(result["ball3.z"])
    if stays:
        assert np.ptp(heights[result.time > 2.0]) < 1e-9
        assert top[2] - heights[-1] < 1e-3
        assert max(abs(result[f"ball{i}.vx"][-1]) for i in range(4)) < 1e-9
    else:
        assert heights[-1] < 0.11


def test_a_ball_on_a_turntable_circles_with_two_sevenths_of_its_rate() -> None:
    spin, speed = 2.0, 0.3
    model = Multibody("turntable")
    table = model.body("table", mass=1.0, inertia=(1e9, 1e9, 1e9))
    model.joint("pin", child=table, u=spin)
    ball = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    rate = 2.0 / 7.0 * spin
    start = np.array([0.2, 0.0])
    u = [(spin * start[0] - speed) / 0.1, 0, 0, 0, speed, 0]  # it rolls: v + w x (-r z) = spin z x position
    model.joint("free", child=ball, q=[1, 0, 0, 0, *start, 0.1 - hertz_depth(GRAVITY, 1e9, 0.1)], u=u)
    model.collisions(
        "scene", {"table": shapes.HalfSpace(), "ball": shapes.Sphere(0.1)}, stiffness=1e9, restitution=0.3,
        friction=1.0,
    )  # fmt: skip
    result = model.simulate(until=6.0, accuracy=1e-6, output_interval=0.05)
    t = result.time
    center = start - np.array([speed / rate, 0.0])
    exact = center[:, None] + speed / rate * np.array([np.cos(rate * t), np.sin(rate * t)])
    path = np.array([result["ball.x"], result["ball.y"]])
    assert abs(path - exact).max() < 2e-4 * speed / rate


def test_a_tower_of_balls_comes_to_rest_and_its_energy_is_balanced() -> None:
    result = balls([(0, 0, 0.1 + 0.25 * i) for i in range(3)], [0.1] * 3, restitution=0.3).simulate(
        until=1.5, accuracy=1e-5
    )
    loads = GRAVITY * np.array([3.0, 2.0, 1.0])
    radii = (0.1, 0.05, 0.05)  # two balls touch as one of half the radius touches a plane
    depths = [hertz_depth(load, 1e7, radius) for load, radius in zip(loads, radii, strict=True)]
    rest = np.array([0.1, 0.3, 0.5]) - np.cumsum(depths)
    np.testing.assert_allclose([result[f"ball{i}.z"][-1] for i in range(3)], rest, atol=1e-6)
    assert abs(result["energy.residual"]).max() < 1e-5


@pytest.mark.parametrize("count", [1, 5])
def test_friction_without_sliding_costs_no_steps(count: int) -> None:
    """Balls that fall vertically take the same steps with friction: no event is located for it."""
    costs = []
    for friction in (0.0, 0.5):
        places = [(0.3 * i, 0.0, 0.3 + 0.2 * i / count) for i in range(count)]
        model = balls(places, [0.1] * count, friction=friction)
        statistics = model.simulate(
            until=1.0, accuracy=1e-4, integrator="integrators.dormand_prince"
        ).statistics
        costs.append((statistics["steps"], statistics["evaluations"]))
    assert costs[0] == costs[1]


def test_a_cradle_passes_the_speed_to_its_last_ball() -> None:
    model = balls([(0.2005 * i, 0, 0) for i in range(5)], [0.1] * 5, [[0, 0, 0, 1.0 - i, 0, 0] if i < 2 else
                  (0,) * 6 for i in range(5)], {}, restitution=1.0, stiffness=1e9)  # fmt: skip
    model.gravity = (0, 0, 0)
    result = model.simulate(until=0.01, accuracy=1e-8)
    np.testing.assert_allclose([result[f"ball{i}.vx"][-1] for i in range(5)], [0, 0, 0, 0, 1], atol=1e-5)


@pytest.mark.parametrize("integrator", ["radau5", pytest.param("bdf", marks=pytest.mark.thorough)])
def test_implicit_methods_have_jacobians_of_collisions(integrator: str) -> None:
    """The forces depend on the poses of all balls."""
    places = [(0.18 * i, 0.02 * i, 0.0998 + 0.01 * i) for i in range(4)]
    system = balls(places, [0.1] * 4, friction=0.4, stiffness=1e5).build()
    heights, steps = [], []
    for method in ("dormand_prince", integrator):
        simulator = cosim.Simulator(system, integrator=f"integrators.{method}", accuracy=1e-8)
        simulator.advance_to(0.02)
        heights.append([simulator.state[f"ball{i}.{axis}"] for i in range(4) for axis in "xyz"])
        steps.append(simulator.statistics.steps)
    np.testing.assert_allclose(heights[1], heights[0], atol=1e-6)
    assert steps[1] < 20 * steps[0]


def test_a_resumed_run_has_the_same_bytes() -> None:
    places = [(0.1 * i, 0, 0.0799 + 0.16 * (i % 2)) for i in range(8)]
    system = balls(places, [0.08] * 8, friction=0.4).build()
    uninterrupted = cosim.Simulator(system, integrator="integrators.runge_kutta_4", fixed_step=1e-4)
    uninterrupted.advance_to(0.05)
    assert uninterrupted.state["scene.contacts"] > 0
    saved = uninterrupted.state.to_bytes()
    uninterrupted.advance_to(0.1)
    resumed = cosim.Simulator(
        system, system.state_from_bytes(saved), integrator="integrators.runge_kutta_4", fixed_step=1e-4
    )
    resumed.advance_to(0.1)
    assert resumed.state.to_bytes() == uninterrupted.state.to_bytes()


def test_a_change_of_the_last_body_reaches_the_contacts() -> None:
    """Contacts depend on all bodies, so they are evaluated again."""
    system = balls([(0, 0, 1), (1, 0, 1), (2, 0, 1)], [0.1] * 3).build()
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    assert state["scene.contacts"] == 0
    state["ball2_joint.q"] = [1, 0, 0, 0, 1.19, 0, 1]
    state.realize(cosim.Stage.ACCELERATION)
    assert state["scene.contacts"] == 1
    assert state["ball1.ax"] < 0.0 < state["ball2.ax"]
