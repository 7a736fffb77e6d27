"""Contacts of bodies with each other: capsules and spheres, boxes, vertices of meshes, stacks."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody, box_corners, capsule_ends, hull_vertices, shapes
from cosim_mechanics.forces.capsule_contact import closest_places

STEEL = 1e9


def balls(
    places: list[float], speeds: list[float], mass: list[float] | None = None, **values: Any
) -> Multibody:
    """Return balls of 0.1 m on a line, each with contacts to its neighbours."""
    model = Multibody("balls", gravity=(0, 0, 0))
    for i, (x, v) in enumerate(zip(places, speeds, strict=True)):
        ball = model.body(f"ball{i}", mass=mass[i] if mass else 1.0, inertia=(0.004,) * 3)
        model.joint("free", child=ball, q=[1, 0, 0, 0, x, 0, 0], u=[0, 0, 0, v, 0, 0])
        if i:
            model.add(
                "mechanics.capsule_contact", f"contact{i}", body1=f"ball{i - 1}", body2=ball, radius1=0.1,
                radius2=0.1, stiffness=STEEL, **values,
            )  # fmt: skip
    return model


def test_closest_places_of_two_segments() -> None:
    random = np.random.default_rng(5)
    grid = np.linspace(-1.0, 1.0, 81)
    for case in range(300):
        p1, d1, p2, d2 = random.normal(size=(4, 3))
        if case % 3 == 1:  # parallel segments, and points
            d2 = d1 * random.normal()
        if case % 5 == 1:
            d1 = np.zeros(3)
        if case % 7 == 1:
            d2 = np.zeros(3)
        s, t = closest_places(*(tuple(v.tolist()) for v in (p1, d1, p2, d2)))
        assert abs(s) <= 1.0 and abs(t) <= 1.0
        distance = np.linalg.norm(p2 + t * d2 - p1 - s * d1)
        between = (p2 - p1) + grid[:, None, None] * d2 - grid[None, :, None] * d1
        assert distance <= np.linalg.norm(between, axis=-1).min() + 1e-12


def test_closest_places_of_parallel_segments_are_in_the_middle_of_the_overlap() -> None:
    assert closest_places((0, 0, 0), (1, 0, 0), (1, 0, 1), (1, 0, 0)) == (0.5, -0.5)
    assert closest_places((0, 0, 0), (1, 0, 0), (0, 0, 1), (-1, 0, 0)) == (0.0, 0.0)


def test_the_force_between_spheres_is_that_of_hertz() -> None:
    depth = 1e-4
    state = balls([0.0, 0.2 - depth], [0.0, 0.0]).build().default_state().realize(cosim.Stage.DYNAMICS)
    force = 4.0 / 3.0 * STEEL * math.sqrt(0.05) * depth**1.5
    assert state["contact1.normal_force"] == pytest.approx(force, rel=1e-9)
    np.testing.assert_allclose(state["ball1.F_GB"], [0, 0, 0, force, 0, 0], atol=1e-9 * force)
    np.testing.assert_allclose(state["ball0.F_GB"], [0, 0, 0, -force, 0, 0], atol=1e-9 * force)


@pytest.mark.parametrize("restitution", [1.0, 0.6])
def test_speeds_after_an_impact_follow_from_momentum_and_restitution(restitution: float) -> None:
    result = balls([0.0, 0.21], [1.0, 0.0], [1.0, 3.0], restitution=restitution).simulate(
        until=0.03, accuracy=1e-8
    )
    mean = 1.0 / 4.0
    assert result["ball0.vx"][-1] == pytest.approx(mean - restitution * 0.75, rel=1e-5)
    assert result["ball1.vx"][-1] == pytest.approx(mean + restitution * 0.25, rel=1e-5)


def test_a_cradle_with_gaps_passes_the_speed_to_its_last_ball() -> None:
    result = balls([0.2005 * i for i in range(5)], [1.0, 0, 0, 0, 0]).simulate(until=0.01, accuracy=1e-8)
    speeds = [result[f"ball{i}.vx"][-1] for i in range(5)]
    np.testing.assert_allclose(speeds, [0, 0, 0, 0, 1], atol=1e-5)


def test_a_cradle_of_touching_balls_moves_by_the_law_of_hertz() -> None:
    result = balls([0.2 * i for i in range(5)], [1.0, 0, 0, 0, 0]).simulate(until=0.01, accuracy=1e-9)
    speeds = np.array([result[f"ball{i}.vx"][-1] for i in range(5)])
    # a chain of equal masses with forces x^(3/2), by the leapfrog method
    x, v, k = np.zeros(5), np.array([1.0, 0, 0, 0, 0]), 4.0 / 3.0 * STEEL * math.sqrt(0.05)
    h = 5e-7
    for _ in range(20_000):
        x = x + 0.5 * h * v
        push = k * np.maximum(x[:-1] - x[1:], 0.0) ** 1.5
        v = v + h * (np.append(0.0, push) - np.append(push, 0.0))
        x = x + 0.5 * h * v
    np.testing.assert_allclose(speeds, v, atol=2e-5)
    assert speeds.sum() == pytest.approx(1.0, abs=1e-10)
    assert (speeds**2).sum() == pytest.approx(1.0, abs=1e-7)


def test_a_box_lands_slides_and_stays() -> None:
    model = Multibody("box")
    box = model.body("box", mass=2.0, inertia=(0.02, 0.02, 0.02))
    model.joint("free", child=box, q=[1, 0, 0, 0, 0, 0, 0.1], u=[0, 0, 0, 1.0, 0, 0])
    points = box_corners((0.3, 0.3, 0.2), 0.01)
    model.contacts(
        "floor", "ground", box, points, 0.01,
        stiffness=1e8, restitution=0.3, static_friction=0.4, dynamic_friction=0.4,
    )  # fmt: skip
    result = model.simulate(until=0.6, accuracy=1e-5)
    assert result["box.x"][-1] == pytest.approx(1.0 / (2 * 0.4 * 9.81), rel=2e-3)
    assert abs(result["box.vx"][-1]) < 1e-6
    depth = (3 * 2 * 9.81 / 4 / (4 * 1e8 * math.sqrt(0.01))) ** (2 / 3)
    assert result["box.z"][-1] == pytest.approx(0.1 - depth, abs=0.01 * depth)
    assert abs(result["energy.residual"]).max() < 1e-5


def test_capsules_and_meshes_touch_with_their_ends_and_vertices() -> None:
    assert capsule_ends((0, 0, 0.2), {"position": (0, 0, 1.0)}) == [(0, 0, 0.8), (0, 0, 1.2)]
    corners = np.array([(x, y, z) for x in (0, 1) for y in (0, 1) for z in (0, 1)], dtype=float)
    inner = np.vstack([corners, [[0.5, 0.5, 0.5]]])
    np.testing.assert_array_equal(np.sort(hull_vertices(inner), axis=0), np.sort(corners, axis=0))
    for points in (
        [(0, 0, 0), (1, 0, 0), (0, 1, 0)],
        [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)],
        [1, 2, 3],
    ):
        with pytest.raises(cosim.ModelError, match="vertices"):
            hull_vertices(points)


@pytest.mark.parametrize(("size", "radius"), [((1, 1), 0.1), ((1, 1, 0.1), 0.06), ((1, 1, 1), 0.0)])
def test_a_box_that_cannot_be_rounded_is_refused(size: Any, radius: float) -> None:
    with pytest.raises(cosim.ModelError, match="size|radius"):
        box_corners(size, radius)


def test_centres_that_meet_are_an_error() -> None:
    with pytest.raises(cosim.SimulationError, match="contact meet"):
        balls([0.0, 0.0], [0.0, 0.0]).build().default_state().realize(cosim.Stage.POSITION)


@pytest.mark.thorough
def test_a_stack_of_ten_boxes_stands_for_100_s() -> None:
    side, height, rounding, modulus = 0.3, 0.2, 0.01, 1e7
    model, below, top, rest = Multibody("stack"), "ground", 0.0, []
    for i in range(10):
        load = 9.81 * (10 - i) / 4
        depth = (3.0 * load / (4.0 * modulus * math.sqrt(rounding))) ** (2.0 / 3.0)
        rest.append(top + height / 2 - depth)
        box = model.body(f"box{i}", mass=1.0, inertia=((side**2 + height**2) / 12,) * 2 + (side**2 / 6,))
        place = [0.002 * (-1) ** i, 0.0, rest[-1] + 1e-4 * (i + 1)]
        model.joint("free", child=box, q=[1, 0, 0, 0, *place])
        model.shape_contacts(
            f"on{i}", below, shapes.HalfSpace((0, 0, height / 2 if i else 0)), box,
            shapes.Box((side, side, height), rounding), stiffness=modulus, restitution=0.3,
            static_friction=0.5, dynamic_friction=0.5,
        )  # fmt: skip
        below, top = box, rest[-1] + height / 2
    result = model.simulate(until=100.0, accuracy=1e-3, integrator="integrators.radau5", output_interval=1.0)
    for i in range(10):
        assert result[f"box{i}.z"][-1] == pytest.approx(rest[i], abs=1e-6)
        assert result[f"box{i}.x"][-1] == pytest.approx(0.002 * (-1) ** i, abs=2e-4)
        assert np.ptp(result[f"box{i}.x"][-20:]) < 1e-8
        assert abs(result[f"box{i}.vx"][-1]) < 1e-10
        regimes = [result[f"on{i}_{corner}.regime"][-1] for corner in range(1, 9)]
        assert sorted(regimes) == [0, 0, 0, 0, 1, 1, 1, 1]  # the lower corners stick
