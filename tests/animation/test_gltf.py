"""glTF files, read back with a reader of this module, and surfaces from files."""

from __future__ import annotations

import builtins
import json
import struct
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from optional_packages import needs_packages
from scipy.spatial.transform import Rotation

import cosim
from cosim.cli import main
from cosim_animation.meshes import Mesh, read_mesh, thinned
from cosim_animation.scene import scene_of
from cosim_mechanics import Multibody

pytestmark = needs_packages("trimesh", "pygltflib")

TETRAHEDRON = np.array([[0.0, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 3]])
FACES = [(0, 2, 1), (0, 1, 3), (0, 3, 2), (1, 2, 3)]


def write_tetrahedron(folder: Path, name: str) -> Path:
    """Write the tetrahedron in the format of the file name."""
    path = folder / name
    corners = [" ".join(map(str, corner)) for corner in TETRAHEDRON]
    if path.suffix == ".obj":
        lines = [f"v {c}" for c in corners] + [f"f {a + 1} {b + 1} {c + 1}" for a, b, c in FACES]
    else:
        lines = ["solid t"]
        for face in FACES:
            lines += ["facet normal 0 0 0", "outer loop", *(f"vertex {corners[i]}" for i in face)]
            lines += ["endloop", "endfacet"]
        lines += ["endsolid t"]
    path.write_text("\n".join(lines) + "\n", "ascii")
    return path


class Glb:
    """A .glb file, read as the specification says: header, JSON, numbers."""

    def __init__(self, content: bytes) -> None:
        magic, version, length = struct.unpack("<4sII", content[:12])
        assert (magic, version, length) == (b"glTF", 2, len(content))
        size, kind = struct.unpack("<I4s", content[12:20])
        assert kind == b"JSON" and size % 4 == 0
        self.json: dict[str, Any] = json.loads(content[20 : 20 + size])
        rest = content[20 + size :]
        size, kind = struct.unpack("<I4s", rest[:8])
        assert kind == b"BIN\0"
        self.numbers = rest[8 : 8 + size]

    def values(self, accessor: int) -> Any:
        description = self.json["accessors"][accessor]
        view = self.json["bufferViews"][description["bufferView"]]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[description["type"]]
        assert view["byteLength"] == 4 * width * description["count"] and view.get("byteOffset", 0) % 4 == 0
        array = np.frombuffer(self.numbers, "<f4", width * description["count"], view.get("byteOffset", 0))
        array = array.reshape(-1, width)
        if "min" in description:
            assert (
                description["min"] == array.min(axis=0).tolist()
                and description["max"] == array.max(axis=0).tolist()
            )
        return array

    def animation_of(self, name: str) -> dict[str, Any]:
        """Return the times of the animation and the animated values of a node."""
        number = [node["name"] for node in self.json["nodes"]].index(name)
        (animation,) = self.json["animations"]
        values = {}
        for channel in animation["channels"]:
            sampler = animation["samplers"][channel["sampler"]]
            if channel["target"]["node"] == number:
                values[channel["target"]["path"]] = self.values(sampler["output"])
                values["time"] = self.values(sampler["input"])[:, 0]
        return values


def pendulum(**look: Any) -> Multibody:
    model = Multibody("pendulum")
    model.body("bob", mass=2.0, inertia=(0.1, 0.2, 0.15), center_of_mass=(0, -0.5, 0))
    frame = ((0, 0, 1), (0, "90 deg", 0))
    model.joint("pin", child="bob", name="hinge", frame_on_parent=frame, frame_on_child=frame, q=0.3)
    values = {"stiffness": 10.0, "free_length": 0.1, "station_on_body1": (0, 1, 0)}
    model.add("mechanics.two_point_spring", "spring", body1="ground", body2="bob", **values)
    if look:
        model.add("animation.mesh", "look", body="bob", **look)
    return model


def test_poses_agree_with_the_run(tmp_path: Path) -> None:
    model = pendulum()
    # A sample gives two rows at one time.
    model.add("measures.sample_and_hold", "held", source="hinge.angle", period=0.05)
    result = model.simulate(until=0.2, signals=["hinge.q", "bob.X_GB"])
    path = result.animate(path=tmp_path / "run.glb")
    glb = Glb(path.read_bytes())
    motion = glb.animation_of("bob")
    assert (np.diff(motion["time"]) > 0.0).all()
    rows = np.searchsorted(result.time.astype("<f4"), motion["time"], side="right") - 1
    poses = result["bob.X_GB"][rows]
    np.testing.assert_allclose(motion["translation"], poses[:, 9:], atol=1e-5)
    rotations = Rotation.from_quat(motion["rotation"]).as_matrix().reshape(-1, 9)
    np.testing.assert_allclose(rotations, poses[:, :9], atol=1e-5)
    bar = glb.animation_of("spring")
    ends = poses[:, 9:] - np.array([0, 1, 0])
    np.testing.assert_allclose(bar["scale"][:, 2], np.linalg.norm(ends, axis=1), rtol=1e-4)
    scene = glb.json["scenes"][0]
    top = glb.json["nodes"][scene["nodes"][0]]
    up = Rotation.from_quat(top["rotation"]).apply([0, 0, 1])
    np.testing.assert_allclose(up, [0, 1, 0], atol=1e-12)


def test_a_box_has_its_corners(tmp_path: Path) -> None:
    """A box of 1 by 2 by 3 at (1, 2, 3), read back with trimesh."""
    trimesh = pytest.importorskip("trimesh")
    model = Multibody("crate", gravity=(0, -9.81, 0))
    model.body("crate", mass=1.0, inertia=(1, 1, 1))
    model.joint("slider", child="crate", name="rail")
    model.add("animation.box", "box", body="crate", size=(1, 2, 3), frame=(1, 2, 3), color="red")
    model.simulate(until=0.01, signals=["rail.q"]).animate(path=tmp_path / "crate.glb")
    scene = trimesh.load_scene(tmp_path / "crate.glb")
    np.testing.assert_allclose(scene.bounds, [[0.5, 1, 1.5], [1.5, 3, 4.5]], atol=1e-6)


@pytest.mark.parametrize("name", ["t.stl", "t.obj"])
def test_a_surface_from_a_file(tmp_path: Path, name: str) -> None:
    model = pendulum(file=str(write_tetrahedron(tmp_path, name)), scale=(0.5, 1, -1), color="green")
    result = model.simulate(until=0.01, signals=["hinge.q"])
    scene = scene_of(model, result)
    (shape,) = scene["bodies"][1]["shapes"]
    assert (shape["kind"], shape["mesh"], shape["size"]) == ("mesh", 0, [0.5, 1, -1])
    mesh = read_mesh(tmp_path / name, "look")
    assert sorted(map(tuple, mesh.points.tolist())) == sorted(map(tuple, TETRAHEDRON.tolist()))
    assert len(mesh.triangles) == 4
    glb = Glb(result.animate(path=tmp_path / "t.glb").read_bytes())
    assert any(node.get("scale") == [0.5, 1, -1] for node in glb.json["nodes"])


def test_paths_are_relative_to_the_model_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    write_tetrahedron(tmp_path, "t.stl")
    text = """
[bodies.crate]
mass = 1.0
inertia = [1, 1, 1]
joint = "free"

[looks.shell]
type = "mesh"
body = "crate"
file = "t.stl"
scale = [0.001, 0.001, 0.001]
"""
    (tmp_path / "crate.toml").write_text(text, "utf-8")
    monkeypatch.chdir(tmp_path.parent)
    target = tmp_path / "crate.glb"
    assert main(["animate", str(tmp_path / "crate.toml"), "--until", "0.01", "-o", str(target), "-q"]) == 0
    assert Glb(target.read_bytes()).json["meshes"]


@pytest.mark.parametrize(
    ("name", "content", "fault"),
    [
        ("none.stl", None, "No such file"),
        ("bad.stl", b"solid x\nfacet nothing", "bad.stl"),
        ("empty.obj", b"", "empty.obj"),
        ("picture.png", b"", "ends in none of .stl, .obj"),
        ("nan.obj", b"v nan 0 0\nv 1 0 0\nv 0 1 0\nf 1 2 3\n", "nan.obj"),
    ],
)
def test_files_without_a_surface_are_refused(tmp_path: Path, name: str, content: Any, fault: str) -> None:
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(cosim.CosimError, match=fault):
        read_mesh(tmp_path / name, "look")


@pytest.mark.parametrize("missing", ["trimesh", "pygltflib"])
def test_a_missing_package_is_named(tmp_path: Path, missing: str, monkeypatch: pytest.MonkeyPatch) -> None:
    result = pendulum(file=str(write_tetrahedron(tmp_path, "t.stl"))).simulate(
        until=0.01, signals=["hinge.q"]
    )
    import_module = builtins.__import__

    def refuse(name: str, *args: Any, **options: Any) -> Any:
        if name == missing:
            raise ImportError(name)
        return import_module(name, *args, **options)

    monkeypatch.setattr(builtins, "__import__", refuse)
    with pytest.raises(cosim.CosimError, match=rf"{missing}: pip install 'cosim-framework\[meshes\]'"):
        result.animate(path=tmp_path / "t.glb")


@pytest.mark.parametrize("limit", [1, 100, 3000])
def test_large_surfaces_are_thinned(limit: int) -> None:
    """A wavy sheet of 20,000 triangles keeps its extent up to the size of its new triangles."""
    n = 101
    x, y = (k.ravel() for k in np.meshgrid(np.linspace(0, 1, n), np.linspace(0, 1, n), indexing="ij"))
    points = np.column_stack([x, y, 0.1 * np.sin(6 * x)])
    i = (np.arange(n - 1)[:, None] * n + np.arange(n - 1)).ravel()
    triangles = np.vstack([np.column_stack([i, i + 1, i + n]), np.column_stack([i + 1, i + n + 1, i + n])])
    thin = thinned(Mesh(points, triangles), limit)
    assert 0 < len(thin.triangles) <= limit
    if limit >= 100:
        low, high = thin.points[thin.triangles].min(axis=(0, 1)), thin.points[thin.triangles].max(axis=(0, 1))
        np.testing.assert_allclose(low[:2], 0.0, atol=0.2)
        np.testing.assert_allclose(high[:2], 1.0, atol=0.2)
    assert len(thinned(Mesh(points, triangles), 20_000).triangles) == 20_000
