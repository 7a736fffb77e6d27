"""Scenes of shapes in a model file: they equal those of Python; faults are reported with their line."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody, shapes

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


def test_a_file_gives_the_scene_of_python(tmp_path: Path) -> None:
    (tmp_path / "scene.toml").write_text(FILE)
    scene_of_file = cosim.Model.from_file(tmp_path / "scene.toml").parts["scene"]
    model = Multibody("scene")
    model.joint("free", child=model.body("crate", mass=2.0, inertia=(0.02, 0.02, 0.03)))
    model.joint("pin", child=model.body("ball", mass=1.0, inertia=(0.004,) * 3), parent="crate")
    crate = [shapes.Box((0.3, 0.2, 0.1), 0.01), shapes.Sphere(0.1, (0.2, 0, 0))]
    scene = {"ground": shapes.HalfSpace((0, 0, -0.01)), "crate": crate, "ball": shapes.Sphere(0.1)}
    expected = model.collisions("scene", scene, [("ball", "crate")], stiffness=1e7, friction=0.5)
    assert scene_of_file.ignored.tolist() == [[0, 0], [1, 2]]
    for name, value in expected.values.numbers.items():
        np.testing.assert_array_equal(scene_of_file.values.numbers[name], value)


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
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    (tmp_path / "scene.toml").write_text(FILE.replace(old, new))
    with pytest.raises(cosim.CosimError, match=message):
        cosim.Model.from_file(tmp_path / "scene.toml")
