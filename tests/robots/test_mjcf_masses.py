"""Masses and looks of bodies in MJCF files: of shapes, surfaces and inertial elements."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from mjcf_files import BOB, hinge, write_mjcf
from scipy.integrate import quad

import cosim
from cosim_mechanics import Multibody
from cosim_robots.mjcf import read_mjcf

BOX = [(x, y, z) for x in (-0.5, 0.5) for y in (-1.0, 1.0) for z in (-1.5, 1.5)]
FACES = ((0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3))
"""Corners and faces, outward, of a box of 1 by 2 by 3."""


def write_boxes(path: Path, *shifts: float) -> None:
    """Write boxes that are shifted along x as an OBJ file."""
    lines = []
    for number, shift in enumerate(shifts):
        lines += [f"v {x + shift} {y} {z}" for x, y, z in BOX]
        lines += [f"f {' '.join(str(i + 1 + 8 * number) for i in face)}" for face in FACES]
    path.write_text("\n".join(lines) + "\n", "ascii")


@pytest.mark.parametrize(
    ("shape", "mass", "moments"),
    [
        ("type='sphere' size='0.3'", 4 / 3 * math.pi * 0.027e3, (0.4 * 0.09,) * 3),
        ("type='box' size='0.1 0.2 0.3'", 48.0, (0.13 / 3, 0.1 / 3, 0.05 / 3)),
        ("type='ellipsoid' size='0.1 0.2 0.3' mass='5'", 5.0, (0.13 / 5, 0.1 / 5, 0.05 / 5)),
        ("type='cylinder' size='0.2 0.3' density='10'", 0.24 * math.pi, (0.01 + 0.03,) * 2 + (0.02,)),
    ],
)
def test_masses_of_shapes(tmp_path: Path, shape: str, mass: float, moments: Any) -> None:
    """Closed forms of bodies of uniform density."""
    link = read_mjcf(write_mjcf(tmp_path, hinge(inside=f"<geom {shape}/>"))).links["b"]
    assert link.mass == pytest.approx(mass, rel=1e-14)
    assert [x / link.mass for x in link.inertia[:3]] == pytest.approx(moments, rel=1e-14)
    assert link.inertia[3:] == (0.0, 0.0, 0.0)


def test_the_mass_of_a_capsule(tmp_path: Path) -> None:
    """Integrals over slices of a capsule of radius 0.2 and half length 0.3."""
    link = read_mjcf(write_mjcf(tmp_path, hinge(inside="<geom type='capsule' size='0.2 0.3'/>"))).links["b"]

    def squared_radius(z: float) -> float:
        return 0.04 - max(0.0, abs(z) - 0.3) ** 2

    def integral(f: Any) -> float:
        return 2.0 * (quad(f, 0, 0.3, epsabs=1e-13)[0] + quad(f, 0.3, 0.5, epsabs=1e-13)[0])

    assert link.mass == pytest.approx(integral(lambda z: 1e3 * math.pi * squared_radius(z)), rel=1e-12)
    along = integral(lambda z: 1e3 * math.pi / 2 * squared_radius(z) ** 2)
    across = integral(lambda z: 1e3 * math.pi * (squared_radius(z) ** 2 / 4 + squared_radius(z) * z * z))
    assert link.inertia[:3] == pytest.approx((across, across, along), rel=1e-12)


@pytest.mark.parametrize("from_geoms", ["true", "auto", "false"])
def test_inertiafromgeom_chooses_geoms_or_inertial(tmp_path: Path, from_geoms: str) -> None:
    inertial = "<inertial mass='3' pos='1 0 0' diaginertia='1 1 1'/>"
    head = f"<compiler inertiafromgeom='{from_geoms}'/>"
    link = read_mjcf(write_mjcf(tmp_path, hinge(inside=inertial + BOB), head)).links["b"]
    assert link.mass == (2.0 if from_geoms == "true" else 3.0)
    bare = write_mjcf(tmp_path, "<body name='b'>" + BOB + "</body><body name='c'>" + BOB + "</body>", head)
    assert read_mjcf(bare).links["b"].mass == (0.0 if from_geoms == "false" else 2.0)


@pytest.mark.parametrize("method", ["exact", "legacy"])
def test_masses_of_surfaces(tmp_path: Path, method: str) -> None:
    """A box from a file has the mass of a box; of two separate boxes only the exact method is right."""
    pytest.importorskip("trimesh")
    changes = "scale='0.1 0.1 -0.1' refpos='0 0 0.2'"
    head = f"<asset><mesh name='m' file='m.obj' inertia='{method}' {changes}/></asset>"
    pose = "pos='1 2 3' euler='10 20 30'"
    write_boxes(tmp_path / "m.obj", 0.0)
    mesh = f"<geom type='mesh' mesh='m' density='700' {pose}/>"
    link = read_mjcf(write_mjcf(tmp_path, hinge(inside=mesh), head)).links["b"]
    box = f"<frame {pose}><geom type='box' size='0.05 0.1 0.15' density='700' pos='0 0 -0.2'/></frame>"
    expected = read_mjcf(write_mjcf(tmp_path, hinge(inside=box))).links["b"]
    assert link.mass == pytest.approx(expected.mass, rel=1e-12)
    assert link.center_of_mass == pytest.approx(expected.center_of_mass, rel=1e-12)
    assert link.inertia == pytest.approx(expected.inertia, rel=1e-10, abs=1e-12)
    write_boxes(tmp_path / "m.obj", -2.0, 2.0)
    two_boxes = read_mjcf(write_mjcf(tmp_path, hinge(inside="<geom type='mesh' mesh='m'/>"), head)).links["b"]
    if method == "exact":
        assert two_boxes.mass == pytest.approx(12.0, rel=1e-12)
        along_z = 2 * 6.0 * ((0.01 + 0.04) / 12 + 0.04)
        assert two_boxes.inertia[2] == pytest.approx(along_z, rel=1e-12)
    else:
        assert two_boxes.mass > 12.5


def test_a_surface_without_volume_is_refused(tmp_path: Path) -> None:
    pytest.importorskip("trimesh")
    (tmp_path / "m.obj").write_text("v 0 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "ascii")
    head = "<asset><mesh name='m' file='m.obj'/></asset>"
    with pytest.raises(cosim.ModelError, match="has no volume"):
        read_mjcf(write_mjcf(tmp_path, hinge(inside="<geom type='mesh' mesh='m'/>"), head))


def test_only_geoms_of_a_range_of_groups_have_mass(tmp_path: Path) -> None:
    two_geoms = "<geom size='0.1' mass='2' group='0'/><geom size='0.1' mass='5' group='4'/>"
    for ends, mass in (("0 3", 2.0), ("0 4", 7.0), ("4 4", 5.0)):
        head = f"<compiler inertiagrouprange='{ends}'/>"
        assert read_mjcf(write_mjcf(tmp_path, hinge(inside=two_geoms), head)).links["b"].mass == mass


def test_shapes_are_looks(tmp_path: Path) -> None:
    material = "<asset><material name='m' rgba='0.1 0.2 0.3 1'/></asset>"
    shapes = (
        "<geom type='box' size='1 2 3' mass='1' material='m'/><geom type='capsule' size='0.1 0.2' group='3'/>"
        "<geom type='capsule' size='0.1 0.2' rgba='1 0 0 1'/><geom size='1' rgba='0 0 0 0'/>"
    )
    model: Any = Multibody.from_mjcf(write_mjcf(tmp_path, hinge(inside=shapes), material))
    assert model["b_look1"].sizes() == [2, 4, 6]
    assert model["b_look1"].color.tolist() == [0.1, 0.2, 0.3]
    assert model["b_look2"].sizes() == [0.1, 0.4]
    assert "b_look3" not in model.parts


def test_meshes_are_looks(tmp_path: Path) -> None:
    """The pose of a mesh on its geom is the inverse of refpos and refquat."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "a.stl").write_text("")
    head = (
        "<compiler meshdir='parts'/><asset><mesh file='a.stl' scale='1 2 3' refpos='0 0 1' "
        "refquat='0.7071067811865476 0 0 0.7071067811865476'/><mesh name='m' file='none.stl'/></asset>"
    )
    inertial = "<inertial mass='1' pos='0 0 0' diaginertia='1 1 1'/>"
    geoms = "<geom type='mesh' mesh='a' pos='1 0 0'/><geom type='mesh' mesh='m'/>"
    model: Any = Multibody.from_mjcf(write_mjcf(tmp_path, hinge(inside=inertial + geoms), head))
    look = model["b_look1"]
    assert (Path(look.file), look.sizes()) == ((tmp_path / "parts" / "a.stl").resolve(), [1, 2, 3])
    np.testing.assert_allclose(look.frame, [0, 1, 0, -1, 0, 0, 0, 0, 1, 1, 0, -1], atol=1e-15)
    assert "b_look2" not in model.parts
    assert any("shapes of type" in remark for remark in model.remarks)
