"""Shapes with materials: the law of each pair against Hertz, Mindlin and Coulomb; materials in files."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from contact_formulas import GRAVITY, hertz_depth

import cosim
from cosim_mechanics import Multibody, shapes
from cosim_mechanics.forces.collisions import FAULTS, LOW_RESTITUTION, NO_MATERIAL, Collisions
from cosim_mechanics.forces.materials import combined
from cosim_mechanics.shapes import Material
from cosim_mechanics.spatial import IDENTITY

RADIUS = 0.1
RUBBER = Material("5 MPa", 0.5, restitution=0.4, friction=0.9)
STEEL = Material("210 GPa", 0.3, restitution=0.4, friction=0.3)
ICE = Material("9 GPa", 0.33, restitution=0.4)
FILE = """
[collisions.scene]
shapes = [
  { body = "ground", type = "half_space", material = "steel" },
  { body = "ball0", type = "sphere", radius = 0.1, material = "rubber" },
]
[collisions.scene.materials]
steel = { modulus = "210 GPa", friction = 0.3, restitution = 0.4 }
rubber = { modulus = "5 MPa", poisson_ratio = 0.5, friction = 0.9, restitution = 0.4 }
[bodies.ball0]
mass = 1.0
inertia = [0.004, 0.004, 0.004]
joint = "free"
"""


def effective(first: Material, second: Material) -> float:
    """Return the modulus of two half-spaces in series."""
    return 1.0 / sum((1.0 - m.poisson_ratio**2) / m.modulus for m in (first, second))


def rest_depth(modulus: float) -> float:
    """Return the depth of a ball of 1 kg at rest."""
    return hertz_depth(GRAVITY, modulus, RADIUS)


def balls_on(floor: Material | None, *materials: Material | None, **law: Any) -> Multibody:
    """Return balls of 1 kg side by side that slide at 1 m/s, each at its depth of rest in the floor."""
    model = Multibody("balls")
    scene: dict[str, Any] = {"ground": shapes.HalfSpace(material=floor)}
    for i, material in enumerate(materials):
        depth = 0.0
        if floor is not None and material is not None:
            depth = rest_depth(effective(floor, material))
        ball = model.body(f"ball{i}", mass=1.0, inertia=(0.004,) * 3)
        model.joint("free", child=ball, q=[1, 0, 0, 0, 0, 0.5 * i, RADIUS - depth], u=[0, 0, 0, 1, 0, 0])
        scene[f"ball{i}"] = shapes.Sphere(RADIUS, material=material)
    model.collisions("scene", scene, **law)
    return model


def test_each_ball_rests_at_the_depth_of_its_pair() -> None:
    result = balls_on(STEEL, RUBBER, STEEL, ICE).simulate(until=0.5, accuracy=1e-6)
    for i, material in enumerate((RUBBER, STEEL, ICE)):
        depth = RADIUS - result[f"ball{i}.z"][-1]
        assert depth == pytest.approx(rest_depth(effective(STEEL, material)), rel=1e-5)


def test_each_ball_slides_until_it_rolls_by_the_friction_of_its_pair() -> None:
    """It rolls after 2 v / (7 mu g); the friction of a pair is 2 mu1 mu2 / (mu1 + mu2)."""
    until = 0.06
    result = balls_on(STEEL, RUBBER, STEEL, ICE).simulate(until=until, accuracy=1e-8)
    for i, friction in enumerate((2 * 0.3 * 0.9 / 1.2, 0.3, 0.0)):
        rolling_start = 2.0 / (7.0 * friction * GRAVITY) if friction else math.inf
        speed = 1.0 - friction * GRAVITY * min(until, rolling_start)
        assert result[f"ball{i}.vx"][-1] == pytest.approx(speed, rel=2e-3)


def test_materials_equal_to_the_law_of_the_scene_change_nothing() -> None:
    """E / (1 - nu^2) of each surface is twice the effective modulus of two of them."""
    law = {"stiffness": 1e7, "restitution": 0.5, "friction": 0.4, "dissipation": 0.1}
    same = Material(2e7 * (1.0 - 0.09), 0.3, 0.5, 0.1, 0.4)
    ends = []
    for floor, ball in ((None, None), (same, None), (None, same), (same, same)):
        model = balls_on(floor, ball, **law)
        model["ball0_joint"].q = [1, 0, 0, 0, 0, 0, 0.15]
        result = model.simulate(until=0.4, accuracy=1e-9)
        ends.append([result[f"ball0.{name}"][-1] for name in ("x", "z", "vx", "vz")])
    np.testing.assert_allclose(ends[1:], [ends[0]] * 3, rtol=1e-6, atol=1e-9)


@pytest.mark.parametrize("ratios", [(0.2, 0.45), (0.0, 0.5), (0.3, 0.3)])
def test_the_tangential_stiffness_of_unlike_surfaces_is_that_of_mindlin(ratios: tuple[float, float]) -> None:
    """k_t = 8 a / ((2 - nu1) / G1 + (2 - nu2) / G2), with shear moduli G and the radius a of contact."""
    moduli = (2e9, 5e10)
    rows = [Material(E, nu).row() for E, nu in zip(moduli, ratios, strict=True)]
    modulus, ratio, *_ = combined(*rows)
    shears = [E / (2.0 * (1.0 + nu)) for E, nu in zip(moduli, ratios, strict=True)]
    exact = 8.0 / sum((2.0 - nu) / G for G, nu in zip(shears, ratios, strict=True))
    assert 4.0 * (1.0 - ratio) / (2.0 - ratio) * modulus == pytest.approx(exact, rel=1e-13)


def test_the_softer_surface_damps() -> None:
    """A soft surface takes nearly all of the depth; two equal materials have their own restitution."""
    soft, hard = Material(1e6, restitution=0.3), Material(1e12, restitution=1.0)
    for first, second, restitution in ((soft, hard, 0.3), (soft, soft, 0.3), (hard, hard, 1.0)):
        law = shapes.law_between(shapes.Sphere(0.1, material=first), shapes.HalfSpace(material=second))
        assert law["restitution"] == pytest.approx(restitution, rel=1e-5)


def test_single_contacts_have_the_law_of_their_materials() -> None:
    model = Multibody("single")
    ball = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    model.joint("free", child=ball, q=[1, 0, 0, 0, 0, 0, RADIUS])
    floor, sphere = shapes.HalfSpace(material=STEEL), shapes.Sphere(RADIUS, material=RUBBER)
    (contact,) = model.shape_contacts("floor", "ground", floor, ball, sphere)
    assert contact.stiffness == pytest.approx(effective(STEEL, RUBBER), rel=1e-14)
    assert contact.static_friction == contact.dynamic_friction == pytest.approx(0.45)
    result = model.simulate(until=0.5, accuracy=1e-6)
    assert RADIUS - result["ball.z"][-1] == pytest.approx(rest_depth(effective(STEEL, RUBBER)), rel=1e-4)
    (overridden,) = model.shape_contacts("floor2", "ground", floor, ball, sphere, static_friction=0.7)
    assert overridden.static_friction == 0.7


def test_a_single_contact_needs_both_materials() -> None:
    model = Multibody("single")
    ball = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    with pytest.raises(cosim.ModelError, match="one of two shapes has a material"):
        model.shape_contacts(
            "floor", "ground", shapes.HalfSpace(), ball, shapes.Sphere(0.1, material=STEEL), stiffness=1e7
        )


@pytest.mark.parametrize(
    "values",
    [
        {"modulus": 0.0}, {"modulus": -1.0}, {"modulus": math.inf}, {"modulus": math.nan}, {"modulus": None},
        {"modulus": "5 m"}, {"modulus": True}, {"poisson_ratio": 0.51}, {"restitution": 1.1},
        {"restitution": 0.0}, {"friction": -0.1}, {"dissipation": -1.0},
    ],
)  # fmt: skip
def test_impossible_materials_are_refused(values: dict[str, Any]) -> None:
    with pytest.raises(cosim.CosimError):
        Material(**{"modulus": 1e9, **values})


@pytest.mark.parametrize(
    ("values", "fault"),
    [
        ({"material_numbers": [0, 1]}, NO_MATERIAL),
        ({"materials": [(0.0,) * 5, (1e9, 0.6, 1.0, 0.0, 0.0)]}, NO_MATERIAL),
        ({"materials": [(0.0,) * 5, (1e9, 0.3, 1.1, 0.0, 0.0)]}, NO_MATERIAL),
        ({"materials": [(0.0,) * 5, (1e9, 0.3, 0.0, 0.0, 0.0)]}, LOW_RESTITUTION),
        ({"materials": [(0.0,) * 5, (1e9, 0.3, 1.0, 0.0, 0.0)], "material_numbers": [1, 1]}, None),
    ],
)
def test_rows_of_materials_are_checked(values: dict[str, Any], fault: int | None) -> None:
    model = Multibody("rows")
    ball = model.body("ball", mass=1.0, inertia=(0.004,) * 3)
    model.joint("free", child=ball, q=[*IDENTITY[:1], 0, 0, 0, 0, 0, 1])
    tables = {**Collisions.tried_with, "stiffness": 1e7, **values}
    model.add("mechanics.collisions", "scene", body1="ground", bodies=ball, **tables)
    state = model.build().default_state()
    if fault is None:
        assert state.realize(cosim.Stage.DYNAMICS)["scene.contacts"] == 0
    else:
        with pytest.raises(cosim.SimulationError, match=FAULTS[fault][:40]):
            state.realize(cosim.Stage.DYNAMICS)


def test_a_file_gives_the_scene_of_python(tmp_path: Any) -> None:
    (tmp_path / "scene.toml").write_text(FILE)
    scene_of_file = cosim.Model.from_file(tmp_path / "scene.toml").parts["scene"]
    expected = balls_on(STEEL, RUBBER)["scene"]
    for name, value in expected.values.numbers.items():
        np.testing.assert_array_equal(scene_of_file.values.numbers[name], value)


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ('material = "rubber"', 'material = "rubbr"', "no material 'rubbr'; there are steel, rubber"),
        ('"210 GPa"', '"210 m"', "materials.steel: .*cannot be converted"),
        ("poisson_ratio = 0.5", "poisson = 0.5", "materials.rubber: .*poisson"),
        ("poisson_ratio = 0.5", "poisson_ratio = 0.7", "poisson_ratio is 0.7"),
        ('modulus = "5 MPa", ', "", "materials.rubber: .*modulus"),
        ('material = "steel"', "radius = 1", "half_space has no radius"),
        (', material = "steel"', "", "stiffness"),
    ],
)
def test_faults_of_a_file_are_reported(tmp_path: Any, old: str, new: str, message: str) -> None:
    (tmp_path / "scene.toml").write_text(FILE.replace(old, new))
    with pytest.raises(cosim.CosimError, match=message):
        cosim.Model.from_file(tmp_path / "scene.toml")
