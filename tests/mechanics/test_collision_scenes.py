"""Scenes of shapes: bodies that may touch, shapes that are refused, errors and findings of a run."""

from __future__ import annotations

import math
import re
from typing import Any

import pytest
from collision_scenes import FLOOR, LAW, balls
from contact_formulas import GRAVITY, hertz_depth

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
from cosim_mechanics.forces.solids import HALF_SPACE, MESH
from cosim_mechanics.spatial import IDENTITY


class Dumbbell(Shape):
    """Two balls on a rod, composed of existing shapes."""

    def solids(self) -> list[shapes.Solid]:
        """Return the solids of all three shapes."""
        parts = [shapes.Sphere(0.1, (x, 0, 0)) for x in (-0.3, 0.3)] + [shapes.Capsule(0.03, (0.3, 0, 0))]
        return [solid for part in parts for solid in part.solids()]


class PaintedBody(RigidBody):
    """A body of another class."""

    color = cosim.parameter(default=0.5)


def arm(joint: str, parent: str = "upper", **options: Any) -> Any:
    """Return the State of a box and a ball that overlap, with joints of these kinds."""
    model = Multibody("arm")
    for name in ("upper", "lower"):
        model.body(name, mass=1.0, inertia=(0.01,) * 3)
    model.joint("pin", child="upper")
    model.joint(joint, child="lower", parent=parent)
    scene = {"upper": shapes.Box((1, 1, 1)), "lower": shapes.Sphere(0.1, (0.2, 0, 0))}
    model.collisions("scene", scene, **LAW, **options)
    return model.build().default_state().realize(cosim.Stage.DYNAMICS)


def test_joined_bodies_do_not_touch() -> None:
    assert arm("pin")["scene.contacts"] == 0
    assert arm("free", "ground")["scene.contacts"] == 1
    assert arm("pin", "ground")["scene.contacts"] == 1  # joints to Ground join no two bodies
    assert arm("free")["scene.contacts"] == 1  # a free joint joins no bodies
    assert arm("free", ignore=[("lower", "upper")])["scene.contacts"] == 0


def test_a_joint_after_the_collisions_is_refused() -> None:
    model = Multibody("late")
    for name in ("upper", "lower"):
        model.body(name, mass=1.0, inertia=(0.01,) * 3)
    model.joint("pin", child="upper")
    model.collisions("scene", {"upper": shapes.Sphere(0.1), "lower": shapes.Sphere(0.1)}, **LAW)
    model.joint("pin", child="lower", parent="upper")
    with pytest.raises(cosim.ModelError, match="joined by 'lower_joint'.*after the joints"):
        model.build()


def test_a_shape_composed_of_others_touches() -> None:
    model = Multibody("dumbbell")
    model.joint(
        "free", child=model.body("bell", mass=2.0, inertia=(0.02, 0.2, 0.2)), q=[1, 0, 0, 0, 0, 0, 0.11]
    )
    model.collisions("scene", {**FLOOR, "bell": Dumbbell()}, **LAW)
    result = model.simulate(until=0.5, accuracy=1e-5)
    assert result["bell.z"][-1] == pytest.approx(0.1 - hertz_depth(GRAVITY, LAW["stiffness"], 0.1), abs=1e-6)


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
    ("scene", "options", "message"),
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
def test_impossible_scenes_are_refused(scene: Any, options: Any, message: str) -> None:
    model = Multibody("refused")
    for i in range(2):
        body = model.body(f"ball{i}", mass=1.0, inertia=(1, 1, 1))
        model.joint("free", child=body, q=[1, 0, 0, 0, i, 0, 1])
    with pytest.raises(cosim.CosimError, match=message):
        model.collisions("scene", scene, **{**LAW, **options})


@pytest.mark.parametrize(("restitution", "is_refused"), [(1e-12, True), (9.9e-5, True), (1e-4, False)])
def test_restitutions_below_1e_4_are_refused(restitution: float, is_refused: bool) -> None:
    model = Multibody("slow")
    body = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    model.joint("free", child=body, q=[1, 0, 0, 0, 0, 0, 0.11])
    scene = {"ground": shapes.HalfSpace(), "ball": shapes.Sphere(0.1)}
    model.collisions("scene", scene, stiffness=1e7, restitution=restitution)
    if is_refused:
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
        (
            {"frames": [IDENTITY, (0.0,) * 12], "reaches": [0.2, 0.2]},
            WRONG_REACH,
        ),  # the fault of the first shape is reported
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


def test_bodies_of_another_kind_between_those_of_a_scene_are_refused() -> None:
    model = Multibody("mixed")
    for i, kind in enumerate((RigidBody, PaintedBody, RigidBody)):
        body = model.add(kind, f"ball{i}", mass=1.0, inertia=(1, 1, 1))
        model.joint("free", child=body, q=[1, 0, 0, 0, i, 0, 1])
    model.collisions("scene", {f"ball{i}": shapes.Sphere(0.1) for i in (0, 2)}, **LAW)
    with pytest.raises(cosim.ModelError, match="need bodies of one kind"):
        model.build()
