"""A run as a glTF file: bodies with their shapes, moved by an animation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_animation.mechanism import Mechanism
from cosim_animation.meshes import Mesh, normals_of
from cosim_animation.motion import body_poses, frame_rows, quaternions
from cosim_animation.scene import shapes_of

Array = NDArray[np.float64]
FLOAT, VERTICES = 5126, 34962
"""Words of glTF: numbers of four bytes; what a buffer of corners is for."""
ROUND = 24
"""Sides of what is round."""
GREY = (0.45, 0.45, 0.45)


def gltf_of(model: cosim.Model, result: cosim.Result) -> bytes:
    """A binary glTF 2.0 file (.glb) of a run: a node for each body, its shapes below it, one animation.

    Elements between two points are bars that stretch. glTF's y axis points up; units are metres and seconds
    from the start of the run. Of rows at one instant the last one counts.

    Parameters
    ----------
    model : Model
    result : Result
        Of a run of that model, with the coordinates of its joints or the poses of its bodies.

    Raises
    ------
    CosimError
        As of `scene_of`; pygltflib is not installed.

    References
    ----------
    Khronos Group, glTF 2.0 specification, 2021: sections 3.5 (nodes), 3.11 (animations), 4 (GLB).
    """
    mechanism = Mechanism.of(model)
    if not result.time.size:
        raise cosim.CosimError("the result has no rows: there is nothing to animate")
    rows = frame_rows(result.time)
    times = (result.time[rows] - result.time[0]).astype("<f4")
    rows = rows[np.append(np.diff(times) > 0.0, True)]
    poses = body_poses(mechanism, result, rows)
    shapes, meshes = shapes_of(mechanism)
    file = GltfFile(model.name, result.time[rows] - result.time[0])
    top = file.node(model.name, rotation=_upright(mechanism.up))
    file.file.scenes[0].nodes = [top]
    turns = quaternions(poses[:, :, :9])
    for number, name in enumerate(mechanism.bodies):
        body = file.node(name, top, translation=poses[0, number, 9:], rotation=turns[0, number])
        if number:
            file.animate(body, translation=poses[:, number, 9:], rotation=turns[:, number])
        for shape in shapes.get(name, []):
            _add_shape(file, body, shape, meshes)
    places = {name: number for number, name in enumerate(mechanism.bodies)}
    for link in mechanism.links:
        ends = []
        for carrier, pose in mechanism.ends(link):
            X = poses[:, places[carrier]]
            ends.append(X[:, 9:] + X[:, :9].reshape(-1, 3, 3) @ pose[9:])
        _add_bar(file, top, link, *ends)
    return file.content()


class GltfFile:
    """A glTF file that is made: nodes, shapes of one color, and one animation.

    Parameters
    ----------
    name : str
    times : ndarray
        Of all frames, s, rising.

    Raises
    ------
    CosimError
        pygltflib is not installed.
    """

    def __init__(self, name: str, times: Array) -> None:
        try:
            import pygltflib
        except ImportError:
            text = "glTF files need pygltflib: pip install 'cosim-framework[meshes]'"
            raise cosim.CosimError(text) from None
        self.words = pygltflib
        self.file = pygltflib.GLTF2(
            asset=pygltflib.Asset(version="2.0", generator="cosim"),
            scene=0,
            scenes=[pygltflib.Scene(name=name, nodes=[])],
        )
        self._blob = bytearray()
        self._corners: dict[Any, Any] = {}
        self._meshes: dict[Any, int] = {}
        self._materials: dict[tuple[float, ...], int] = {}
        self._animation = pygltflib.Animation(name=name, samplers=[], channels=[])
        self._times = self._accessor(times.reshape(-1, 1), None, has_bounds=True)

    def node(self, name: str, parent: int | None = None, **place: Any) -> int:
        """The number of a new node; its place is a ``translation``, a ``rotation`` (x y z w), a ``scale``."""
        values = {key: [float(x) for x in value] for key, value in place.items()}
        self.file.nodes.append(self.words.Node(name=name, children=[], **values))
        number = len(self.file.nodes) - 1
        if parent is not None:
            self.file.nodes[parent].children.append(number)
        return number

    def animate(self, node: int, **courses: Array) -> None:
        """Let a node follow values over time, on lines between them."""
        for path, values in courses.items():
            sampler = self.words.AnimationSampler(
                input=self._times, output=self._accessor(values, None), interpolation="LINEAR"
            )
            self._animation.samplers.append(sampler)
            target = self.words.AnimationChannelTarget(node=node, path=path)
            number = len(self._animation.samplers) - 1
            self._animation.channels.append(self.words.AnimationChannel(sampler=number, target=target))

    def mesh(self, key: Any, points: Array, normals: Array, color: tuple[float, ...]) -> int:
        """The number of triangles, three corners each, in one color; what has the same key is one mesh."""
        if (key, color) not in self._meshes:
            if key not in self._corners:
                position, normal = (
                    self._accessor(points, VERTICES, has_bounds=True),
                    self._accessor(normals, VERTICES),
                )
                self._corners[key] = self.words.Attributes(POSITION=position, NORMAL=normal)
            material = self._material(color)
            primitive = self.words.Primitive(attributes=self._corners[key], material=material, mode=4)
            self.file.meshes.append(self.words.Mesh(primitives=[primitive]))
            self._meshes[key, color] = len(self.file.meshes) - 1
        return self._meshes[key, color]

    def content(self) -> bytes:
        """The bytes of the file."""
        if self._animation.channels:
            self.file.animations = [self._animation]
        for node in self.file.nodes:
            node.children = node.children or None
        self.file.buffers = [self.words.Buffer(byteLength=len(self._blob))]
        self.file.set_binary_blob(bytes(self._blob))
        return b"".join(self.file.save_to_bytes())

    def _material(self, color: tuple[float, ...]) -> int:
        if color not in self._materials:
            factors = self.words.PbrMetallicRoughness(
                baseColorFactor=[*color, 1.0], metallicFactor=0.0, roughnessFactor=0.8
            )
            self.file.materials.append(self.words.Material(pbrMetallicRoughness=factors, doubleSided=True))
            self._materials[color] = len(self.file.materials) - 1
        return self._materials[color]

    def _accessor(self, values: Array, target: int | None, has_bounds: bool = False) -> int:
        data = np.ascontiguousarray(values, dtype="<f4")
        view = self.words.BufferView(
            buffer=0, byteOffset=len(self._blob), byteLength=data.nbytes, target=target
        )
        self._blob += data.tobytes()  # a multiple of four bytes
        self.file.bufferViews.append(view)
        kind = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}[data.shape[1]]
        bounds = {"min": data.min(axis=0).tolist(), "max": data.max(axis=0).tolist()} if has_bounds else {}
        accessor = self.words.Accessor(
            bufferView=len(self.file.bufferViews) - 1,
            componentType=FLOAT,
            count=data.shape[0],
            type=kind,
            **bounds,
        )
        self.file.accessors.append(accessor)
        return len(self.file.accessors) - 1


def _upright(up: Array) -> Array:
    """The least rotation (x y z w) that brings a direction into glTF's y axis."""
    from scipy.spatial.transform import Rotation

    turned, _ = Rotation.align_vectors([[0.0, 1.0, 0.0]], [up])
    return np.asarray(turned.as_quat(), dtype=float)


def _add_shape(file: GltfFile, body: int, shape: dict[str, Any], meshes: list[Mesh]) -> None:
    pose, size = np.array(shape["pose"]), shape["size"]
    color = tuple(shape["color"])
    turn = quaternions(pose[None, None, :9])[0, 0]
    place = {"translation": pose[9:], "rotation": turn}

    def add(kind: str, scale: Any, middle: Any = (0.0, 0.0, 0.0)) -> None:
        at = pose[9:] + pose[:9].reshape(3, 3) @ np.array(middle)
        node = file.node(kind, body, **{**place, "translation": at}, scale=scale)
        file.file.nodes[node].mesh = file.mesh(kind, *PRIMITIVES[kind](), color)

    if shape["kind"] == "mesh":
        mesh = meshes[shape["mesh"]]
        node = file.node("mesh", body, **place, scale=size)
        normals = np.repeat(normals_of(mesh), 3, axis=0)
        corners = mesh.points[mesh.triangles].reshape(-1, 3)
        file.file.nodes[node].mesh = file.mesh(("mesh", shape["mesh"]), corners, normals, color)
    elif shape["kind"] == "box":
        add("box", size)
    elif shape["kind"] == "sphere":
        add("sphere", [size[0]] * 3)
    else:
        add("cone" if shape["kind"] == "cone" else "cylinder", [size[0], size[0], size[1]])
        if shape["kind"] == "capsule":
            for end in (-0.5, 0.5):
                add("sphere", [size[0]] * 3, (0.0, 0.0, end * size[1]))


def _add_bar(file: GltfFile, top: int, name: str, start: Array, end: Array) -> None:
    """A cylinder from one course of points to another."""
    from scipy.spatial.transform import Rotation

    along = end - start
    length = np.linalg.norm(along, axis=1)
    if not length.max() > 0.0:
        return
    z = along / np.where(length > 0.0, length, 1.0)[:, None]
    z[length == 0.0] = [0.0, 0.0, 1.0]
    x = np.cross(np.where(np.abs(z[:, :1]) < 0.6, [[1.0, 0, 0]], [[0, 1.0, 0]]), z)
    x /= np.linalg.norm(x, axis=1, keepdims=True)
    rotations = np.stack([x, np.cross(z, x), z], axis=2)
    turns = Rotation.from_matrix(rotations).as_quat()
    for i in range(1, len(turns)):
        turns[i] *= 1.0 if turns[i] @ turns[i - 1] >= 0.0 else -1.0
    radius = np.full_like(length, 0.02 * length.max())
    scale = np.column_stack([radius, radius, np.maximum(length, 1e-6 * length.max())])
    middle = 0.5 * (start + end)
    node = file.node(name, top, translation=middle[0], rotation=turns[0], scale=scale[0])
    file.file.nodes[node].mesh = file.mesh("cylinder", *PRIMITIVES["cylinder"](), GREY)
    file.animate(node, translation=middle, rotation=turns, scale=scale)


def _grid(f: Any, normal: Any, rows: int) -> tuple[Array, Array]:
    """Triangles of a surface over the unit square, and their normals."""
    u, v = (k.reshape(-1) for k in np.meshgrid(np.arange(ROUND), np.arange(rows), indexing="ij"))
    corners = ((0, 0), (1, 0), (1, 1), (0, 0), (1, 1), (0, 1))
    a = np.stack([(u + du) / ROUND for du, _ in corners], axis=1).reshape(-1)
    b = np.stack([(v + dv) / rows for _, dv in corners], axis=1).reshape(-1)
    return f(a, b), normal(a, b)


def _box() -> tuple[Array, Array]:
    corners, normals = [], []
    for k in range(3):
        for side in (-1.0, 1.0):
            n = side * np.eye(3)[k]
            a, b = np.eye(3)[(k + 1) % 3], np.eye(3)[(k + 2) % 3]
            for s, t in ((-1, -1), (1, -1), (1, 1), (-1, -1), (1, 1), (-1, 1)):
                corners.append(0.5 * (n + side * s * a + t * b))
                normals.append(n)
    return np.array(corners), np.array(normals)


def _sphere() -> tuple[Array, Array]:
    def place(u: Array, v: Array) -> Array:
        turn, lift = 2.0 * np.pi * u, np.pi * (v - 0.5)
        return np.column_stack([np.cos(turn) * np.cos(lift), np.sin(turn) * np.cos(lift), np.sin(lift)])

    return _grid(place, place, ROUND // 2)


def _around(taper: float) -> tuple[Array, Array]:
    """The wall of a cylinder or cone of length 1 with its ends."""

    def wall(u: Array, v: Array) -> Array:
        r, turn = 1.0 - taper * v, 2.0 * np.pi * u
        return np.column_stack([r * np.cos(turn), r * np.sin(turn), v - 0.5])

    def outward(u: Array, v: Array) -> Array:
        turn, rise = 2.0 * np.pi * u, np.full_like(u, taper)
        return np.column_stack([np.cos(turn), np.sin(turn), rise]) / np.sqrt(1.0 + taper * taper)

    parts = [_grid(wall, outward, 1)]
    for z in (-0.5,) if taper else (-0.5, 0.5):

        def disc(u: Array, v: Array, z: float = z) -> Array:
            r = v if z > 0.0 else 1.0 - v
            return np.column_stack([r * np.cos(2 * np.pi * u), r * np.sin(2 * np.pi * u), np.full_like(u, z)])

        def level(u: Array, v: Array, z: float = z) -> Array:
            return np.column_stack([0.0 * u, 0.0 * u, np.full_like(u, np.sign(z))])

        parts.append(_grid(disc, level, 1))
    return np.vstack([p for p, _ in parts]), np.vstack([n for _, n in parts])


PRIMITIVES = {"box": _box, "sphere": _sphere, "cylinder": lambda: _around(0.0), "cone": lambda: _around(1.0)}
"""Corners and normals of what shapes are made of: size 1, radius 1, along z."""
