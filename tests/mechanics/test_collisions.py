"""Shapes on bodies: pairs that are found, forces as those of single contacts, friction that holds."""

from __future__ import annotations

import math
import re
from typing import Any

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody, RigidBody, Shape, shapes
from cosim_mechanics.forces.collisions import (
    FAULTS,
    LOW_RESTITUTION,
    MESH_OUTSIDE,
    NOT_A_POSE,
    PAIRS,
    ROOM,
    TOO_FEW_SHAPES,
    WRONG_REACH,
    Collisions,
)
from cosim_mechanics.forces.neighbour_cells import LEVELS, list_pairs, sort_by_size
from cosim_mechanics.forces.solids import HALF_SPACE, MESH
from cosim_mechanics.spatial import IDENTITY

LAW: dict[str, Any] = {"stiffness": 1e7, "restitution": 0.5}
GRAVITY = 9.81


def pairs_of(
    centers: Any, radii: Any, room: int = 12, owners: Any = None
) -> tuple[int, set[tuple[int, int]]]:
    """How many pairs `list_pairs` counts, and those that it writes."""
    count = len(radii)
    pairs = np.full(2 * room * count, -1.0)
    order, levels, per_length = np.zeros(count), np.zeros(count), np.zeros(LEVELS)
    bounded = sort_by_size(np.asarray(radii), order, levels, per_length)
    owners = np.arange(count) if owners is None else owners
    found = list_pairs(
        np.ravel(centers), np.asarray(radii), owners, bounded, order, levels, per_length,
        np.zeros(3 * count), np.zeros(4 * count), np.zeros(count), pairs,
    )  # fmt: skip
    written = pairs[pairs >= 0].astype(int).reshape(-1, 2)
    assert np.all(pairs[2 * len(written) :] == -1.0)
    return found, {(a, b) for a, b in written.tolist()}


def all_pairs(centers: Any, radii: Any) -> set[tuple[int, int]]:
    """The same by looking at all of them."""
    apart = np.linalg.norm(centers[:, None] - centers[None], axis=-1)
    return set(zip(*np.nonzero(np.triu(apart < radii[:, None] + radii[None], 1)), strict=True))


@pytest.mark.parametrize("width", [0.3, 1.0, 30.0])
def test_the_pairs_that_touch_are_found(width: float) -> None:
    random = np.random.default_rng(11)
    sizes = [np.full(150, 0.1), random.uniform(0.01, 0.15, 150), 0.2 * 2.0 ** -random.uniform(0, 20, 150)]
    sizes[2][:3] = 5.0, 1.0, 0.5
    for radii in sizes:
        centers = random.uniform(-width, width, (150, 3))
        found, pairs = pairs_of(centers, radii, 150)
        assert pairs == all_pairs(centers, radii)
        assert found == len(pairs)


def test_shapes_of_one_body_and_half_spaces_are_no_pairs() -> None:
    assert pairs_of(np.zeros((3, 3)), [0.1, 0.2, 0.0], owners=np.array([1, 1, 0])) == (0, set())
    assert pairs_of(np.zeros((3, 3)), [0.1, 0.2, 0.0], owners=np.array([1, 2, 0])) == (1, {(0, 1)})


def test_balls_that_meet_exactly_do_not_touch() -> None:
    assert pairs_of([[0.0, 0, 0], [0.5, 0, 0]], [0.25, 0.25]) == (0, set())
    assert pairs_of([[0.0, 0, 0], [np.nextafter(0.5, 0), 0, 0]], [0.25, 0.25]) == (1, {(0, 1)})
    assert pairs_of([[0.0, 0, 0]], [0.1]) == (0, set())


def test_pairs_without_room_are_counted() -> None:
    assert pairs_of(np.zeros((5, 3)) + np.arange(5)[:, None] * 1e-3, np.full(5, 0.1), 1)[0] == 10


FLOOR = {"ground": shapes.HalfSpace()}


def balls(places: Any, radii: Any, u: Any = None, fixed: Any = None, **law: Any) -> Multibody:
    """Balls of 1 kg at their places, and shapes on Ground: a floor unless others are given."""
    model = Multibody("balls")
    for i, place in enumerate(places):
        ball = model.body(f"ball{i}", mass=1.0, inertia=(0.004,) * 3)
        model.joint("free", child=ball, q=[1, 0, 0, 0, *place], u=(0,) * 6 if u is None else u[i])
    moving = {f"ball{i}": shapes.Sphere(radius) for i, radius in enumerate(radii)}
    model.collisions("scene", {**(FLOOR if fixed is None else fixed), **moving}, **{**LAW, **law})
    return model


MIXED: dict[str, Any] = {
    "crate": shapes.Box((0.3, 0.2, 0.16), 0.02, (0.01, 0, 0)),
    "drum": shapes.Cylinder(0.12, 0.3, 0.02, {"angles": (0.4, 0.2, 0)}),
    "stone": shapes.ConvexMesh(np.random.default_rng(1).uniform(-0.12, 0.12, (9, 3)), 0.02),
    "rod": shapes.Capsule(0.05, (0.1, 0.05, 0), (0, 0.02, 0)),
    "ball": shapes.Sphere(0.11, (0.02, 0, 0)),
    "other": shapes.Sphere(0.07),
}


def test_its_forces_are_those_of_single_contacts() -> None:
    """All pairs of shapes, in many random poses: what the contacts of two shapes add up to."""
    random = np.random.default_rng(2)
    planes = [shapes.HalfSpace(), shapes.HalfSpace({"position": (-0.1, 0, 0), "angles": (0, math.pi / 2, 0)})]
    convex = ("crate", "drum", "stone")
    models = [Multibody(name) for name in ("found", "listed")]
    law = {**LAW, "dissipation": 0.1}
    for model in models:
        for name in MIXED:
            body = model.body(name, mass=random.uniform(1, 2), inertia=(0.02, 0.02, 0.02))
            body.mass = 1.0 + 0.1 * len(name)
            model.joint("free", child=body)
    models[0].collisions("scene", {"ground": planes, **MIXED}, **law)
    names = list(MIXED)
    parts: list[str] = []
    for i, one in enumerate(names):
        for k, plane in enumerate(planes):
            added = models[1].shape_contacts(f"{one}_on{k}", "ground", plane, one, MIXED[one], **law)
            parts += [part.name for part in added]
        for other in names[:i]:
            if not {one, other} <= {*convex}:
                added = models[1].shape_contacts(
                    f"{one}_{other}", one, MIXED[one], other, MIXED[other], **law
                )
                parts += [part.name for part in added]
    states = [model.build().default_state() for model in models]
    kinds, compared = set(), 0
    for _ in range(150):
        for name in names:
            turn = random.normal(size=4)
            q = [*(turn / np.linalg.norm(turn)), *random.uniform(0.0, 0.4, 3)]
            u = random.normal(size=6)
            for state in states:
                state[f"{name}_joint.q"], state[f"{name}_joint.u"] = q, u
        try:
            found, listed = (state.realize(cosim.Stage.REPORT) for state in states)
        except cosim.SimulationError:
            continue
        touching = {name for name in parts if not listed[f"{name}.depth"] <= 0.0}
        if any(math.isnan(listed[f"{name}.depth"]) for name in touching):
            assert math.isnan(found["scene.potential_energy"])
            continue
        compared += 1
        kinds |= {name.rstrip("_12345678") for name in touching}
        assert found["scene.contacts"] == len(touching)
        for name in names:
            force = listed[f"{name}.F_GB"]
            np.testing.assert_allclose(
                found[f"{name}.F_GB"], force, rtol=1e-9, atol=1e-9 * np.abs(force).max()
            )
        for quantity in ("potential_energy", "dissipated_energy_dot"):
            total = sum(listed[f"{name}.{quantity}"] for name in parts)
            assert found[f"scene.{quantity}"] == pytest.approx(total, rel=1e-9)
    assert compared > 40
    assert len(kinds) == 2 * 6 + 3 + 3 * 3


def rest_depth(load: float, radius: float, modulus: float = 1e7) -> float:
    """Depth of a sphere that carries a load, N, by Hertz."""
    return float((3.0 * load / (4.0 * modulus * math.sqrt(radius))) ** (2.0 / 3.0))


def test_sliding_turns_into_rolling_at_its_time_and_speed() -> None:
    result = balls(
        [(0, 0, 0.1 - rest_depth(GRAVITY, 0.1, 1e9))], [0.1], [[0, 0, 0, 2.0, 0, 0]], friction=0.3,
        stiffness=1e9,
    ).simulate(until=0.25, accuracy=1e-6)  # fmt: skip
    assert result["ball0.vx"][-1] == pytest.approx(2.0 * 5.0 / 7.0, rel=1e-5)
    assert result["ball0.wy"][-1] * 0.1 == pytest.approx(2.0 * 5.0 / 7.0, rel=1e-5)
    slip = np.asarray(result["ball0.vx"]) - 0.1 * np.asarray(result["ball0.wy"])
    rolls = 2.0 * 2.0 / (7.0 * 0.3 * GRAVITY)
    before = result.time < 0.999 * rolls
    np.testing.assert_allclose(slip[before], 2.0 - 3.5 * 0.3 * GRAVITY * result.time[before], atol=1e-3 * 2.0)
    assert abs(slip[result.time > 1.001 * rolls]).max() < 2e-3
    assert abs(result["energy.residual"]).max() < 1e-6


@pytest.mark.parametrize(("share", "stays"), [(0.99, True), (1.01, False)])
def test_a_crate_within_its_cone_stays(share: float, stays: bool) -> None:
    slope = math.atan(0.5) * share
    model = Multibody("slope", gravity=(GRAVITY * math.sin(slope), 0, -GRAVITY * math.cos(slope)))
    crate = model.body("crate", mass=2.0, inertia=(0.02,) * 3)
    depth = rest_depth(2.0 * GRAVITY * math.cos(slope) / 4.0, 0.02)
    model.joint("free", child=crate, q=[1, 0, 0, 0, 0, 0, 0.05 - depth])
    model.collisions("scene", {**FLOOR, "crate": shapes.Box((0.4, 0.4, 0.1), 0.02)}, friction=0.5, **LAW)
    result = model.simulate(until=5.0, accuracy=1e-6, output_interval=0.5)
    late = np.asarray(result["crate.x"])[result.time > 1.0]
    if stays:
        assert np.ptp(late) < 1e-10
        assert abs(late[0]) < 2.0 * depth
    else:
        slides = GRAVITY * (math.sin(slope) - 0.5 * math.cos(slope))
        gained = result["crate.vx"][-1] - result["crate.vx"][2]
        assert gained == pytest.approx((result.time[-1] - result.time[2]) * slides, rel=1e-2)
    assert abs(result["energy.residual"]).max() < 1e-5


@pytest.mark.parametrize(("friction", "stays"), [(0.4, True), (0.1, False)])
def test_a_pyramid_of_balls_stands_by_friction_alone(friction: float, stays: bool) -> None:
    """Three balls carry a fourth: each pushes the others out, and rolls unless friction holds it."""
    out = 0.2 / math.sqrt(3.0)
    base = [(out * math.cos(a), out * math.sin(a), 0.1) for a in (0.0, 2 * math.pi / 3, 4 * math.pi / 3)]
    top = (0.0, 0.0, 0.1 + math.sqrt(0.2**2 - out**2))
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


def test_a_ball_on_a_turntable_goes_round_with_two_sevenths_of_its_speed() -> None:
    spin, speed = 2.0, 0.3
    model = Multibody("turntable")
    table = model.body("table", mass=1.0, inertia=(1e9, 1e9, 1e9))
    model.joint("pin", child=table, u=spin)
    ball = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    rate = 2.0 / 7.0 * spin
    start = np.array([0.2, 0.0])
    u = [(spin * start[0] - speed) / 0.1, 0, 0, 0, speed, 0]  # it rolls: v + w x (-r z) = spin z x position
    model.joint("free", child=ball, q=[1, 0, 0, 0, *start, 0.1 - rest_depth(GRAVITY, 0.1, 1e9)], u=u)
    model.collisions(
        "scene", {"table": shapes.HalfSpace(), "ball": shapes.Sphere(0.1)}, stiffness=1e9, restitution=0.3,
        friction=1.0,
    )  # fmt: skip
    result = model.simulate(until=6.0, accuracy=1e-6, output_interval=0.05)
    at = result.time
    center = start - np.array([speed / rate, 0.0])
    exact = center[:, None] + speed / rate * np.array([np.cos(rate * at), np.sin(rate * at)])
    found = np.array([result["ball.x"], result["ball.y"]])
    assert abs(found - exact).max() < 2e-4 * speed / rate


def test_a_tower_comes_to_rest_and_its_energy_adds_up() -> None:
    result = balls([(0, 0, 0.1 + 0.25 * i) for i in range(3)], [0.1] * 3, restitution=0.3).simulate(
        until=1.5, accuracy=1e-5
    )
    loads = GRAVITY * np.array([3.0, 2.0, 1.0])
    depths = (3.0 * loads / (4.0 * 1e7 * np.sqrt([0.1, 0.05, 0.05]))) ** (2.0 / 3.0)
    rest = np.array([0.1, 0.3, 0.5]) - np.cumsum(depths)
    np.testing.assert_allclose([result[f"ball{i}.z"][-1] for i in range(3)], rest, atol=1e-6)
    assert abs(result["energy.residual"]).max() < 1e-5


@pytest.mark.parametrize("count", [1, 5])
def test_friction_that_does_nothing_takes_no_steps(count: int) -> None:
    """Steps end neither where surfaces touch nor where a bristle appears."""
    spent = []
    for friction in (0.0, 0.5):
        places = [(0.3 * i, 0.0, 0.3 + 0.2 * i / count) for i in range(count)]
        model = balls(places, [0.1] * count, friction=friction)
        statistics = model.simulate(
            until=1.0, accuracy=1e-4, integrator="integrators.dormand_prince"
        ).statistics
        spent.append((statistics["steps"], statistics["evaluations"]))
    assert spent[0] == spent[1]


def test_balls_of_a_cradle_hand_the_speed_on() -> None:
    model = balls([(0.2005 * i, 0, 0) for i in range(5)], [0.1] * 5, [[0, 0, 0, 1.0 - i, 0, 0] if i < 2 else
                  (0,) * 6 for i in range(5)], {}, restitution=1.0, stiffness=1e9)  # fmt: skip
    model.gravity = (0, 0, 0)
    result = model.simulate(until=0.01, accuracy=1e-8)
    np.testing.assert_allclose([result[f"ball{i}.vx"][-1] for i in range(5)], [0, 0, 0, 0, 1], atol=1e-5)


@pytest.mark.parametrize("integrator", ["radau5", pytest.param("bdf", marks=pytest.mark.thorough)])
def test_implicit_methods_see_what_the_balls_do_to_each_other(integrator: str) -> None:
    """Their Jacobians follow the poses of all balls."""
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


def test_saved_and_restored_it_goes_on_to_the_same_bytes() -> None:
    places = [(0.1 * i, 0, 0.0799 + 0.16 * (i % 2)) for i in range(8)]
    system = balls(places, [0.08] * 8, friction=0.4).build()
    whole = cosim.Simulator(system, integrator="integrators.runge_kutta_4", fixed_step=1e-4)
    whole.advance_to(0.05)
    assert whole.state["scene.contacts"] > 0
    saved = whole.state.to_bytes()
    whole.advance_to(0.1)
    again = cosim.Simulator(
        system, system.state_from_bytes(saved), integrator="integrators.runge_kutta_4", fixed_step=1e-4
    )
    again.advance_to(0.1)
    assert again.state.to_bytes() == whole.state.to_bytes()


def arm(joint: str, parent: str = "upper", **more: Any) -> Any:
    """Two boxes in each other (a ball and a box), joined or not, realized."""
    model = Multibody("arm")
    for name in ("upper", "lower"):
        model.body(name, mass=1.0, inertia=(0.01,) * 3)
    model.joint("pin", child="upper")
    model.joint(joint, child="lower", parent=parent)
    scene = {"upper": shapes.Box((1, 1, 1)), "lower": shapes.Sphere(0.1, (0.2, 0, 0))}
    model.collisions("scene", scene, **LAW, **more)
    return model.build().default_state().realize(cosim.Stage.DYNAMICS)


def test_joined_bodies_do_not_touch() -> None:
    assert arm("pin")["scene.contacts"] == 0
    assert arm("free", "ground")["scene.contacts"] == 1
    assert arm("pin", "ground")["scene.contacts"] == 1  # Ground joins nothing
    assert arm("free")["scene.contacts"] == 1  # a free joint holds nothing
    assert arm("free", ignore=[("lower", "upper")])["scene.contacts"] == 0


def test_a_joint_that_comes_later_is_refused() -> None:
    model = Multibody("late")
    for name in ("upper", "lower"):
        model.body(name, mass=1.0, inertia=(0.01,) * 3)
    model.joint("pin", child="upper")
    model.collisions("scene", {"upper": shapes.Sphere(0.1), "lower": shapes.Sphere(0.1)}, **LAW)
    model.joint("pin", child="lower", parent="upper")
    with pytest.raises(cosim.ModelError, match="joined by 'lower_joint'.*after the joints"):
        model.build()


class Dumbbell(Shape):
    """Two balls on a rod, made of shapes that are there."""

    def solids(self) -> list[shapes.Solid]:
        """See `Shape`."""
        parts = [shapes.Sphere(0.1, (x, 0, 0)) for x in (-0.3, 0.3)] + [shapes.Capsule(0.03, (0.3, 0, 0))]
        return [solid for part in parts for solid in part.solids()]


def test_a_shape_of_others_takes_part() -> None:
    model = Multibody("dumbbell")
    model.joint(
        "free", child=model.body("bell", mass=2.0, inertia=(0.02, 0.2, 0.2)), q=[1, 0, 0, 0, 0, 0, 0.11]
    )
    model.collisions("scene", {**FLOOR, "bell": Dumbbell()}, **LAW)
    result = model.simulate(until=0.5, accuracy=1e-5)
    assert result["bell.z"][-1] == pytest.approx(0.1 - rest_depth(GRAVITY, 0.1), abs=1e-6)


def test_boxes_near_each_other_are_a_finding() -> None:
    model = Multibody("crates")
    for i, x in enumerate((0.0, 3.0)):
        model.joint(
            "free", child=model.body(f"crate{i}", mass=1.0, inertia=(0.02,) * 3), q=[1, 0, 0, 0, x, 0, 1]
        )
    scene = {f"crate{i}": shapes.Box((0.2, 0.2, 0.2), 0.01) for i in range(2)}
    model.collisions("scene", scene, **LAW)
    assert not model.simulate(until=0.01, accuracy=1e-3).findings
    model.set_start("crate1_joint.q", [1, 0, 0, 0, 0.1, 0, 1])
    findings = model.simulate(until=0.01, accuracy=1e-3).findings
    assert len(findings) == 1
    assert "pass through each other" in str(findings[0])


def test_centres_that_meet_are_an_error() -> None:
    state = balls([(0, 0, 1), (0, 0, 1)], [0.1, 0.1]).build().default_state()
    with pytest.raises(cosim.SimulationError, match="centres of two shapes meet"):
        state.realize(cosim.Stage.DYNAMICS)


def test_too_many_contacts_are_an_error() -> None:
    for count, message in ((18, f"more than {ROOM} contacts"), (40, f"more than {PAIRS} pairs")):
        model = balls([(0.001 * i, 0, 1) for i in range(count)], [0.1] * count)
        with pytest.raises(cosim.SimulationError, match=message):
            model.build().default_state().realize(cosim.Stage.POSITION)


@pytest.mark.parametrize(
    ("scene", "more", "message"),
    [
        ({"ball7": shapes.Sphere(0.1)}, {}, "'ball7' is not a body; there are ground, ball0, ball1"),
        ({"ball0": 0.1}, {}, "'ball0' has 0.1, needs a shape"),
        ({"ball0": [0.1]}, {}, "needs a shape"),
        (FLOOR, {}, "no body with a mass has a shape"),
        ({}, {}, "no body with a mass has a shape"),
        ({**FLOOR, "ball0": shapes.Box((1, 1, 1))}, {}, "a half-space needs more"),
        ({"ball0": shapes.Box((1, 1, 0.1), 0.06)}, {}, "more than half"),
        ({"ball0": shapes.Cylinder(0.1, 0.1, 0.06)}, {}, "more than half"),
        ({"ball0": shapes.Sphere(0.0)}, {}, "radius"),
        ({"ball0": Shape()}, {}, "has no solids"),
        ({"ball0": shapes.Sphere(0.1)}, {"ignore": [("ball0", "ball9")]}, "ball9"),
        ({"ball0": shapes.Sphere(0.1)}, {"friction": -1.0}, "friction"),
        ({"ball0": shapes.Sphere(math.inf)}, {}, "finite"),
    ],
)
def test_impossible_scenes_are_refused(scene: Any, more: Any, message: str) -> None:
    model = Multibody("refused")
    for i in range(2):
        body = model.body(f"ball{i}", mass=1.0, inertia=(1, 1, 1))
        model.joint("free", child=body, q=[1, 0, 0, 0, i, 0, 1])
    with pytest.raises(cosim.CosimError, match=message):
        model.collisions("scene", scene, **{**LAW, **more})


@pytest.mark.parametrize(("restitution", "refused"), [(1e-12, True), (9.9e-5, True), (1e-4, False)])
def test_restitutions_that_would_take_for_ever_are_refused(restitution: float, refused: bool) -> None:
    model = Multibody("slow")
    body = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    model.joint("free", child=body, q=[1, 0, 0, 0, 0, 0, 0.11])
    scene = {"ground": shapes.HalfSpace(), "ball": shapes.Sphere(0.1)}
    model.collisions("scene", scene, stiffness=1e7, restitution=restitution)
    if refused:
        with pytest.raises(cosim.SimulationError, match="restitution.*below.*rest"):
            model.simulate(until=0.1)
    else:
        assert model.simulate(until=0.1)["ball.z"][-1] < 0.1


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"frames": [(0.0,) * 12, IDENTITY]}, NOT_A_POSE),
        ({"shape_counts": [3]}, TOO_FEW_SHAPES),
        ({"kinds": [HALF_SPACE, MESH], "sizes": [(0.0,) * 4, (1.0, 0.0, 0.0, 1.0)]}, MESH_OUTSIDE),
        ({"kinds": [HALF_SPACE, MESH], "sizes": [(0.0,) * 4, (0.0, 1.0, 0.0, 2.0)]}, MESH_OUTSIDE),
        ({"reaches": [0.0, 0.19]}, WRONG_REACH),
        ({"reaches": [0.2, 0.2]}, WRONG_REACH),
        ({"restitution": 1e-5}, LOW_RESTITUTION),
        ({"frames": [IDENTITY, (0.0,) * 12], "reaches": [0.2, 0.2]}, WRONG_REACH),  # the first shape's
        ({}, None),
        ({"kinds": [HALF_SPACE, MESH], "sizes": [(0.0,) * 4, (0.0, 1.0, 0.0, 1.0)]}, None),
    ],
)
def test_each_fault_has_its_message(values: dict[str, Any], fault: int | None) -> None:
    model = Multibody("tables")
    ball = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    model.joint("free", child=ball, q=[1, 0, 0, 0, 0, 0, 1])
    tables = {**Collisions.tried_with, **LAW, **values}
    model.add("mechanics.collisions", "scene", body1="ground", bodies=ball, **tables)
    state = model.build().default_state()
    if fault is None:
        assert state.realize(cosim.Stage.DYNAMICS)["scene.contacts"] == 0
    else:
        with pytest.raises(cosim.SimulationError, match=re.escape(FAULTS[fault])):
            state.realize(cosim.Stage.DYNAMICS)


class Painted(RigidBody):
    """A body with more to it."""

    color = cosim.parameter(default=0.5)


def test_bodies_of_another_kind_between_are_refused() -> None:
    model = Multibody("mixed")
    for i, kind in enumerate((RigidBody, Painted, RigidBody)):
        body = model.add(kind, f"ball{i}", mass=1.0, inertia=(1, 1, 1))
        model.joint("free", child=body, q=[1, 0, 0, 0, i, 0, 1])
    model.collisions("scene", {f"ball{i}": shapes.Sphere(0.1) for i in (0, 2)}, **LAW)
    with pytest.raises(cosim.ModelError, match="need bodies of one kind"):
        model.build()


def test_what_a_ball_reads_is_evaluated_before() -> None:
    """Each of the bodies is followed: a change of the last one reaches the contacts."""
    system = balls([(0, 0, 1), (1, 0, 1), (2, 0, 1)], [0.1] * 3).build()
    state = system.default_state().realize(cosim.Stage.ACCELERATION)
    assert state["scene.contacts"] == 0
    state["ball2_joint.q"] = [1, 0, 0, 0, 1.19, 0, 1]
    state.realize(cosim.Stage.ACCELERATION)
    assert state["scene.contacts"] == 1
    assert state["ball1.ax"] < 0.0 < state["ball2.ax"]


FILE = """
[collisions.scene]
stiffness = "10 MPa"
friction = 0.5
ignore = [["ball", "crate"]]
shapes = [
  { body = "ground", type = "half_space", frame = [0, 0, "-1 cm"] },
  { body = "crate", type = "box", size = ["30 cm", 0.2, 0.1], rounding = "1 cm" },
  { body = "crate", type = "mechanics.sphere", radius = 0.1, center = [0.2, 0, 0] },
  { body = "ball", type = "sphere", radius = "100 mm" },
]
[bodies.crate]
mass = 2.0
inertia = [0.02, 0.02, 0.03]
joint = "free"
[bodies.ball]
mass = 1.0
inertia = [0.004, 0.004, 0.004]
joint = { type = "pin", parent = "crate" }
"""


def test_a_file_says_the_same_as_python(tmp_path: Any) -> None:
    (tmp_path / "scene.toml").write_text(FILE)
    read = cosim.Model.from_file(tmp_path / "scene.toml").parts["scene"]
    model = Multibody("scene")
    model.joint("free", child=model.body("crate", mass=2.0, inertia=(0.02, 0.02, 0.03)))
    model.joint("pin", child=model.body("ball", mass=1.0, inertia=(0.004,) * 3), parent="crate")
    crate = [shapes.Box((0.3, 0.2, 0.1), 0.01), shapes.Sphere(0.1, (0.2, 0, 0))]
    scene = {"ground": shapes.HalfSpace((0, 0, -0.01)), "crate": crate, "ball": shapes.Sphere(0.1)}
    made = model.collisions("scene", scene, [("ball", "crate")], stiffness=1e7, friction=0.5)
    assert read.ignored.tolist() == [[0, 0], [1, 2]]
    for name, value in made.values.numbers.items():
        np.testing.assert_array_equal(read.values.numbers[name], value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        (
            'type = "box"',
            'type = "bix"',
            r"scene.toml:8: collisions.scene: shapes\[1\]: no shape 'mechanics.bix'",
        ),
        ('"30 cm"', '"30 s"', "cannot be converted to m"),
        ("size = ", "sise = ", r"box has no sise; it has size, rounding, frame"),
        (', radius = "100 mm"', "", "sphere needs radius"),
        ('{ body = "ball", type = "sphere"', '{ body = "ball"', "type = "),
        ("shapes = [", "forms = [", "shapes is not a list of tables"),
        ('[["ball", "crate"]]', '"ball"', "ignore is not a list of pairs"),
        ('[["ball", "crate"]]', '[["ball", "crane"]]', "crane"),
        ("friction", "kinds", "collisions have no kinds"),
        ("0.2, 0.1]", "0.2]", "'crate' has Box"),
        ('radius = "100 mm"', "radius = [1, 2]", "'ball' has Sphere"),
        ("radius = 0.1", "radius = true", "True is not a length"),
        ('[0, 0, "-1 cm"]', "[0, 0]", "is not a pose"),
    ],
)
def test_faults_of_a_file_are_reported_at_their_place(
    tmp_path: Any, old: str, new: str, message: str
) -> None:
    (tmp_path / "scene.toml").write_text(FILE.replace(old, new))
    with pytest.raises(cosim.CosimError, match=message):
        cosim.Model.from_file(tmp_path / "scene.toml")
