"""Contacts of boxes, cylinders, meshes and rims: distances, rest, tipping, rolling; shapes of a plugin."""

from __future__ import annotations

import math
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from contact_formulas import GRAVITY, hertz_depth

import cosim
from cosim_mechanics import ConvexContact, Multibody, Shape, capsule_on, hull_triangles, shapes
from cosim_mechanics.forces.box_contact import outside_box
from cosim_mechanics.forces.cylinder_contact import outside_cylinder
from cosim_mechanics.forces.mesh_contact import outside_mesh
from cosim_mechanics.spatial import norm, scaled

MODULUS = 1e8
LAW = {"stiffness": MODULUS, "restitution": 0.3, "static_friction": 0.6, "dynamic_friction": 0.6}
CORNERS = [(x, y, z) for x in (-0.3, 0.3) for y in (-0.2, 0.2) for z in (-0.1, 0.1)]


def places(count: int) -> list[tuple[float, float, float]]:
    """Return points around the origin, some of them on axes and faces."""
    random = np.random.default_rng(3)
    points = random.uniform(-0.5, 0.5, (count, 3))
    points[::5, 0] = 0.0
    points[::7, 2] = 0.1
    return [(float(x), float(y), float(z)) for x, y, z in points]


def cylinder_on_slope(
    slope: float, u: Any = (0,) * 6, lies: bool = False, friction: float = 0.6
) -> Multibody:
    """Return a cylinder of 1 kg that stands or lies on a slope along x.

    Its radius is 0.1 m, its length 0.4 m, its edges are rounded by 5 mm.
    """
    model = Multibody("cylinder", gravity=(GRAVITY * math.sin(slope), 0, -GRAVITY * math.cos(slope)))
    side = (0.1**2 / 4 + 0.4**2 / 12,) * 2
    drum = model.body("drum", mass=1.0, inertia=(*side, 0.1**2 / 2))
    height = 0.1 if lies else 0.2
    turn = [math.sqrt(0.5), math.sqrt(0.5), 0, 0] if lies else [1, 0, 0, 0]
    model.joint("free", child=drum, q=[*turn, 0, 0, height - hertz_depth(GRAVITY / 2, MODULUS, 0.005)], u=u)
    model.shape_contacts(
        "floor", drum, shapes.Cylinder(0.1, 0.4, 0.005), "ground", shapes.HalfSpace(),
        **{**LAW, "static_friction": friction, "dynamic_friction": friction},
    )  # fmt: skip
    return model


def outside_disc(s: Any, p: Any) -> tuple[float, tuple[float, float, float]]:
    """Return the distance of a point from a flat disc about the z axis, and the direction away from it."""
    axis_distance = math.sqrt(p[0] * p[0] + p[1] * p[1])
    share = min(1.0, s.disc_radius / axis_distance) if axis_distance > 0.0 else 1.0
    offset = (p[0] * (1.0 - share), p[1] * (1.0 - share), p[2])
    distance = norm(offset)
    return distance, scaled(1.0 / distance, offset) if distance > 0.0 else (0.0, 0.0, 1.0)


class DiscContact(ConvexContact):
    """Contact of a disc, as a plugin would add it. Law: that of `ConvexContact`."""

    disc_radius = cosim.parameter(unit="m", above=0.0)
    place = capsule_on(outside_disc)


class Disc(Shape):
    """A disc as a shape."""

    def under_capsule(self) -> Any:
        return [(DiscContact, {"disc_radius": 0.3, "radius1": 0.02})]


def test_distances_from_a_box_are_those_from_the_mesh_of_its_corners() -> None:
    box = SimpleNamespace(size=(0.6, 0.4, 0.2), radius1=0.0)
    mesh = SimpleNamespace(triangles=hull_triangles(CORNERS).ravel().tolist())
    outside = 0
    for p in places(400):
        distance, direction = outside_box(box, p)
        mesh_distance, mesh_direction = outside_mesh(mesh, p)
        assert mesh_distance == pytest.approx(distance, abs=1e-14)
        if distance > 1e-9:
            outside += 1
            np.testing.assert_allclose(mesh_direction, direction, atol=1e-12)
    assert 200 < outside < 400


def test_distances_from_a_cylinder_are_those_from_a_fine_mesh() -> None:
    angles = np.linspace(0.0, 2.0 * np.pi, 257)[:-1]
    rim = [(0.2 * math.cos(a), 0.2 * math.sin(a), z) for a in angles for z in (-0.15, 0.15)]
    mesh = SimpleNamespace(triangles=hull_triangles(rim).ravel().tolist())
    cylinder = SimpleNamespace(cylinder_radius=0.2, length=0.3, radius1=0.0)
    for p in places(60):
        distance, direction = outside_cylinder(cylinder, p)
        # the mesh lies inside by up to 0.2 m (1 - cos(pi / 256))
        assert outside_mesh(mesh, p)[0] == pytest.approx(distance, abs=1.6e-5)
        assert norm(direction) == pytest.approx(1.0, abs=1e-15)


@pytest.mark.few(1)
@pytest.mark.parametrize("shape", ["box", "cylinder"])
def test_a_capsule_touches_at_its_nearest_place(shape: str) -> None:
    solid: Any = (
        shapes.Box((0.6, 0.4, 0.2), 0.02) if shape == "box" else shapes.Cylinder(0.2, 0.3, rounding=0.02)
    )
    distance_from = outside_box if shape == "box" else outside_cylinder
    values = SimpleNamespace(size=(0.6, 0.4, 0.2), cylinder_radius=0.2, length=0.3, radius1=0.02)
    model = Multibody("pair", gravity=(0, 0, 0))
    rod = model.body("rod", mass=1.0, inertia=(1, 1, 1))
    model.joint("free", child=rod)
    model.shape_contacts("pair", "ground", solid, rod, shapes.Capsule(0.05, (0.3, 0, 0)), **LAW)
    state = model.build().default_state()
    grid, compared = np.linspace(-1.0, 1.0, 2001), 0
    random = np.random.default_rng(7)
    for place in random.uniform(-0.45, 0.45, (40, 3)):
        turn = random.normal(size=4)
        state["rod_joint.q"] = [*(turn / np.linalg.norm(turn)), *place]
        state.realize(cosim.Stage.POSITION)
        depth, axis = state["pair.depth"], np.asarray(state["rod.X_GB"])[[0, 3, 6]] * 0.3
        distances = np.array([distance_from(values, tuple((place + s * axis).tolist()))[0] for s in grid])
        if distances.min() < 1e-3:  # the axis of the capsule is inside or too near
            assert math.isnan(depth) or distances.min() > 0.0
            continue
        compared += 1
        # capsules have a crown: they are thinner at their ends by 1e-3 radius / 2
        largest_depth = 0.02 + 0.05 - (distances + 0.5 * 1e-3 * 0.05 * grid**2).min()
        assert largest_depth - 1e-15 <= depth <= largest_depth + 1e-6  # of the grid
    assert compared > 15


@pytest.mark.parametrize("shape", ["box", "cylinder", "mesh"])
def test_a_ball_rests_on_a_shape_at_the_depth_of_hertz(shape: str) -> None:
    table: Any = {
        "box": shapes.Box((0.6, 0.4, 0.2)),
        "cylinder": shapes.Cylinder(0.2, 0.2),
        "mesh": shapes.ConvexMesh(CORNERS),
    }[shape]
    model = Multibody("table")
    ball = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    model.joint("free", child=ball, q=[1, 0, 0, 0, 0.05, 0.02, 0.21])
    model.shape_contacts("table", ball, shapes.Sphere(0.1), "ground", table, **LAW)
    result = model.simulate(until=0.4, accuracy=1e-5)
    assert 0.2 - result["ball.z"][-1] == pytest.approx(hertz_depth(GRAVITY, MODULUS, 0.1), rel=1e-3)
    assert abs(result["energy.residual"]).max() < 1e-6


def test_a_capsule_lies_level_on_a_box_and_stays() -> None:
    model = Multibody("rod")
    rod = model.body("rod", mass=1.0, inertia=(0.002, 0.02, 0.02))
    tilt = 2e-3
    model.joint("free", child=rod, q=[math.cos(tilt / 2), 0, math.sin(tilt / 2), 0, 0, 0, 0.1501])
    model.shape_contacts(
        "rest", "ground", shapes.Box((1, 1, 0.2)), rod, shapes.Capsule(0.05, (0.2, 0, 0)), **LAW
    )
    result = model.simulate(until=2.0, accuracy=1e-6)
    # it rocks on its crown, whose radius is 0.2^2 / (0.001 0.05) m, and does not tilt more than at the start
    tilts = 2.0 * np.abs(np.array(result["rod_joint.q[2]"]))
    assert tilts.max() < 1.01 * tilt
    assert tilts.min() < 0.1 * tilt
    assert np.ptp(result["rod.x"]) < 1e-3
    assert abs(result["energy.residual"]).max() < 1e-6


def test_a_cylinder_stands_at_the_depth_of_hertz() -> None:
    result = cylinder_on_slope(0.0).simulate(until=0.5, accuracy=1e-5)
    assert 0.2 - result["drum.z"][-1] == pytest.approx(hertz_depth(GRAVITY / 2, MODULUS, 0.005), rel=1e-3)
    assert abs(result["drum_joint.q[0]"][-1]) == pytest.approx(1.0, abs=1e-12)


@pytest.mark.parametrize(("share", "tips"), [(0.93, False), (1.07, True)])
def test_a_cylinder_tips_if_its_weight_points_outside_its_rim(share: float, tips: bool) -> None:
    slope = math.atan(share * 0.095 / 0.2)
    result = cylinder_on_slope(slope).simulate(until=1.0, accuracy=1e-5)
    upright = 1.0 - 2.0 * (result["drum_joint.q[1]"] ** 2 + result["drum_joint.q[2]"] ** 2)
    assert bool(upright[-1] < 0.98) is tips
    if not tips:
        assert upright.min() > 1.0 - 1e-5
        assert np.ptp(result["drum.x"][result.time > 0.5]) < 1e-6


def test_a_cylinder_on_its_side_slides_until_it_rolls() -> None:
    speed, friction = 1.5, 0.3
    result = cylinder_on_slope(0.0, [0, 0, 0, speed, 0, 0], True, friction).simulate(until=0.4, accuracy=1e-6)
    assert result["drum.vx"][-1] == pytest.approx(2.0 / 3.0 * speed, rel=1e-3)
    assert result["drum.wy"][-1] * 0.1 == pytest.approx(2.0 / 3.0 * speed, rel=1e-3)
    sticks = [e.time for e in result.events if e.after.get("floor_1.regime") == 1]
    assert sticks[-1] == pytest.approx(speed / (3.0 * friction * GRAVITY), rel=2e-3)


def test_a_spinning_upright_cylinder_stops_by_the_friction_of_its_rim() -> None:
    spin, friction = 5.0, 0.5
    result = cylinder_on_slope(0.0, [0, 0, spin, 0, 0, 0], friction=friction).simulate(
        until=0.2, accuracy=1e-6
    )
    deceleration = friction * GRAVITY * 0.095 / (0.1**2 / 2)
    spinning = result.time < 0.9 * spin / deceleration
    np.testing.assert_allclose(
        result["drum.wz"][spinning], spin - deceleration * result.time[spinning], rtol=2e-3
    )
    assert abs(result["drum.wz"][-1]) < 1e-4
    assert abs(result["energy.residual"]).max() < 1e-7


def rolling_disc(rounding: float) -> Any:
    """Return the path of a tilted disc of 0.1 m that rolls in a curve; a rounding of 0 is a constraint."""
    tilt, turning, spin = math.radians(70.0), 2.0, -25.0
    model = Multibody("disc")
    disc = model.body("disc", mass=1.0, inertia=(0.0025, 0.0025, 0.005))
    axis = np.array([0.0, math.sin(tilt), math.cos(tilt)])
    down = np.array([0.0, math.cos(tilt), -math.sin(tilt)])
    w = turning * np.array([0.0, 0.0, 1.0]) + spin * axis
    lowest = (0.1 - rounding) * down - rounding * np.array([0.0, 0.0, 1.0])
    depth = 0.0
    if rounding:
        depth = hertz_depth(GRAVITY, 1e10, rounding)
        model.add(
            "mechanics.rim_contact", "floor", body1="ground", body2=disc, rim_radius=0.1 - rounding,
            radius=rounding, stiffness=1e10, restitution=0.3, static_friction=2.0, dynamic_friction=2.0,
        )  # fmt: skip
    else:
        model.constraint("rolling_disc", "floor", body1="ground", body2=disc, axis="z", radius=0.1)
    q = [math.cos(tilt / 2), -math.sin(tilt / 2), 0, 0, 0, 0, -lowest[2] - depth]
    model.joint("free", child=disc, q=q, u=[*w, *-np.cross(w, lowest)])
    result = model.simulate(until=1.0, accuracy=1e-7, output_interval=0.1)
    times = np.linspace(0.0, 1.0, 11)
    return np.array([np.interp(times, result.time, result[f"disc.{axis}"]) for axis in "xy"])


def test_a_disc_with_a_small_rounding_rolls_like_a_constraint() -> None:
    sharp = rolling_disc(0.0)
    assert np.ptp(sharp[0]) > 2.0
    errors = [abs(rolling_disc(rounding) - sharp).max() for rounding in (1e-3, 1e-4)]
    assert errors[1] < 1.2e-3
    assert errors[0] / errors[1] == pytest.approx(10.0, rel=0.1)  # the ratio of the roundings


def test_a_shape_of_a_plugin_carries_a_ball() -> None:
    model = Multibody("plugin")
    ball = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    model.joint("free", child=ball, q=[1, 0, 0, 0, 0.1, 0, 0.125])
    (contact,) = model.shape_contacts("disc", ball, shapes.Sphere(0.1), "ground", Disc(), **LAW)
    assert type(contact) is DiscContact
    result = model.simulate(until=0.4, accuracy=1e-5)
    assert 0.12 - result["ball.z"][-1] == pytest.approx(hertz_depth(GRAVITY, MODULUS, 0.1), rel=1e-3)


@pytest.mark.parametrize(
    ("first", "second", "message"),
    [
        (shapes.Box((1, 1, 1)), shapes.Box((1, 1, 1)), "no contact of Box and Box"),
        (shapes.HalfSpace(), shapes.HalfSpace(), "no contact of HalfSpace and HalfSpace"),
        (Disc(), shapes.HalfSpace(), "no contact of Disc and HalfSpace"),
        (shapes.Box((1, 1, 1)), shapes.HalfSpace(), "radius"),
        (shapes.Cylinder(1.0, 1.0), shapes.HalfSpace(), "rounding is 0"),
        (shapes.Cylinder(0.1, 1.0, 0.1), shapes.HalfSpace(), "rounding is 0.1"),
        (shapes.ConvexMesh(CORNERS), shapes.HalfSpace(), "rounding is 0"),
    ],
)
def test_pairs_of_shapes_without_a_contact_are_refused(first: Any, second: Any, message: str) -> None:
    model = Multibody("refused")
    model.joint("free", child=model.body("body", mass=1.0, inertia=(1, 1, 1)))
    with pytest.raises(cosim.ModelError, match=message):
        model.shape_contacts("pair", "ground", first, "body", second, **LAW)


@pytest.mark.parametrize(
    ("contact", "values", "message"),
    [
        ("mesh_contact", {"triangles": [[0, 0, 0, 1, 0, 0, 0, 1, 0]]}, "at least 4"),
        ("mesh_contact", {"triangles": hull_triangles(CORNERS)[:, [3, 4, 5, 0, 1, 2, 6, 7, 8]]}, "outward"),
        ("mesh_contact", {"triangles": [[0] * 9] * 4}, "no area"),
        ("mesh_contact", {"triangles": [1, 2, 3]}, "triangles"),
        ("box_contact", {"size": (0.1, 1, 1), "radius1": 0.06}, "half its shortest edge"),
        ("cylinder_contact", {"cylinder_radius": 0.1, "length": 0.1, "radius1": 0.06}, "half its length"),
    ],
)
def test_impossible_shapes_are_refused(contact: str, values: Any, message: str) -> None:
    model = Multibody("refused")
    model.joint("free", child=model.body("body", mass=1.0, inertia=(1, 1, 1)), q=[1, 0, 0, 0, 9, 0, 0])
    with pytest.raises(cosim.CosimError, match=message):
        model.add(
            f"mechanics.{contact}", "pair", body1="ground", body2="body", radius2=0.1, stiffness=1e6, **values
        )
        model.simulate(until=0.01)


def test_an_axis_without_length_is_refused() -> None:
    model = Multibody("refused")
    model.joint("free", child=model.body("body", mass=1.0, inertia=(1, 1, 1)))
    values = {"axis_on_body2": (0, 0, 0), "rim_radius": 0.1, "radius": 0.1, "stiffness": 1e6}
    with pytest.raises(cosim.CosimError, match="axis of the rim has no length"):
        model.add("mechanics.rim_contact", "rim", body1="ground", body2="body", **values)
        model.simulate(until=0.01)
