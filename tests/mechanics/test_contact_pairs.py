"""Contacts of bodies with each other: spheres, capsules, boxes, meshes."""

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
    """Balls of 0.1 m on a line, each in contact with its neighbours."""
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


def test_places_are_the_closest_of_all() -> None:
    random = np.random.default_rng(5)
    grid = np.linspace(-1.0, 1.0, 81)
    for case in range(300):
        p1, d1, p2, d2 = random.normal(size=(4, 3))
        if case % 3 == 1:
            d2 = d1 * random.normal()
        if case % 5 == 1:
            d1 = np.zeros(3)
        if case % 7 == 1:
            d2 = np.zeros(3)
        s, t = closest_places(*(tuple(v.tolist()) for v in (p1, d1, p2, d2)))
        assert abs(s) <= 1.0 and abs(t) <= 1.0
        found = np.linalg.norm(p2 + t * d2 - p1 - s * d1)
        between = (p2 - p1) + grid[:, None, None] * d2 - grid[None, :, None] * d1
        assert found <= np.linalg.norm(between, axis=-1).min() + 1e-12


def test_parallel_places_are_in_the_middle_of_what_lies_side_by_side() -> None:
    assert closest_places((0, 0, 0), (1, 0, 0), (1, 0, 1), (1, 0, 0)) == (0.5, -0.5)
    assert closest_places((0, 0, 0), (1, 0, 0), (0, 0, 1), (-1, 0, 0)) == (0.0, 0.0)


def test_spheres_press_each_other_as_hertz_says() -> None:
    depth = 1e-4
    state = balls([0.0, 0.2 - depth], [0.0, 0.0]).build().default_state().realize(cosim.Stage.DYNAMICS)
    force = 4.0 / 3.0 * STEEL * math.sqrt(0.05) * depth**1.5
    assert state["contact1.normal_force"] == pytest.approx(force, rel=1e-9)
    np.testing.assert_allclose(state["ball1.F_GB"], [0, 0, 0, force, 0, 0], atol=1e-9 * force)
    np.testing.assert_allclose(state["ball0.F_GB"], [0, 0, 0, -force, 0, 0], atol=1e-9 * force)


@pytest.mark.parametrize("restitution", [1.0, 0.6])
def test_two_balls_of_unlike_mass_part_as_momentum_and_restitution_say(restitution: float) -> None:
    result = balls([0.0, 0.21], [1.0, 0.0], [1.0, 3.0], restitution=restitution).simulate(
        until=0.03, accuracy=1e-8
    )
    mean = 1.0 / 4.0
    assert result["ball0.vx"][-1] == pytest.approx(mean - restitution * 0.75, rel=1e-5)
    assert result["ball1.vx"][-1] == pytest.approx(mean + restitution * 0.25, rel=1e-5)


def test_a_cradle_of_five_balls_with_gaps_hands_the_speed_on() -> None:
    result = balls([0.2005 * i for i in range(5)], [1.0, 0, 0, 0, 0]).simulate(until=0.01, accuracy=1e-8)
    speeds = [result[f"ball{i}.vx"][-1] for i in range(5)]
    np.testing.assert_allclose(speeds, [0, 0, 0, 0, 1], atol=1e-5)


def test_a_cradle_of_five_touching_balls_is_that_of_hertz() -> None:
    result = balls([0.2 * i for i in range(5)], [1.0, 0, 0, 0, 0]).simulate(until=0.01, accuracy=1e-9)
    speeds = np.array([result[f"ball{i}.vx"][-1] for i in range(5)])
    # A chain of equal masses and forces x^(3/2), integrated by itself.
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
    for wrong in ([(0, 0, 0), (1, 0, 0), (0, 1, 0)], [(0, 0, 0), (1, 0, 0), (0, 1, 0), (1, 1, 0)], [1, 2, 3]):
        with pytest.raises(cosim.ModelError, match="vertices"):
            hull_vertices(wrong)


@pytest.mark.parametrize(("size", "radius"), [((1, 1), 0.1), ((1, 1, 0.1), 0.06), ((1, 1, 1), 0.0)])
def test_a_box_that_cannot_be_rounded_is_refused(size: Any, radius: float) -> None:
    with pytest.raises(cosim.ModelError, match="size|radius"):
        box_corners(size, radius)


HALF = math.sqrt(0.5)
LEVEL: Any = (1, 0, 0, 0)
ALONG_X: Any = (HALF, 0, HALF, 0)  # the axis of a rod, z at first
ALONG_Y: Any = (HALF, HALF, 0, 0)
BOX, DRUM = shapes.Box((0.6, 0.4, 0.2)), shapes.Cylinder(0.2, 0.3)
TETRAHEDRON = shapes.ConvexMesh([(0, 0, 0), (0.4, 0, 0), (0, 0.3, 0), (0, 0, 0.25)])
BALL, ROD = shapes.Sphere(0.1), shapes.Capsule(0.05, (0, 0, 0.3))
ROUND_BOX, ROUND_DRUM = shapes.Box((0.6, 0.4, 0.2), 0.02), shapes.Cylinder(0.2, 0.3, 0.02)
OUT, CORNER = 0.05 * HALF, 0.05 / math.sqrt(3.0)


@pytest.mark.few(8)
@pytest.mark.parametrize(
    ("first", "second", "turn", "place", "depths", "normal"),
    [
        (BALL, BALL, LEVEL, (0.15, 0, 0), [0.05], (1, 0, 0)),
        (BALL, BALL, LEVEL, (0, 0, 0.2), [0.0], (0, 0, 1)),
        (BALL, ROD, LEVEL, (0.12, 0, 0), [0.03], (1, 0, 0)),
        (BALL, ROD, LEVEL, (0.12, 0, 0.3), [0.03], (1, 0, 0)),  # beside the end of the segment
        (BALL, ROD, LEVEL, (0, 0, 0.4), [0.05], (0, 0, 1)),
        (ROD, ROD, LEVEL, (0.08, 0, 0), [0.02], (1, 0, 0)),  # parallel
        (ROD, ROD, LEVEL, (0.08, 0, 0.6), [0.02], (1, 0, 0)),  # parallel, end beside end
        (ROD, ROD, LEVEL, (0, 0, 0.67), [0.03], (0, 0, 1)),  # one behind the other
        (ROD, ROD, ALONG_Y, (0.08, 0, 0), [0.02], (1, 0, 0)),  # crossed
        (ROD, ROD, ALONG_Y, (0, 0.37, 0), [0.03], (0, 1, 0)),  # an end on a side
        (BOX, BALL, LEVEL, (0.1, 0.05, 0.18), [0.02], (0, 0, 1)),
        (BOX, BALL, LEVEL, (0, 0, 0.2), [0.0], (0, 0, 1)),
        (BOX, BALL, LEVEL, (0.3 + OUT, 0, 0.1 + OUT), [0.05], (HALF, 0, HALF)),
        (BOX, BALL, LEVEL, (0.3 + CORNER, 0.2 + CORNER, 0.1 + CORNER), [0.05], (3**-0.5,) * 3),
        (BOX, BALL, LEVEL, (0.3, 0.2, 0.15), [0.05], (0, 0, 1)),  # exactly above a vertex
        (BOX, BALL, LEVEL, (0.3, 0.2, 0.1), [0.1], (1, 0, 0)),  # the centre in a vertex
        (BOX, BALL, LEVEL, (0, 0, 0), [0.2], (0, 0, 1)),  # concentric: the nearest face
        (BOX, ROD, ALONG_X, (0, 0, 0.14), [0.01], (0, 0, 1)),  # side on face
        (BOX, ROD, LEVEL, (0, 0, 0.44), [0.01 - 2.5e-5], (0, 0, 1)),  # an end, thinner by its crown
        (BOX, ROD, LEVEL, (0.33, 0, 0), [0.02], (1, 0, 0)),
        (BOX, ROD, ALONG_Y, (0.3 + OUT / 2, 0, 0.1 + OUT / 2), [0.025], (HALF, 0, HALF)),  # edge along side
        (BOX, ROD, (math.cos(math.pi / 8), 0, -math.sin(math.pi / 8), 0), (0.3 + OUT / 2, 0, 0.1 + OUT / 2),
         [0.025], (HALF, 0, HALF)),  # edge across side
        (DRUM, BALL, LEVEL, (0, 0, 0.24), [0.01], (0, 0, 1)),
        (DRUM, BALL, LEVEL, (0.28, 0, 0), [0.02], (1, 0, 0)),
        (DRUM, BALL, LEVEL, (0.2 + OUT, 0, 0.15 + OUT), [0.05], (HALF, 0, HALF)),
        (DRUM, BALL, LEVEL, (0.2, 0, 0.25), [0.0], (0, 0, 1)),  # exactly above the rim
        (DRUM, ROD, LEVEL, (0.24, 0, 0), [0.01], (1, 0, 0)),  # parallel
        (DRUM, ROD, ALONG_Y, (0.24, 0, 0), [0.01], (1, 0, 0)),  # crossed
        (DRUM, ROD, ALONG_X, (0, 0, 0.19), [0.01], (0, 0, 1)),
        (TETRAHEDRON, BALL, LEVEL, (-0.05, 0.1, 0.1), [0.05], (-1, 0, 0)),
        (TETRAHEDRON, BALL, LEVEL, (-OUT, -OUT, 0.1), [0.05], (-HALF, -HALF, 0)),
        (TETRAHEDRON, BALL, LEVEL, (-CORNER,) * 3, [0.05], (-(3**-0.5),) * 3),
        (TETRAHEDRON, BALL, LEVEL, (0, 0, -0.1), [0.0], (0, 0, -1)),  # exactly below a vertex
        (TETRAHEDRON, ROD, ALONG_X, (0.1, 0.1, -0.04), [0.01], (0, 0, -1)),
        (shapes.HalfSpace(), BALL, LEVEL, (0, 0, 0.09), [0.01], (0, 0, 1)),
        (shapes.HalfSpace(), BALL, LEVEL, (0, 0, 0.1), [0.0], (0, 0, 1)),
        (shapes.HalfSpace(), ROD, ALONG_X, (0, 0, 0.04), [0.01] * 2, (0, 0, 1)),
        (shapes.HalfSpace(), ROD, LEVEL, (0, 0, 0.34), [0.01, -0.59], (0, 0, 1)),
        (shapes.HalfSpace(), ROUND_BOX, LEVEL, (0, 0, 0.095), [0.005] * 4 + [-0.155] * 4, (0, 0, 1)),
        (shapes.HalfSpace(), ROUND_BOX, LEVEL, (0, 0, 0.1), [0.0] * 4 + [-0.16] * 4, (0, 0, 1)),
        (shapes.HalfSpace(), ROUND_DRUM, LEVEL, (0, 0, 0.145), [0.005] * 2 + [-0.255] * 2, (0, 0, 1)),
        (shapes.HalfSpace(), ROUND_DRUM, ALONG_X, (0, 0, 0.19), [0.01] * 2 + [-0.35] * 2, (0, 0, 1)),
    ],
)  # fmt: skip
def test_shapes_in_exact_positions_touch_as_deep_as_geometry_says(
    first: Any, second: Any, turn: Any, place: Any, depths: list[float], normal: Any
) -> None:
    model = Multibody("pair", gravity=(0, 0, 0))
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.joint("free", child=body, q=[*turn, *place])
    parts = model.shape_contacts("touch", "ground", first, body, second, stiffness=1e6)
    state = model.build().default_state().realize(cosim.Stage.DYNAMICS)
    found = sorted((float(state[f"{part.name}.depth"]) for part in parts), reverse=True)
    np.testing.assert_allclose(found, depths, rtol=0, atol=2e-16)
    for part in parts:
        depth, radius = state[f"{part.name}.depth"], state[f"{part.name}.curvature_radius"]
        np.testing.assert_allclose(state[f"{part.name}.normal"], normal, atol=1e-12)
        push = 4e6 / 3.0 * math.sqrt(radius) * max(depth, 0.0) ** 1.5
        assert state[f"{part.name}.normal_force"] == pytest.approx(push, rel=1e-12)


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
