"""A run as a glTF file: bodies with their shapes, moved by an animation."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim_animation.gltf_file import GltfFile
from cosim_animation.mechanism import Mechanism
from cosim_animation.meshes import Mesh, normals_of
from cosim_animation.motion import body_poses, frame_rows, quaternions
from cosim_animation.primitives import PRIMITIVES
from cosim_animation.scene import shapes_of

Array = NDArray[np.float64]
BAR_COLOR = (0.45, 0.45, 0.45)
"""Grey, of elements between two points."""


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
    file.document.scenes[0].nodes = [top]
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


def _upright(up: Array) -> Array:
    """The least rotation (x y z w) that brings a direction into glTF's y axis."""
    from scipy.spatial.transform import Rotation

    turned, _ = Rotation.align_vectors([[0.0, 1.0, 0.0]], [up])
    return np.asarray(turned.as_quat(), dtype=float)


def _add_shape(file: GltfFile, body: int, shape: dict[str, Any], meshes: list[Mesh]) -> None:
    """Add a shape of a scene below the node of its body; `meshes` are those of the scene."""
    pose, size = np.array(shape["pose"]), shape["size"]
    color = tuple(shape["color"])
    turn = quaternions(pose[None, None, :9])[0, 0]
    place = {"translation": pose[9:], "rotation": turn}

    def add(kind: str, scale: Any, middle: Any = (0.0, 0.0, 0.0)) -> None:
        """Add a primitive whose middle is at a point of the shape."""
        position = pose[9:] + pose[:9].reshape(3, 3) @ np.array(middle)
        node = file.node(kind, body, **{**place, "translation": position}, scale=scale)
        file.document.nodes[node].mesh = file.mesh(kind, *PRIMITIVES[kind](), color)

    if shape["kind"] == "mesh":
        mesh = meshes[shape["mesh"]]
        node = file.node("mesh", body, **place, scale=size)
        normals = np.repeat(normals_of(mesh), 3, axis=0)
        corners = mesh.points[mesh.triangles].reshape(-1, 3)
        file.document.nodes[node].mesh = file.mesh(("mesh", shape["mesh"]), corners, normals, color)
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
    """Add a cylinder between two points that move."""
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
    file.document.nodes[node].mesh = file.mesh("cylinder", *PRIMITIVES["cylinder"](), BAR_COLOR)
    file.animate(node, translation=middle, rotation=turns, scale=scale)
