"""A glTF file: its nodes, meshes and animation, and the arrays that they share."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

import cosim

Array = NDArray[np.float64]
FLOAT, VERTICES = 5126, 34962
"""Constants of glTF: the type of numbers of four bytes; the target of a buffer with corners."""
TRIANGLES = 4
"""Constant of glTF: the mode of a primitive."""


class GltfFile:
    """A glTF file that is being written: nodes, shapes of one color, and one animation.

    Parameters
    ----------
    name : str
    times : ndarray
        Of all frames, s, rising.

    Attributes
    ----------
    document : pygltflib.GLTF2

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
        self._pygltflib = pygltflib
        self.document = pygltflib.GLTF2(
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
        self.document.nodes.append(self._pygltflib.Node(name=name, children=[], **values))
        number = len(self.document.nodes) - 1
        if parent is not None:
            self.document.nodes[parent].children.append(number)
        return number

    def animate(self, node: int, **courses: Array) -> None:
        """Let a node follow values over time, linear between the frames."""
        for path, values in courses.items():
            sampler = self._pygltflib.AnimationSampler(
                input=self._times, output=self._accessor(values, None), interpolation="LINEAR"
            )
            self._animation.samplers.append(sampler)
            target = self._pygltflib.AnimationChannelTarget(node=node, path=path)
            number = len(self._animation.samplers) - 1
            self._animation.channels.append(self._pygltflib.AnimationChannel(sampler=number, target=target))

    def mesh(self, key: Any, points: Array, normals: Array, color: tuple[float, ...]) -> int:
        """The number of a mesh of triangles, three corners each, in one color; made once for each key."""
        if (key, color) not in self._meshes:
            if key not in self._corners:
                position, normal = (
                    self._accessor(points, VERTICES, has_bounds=True),
                    self._accessor(normals, VERTICES),
                )
                self._corners[key] = self._pygltflib.Attributes(POSITION=position, NORMAL=normal)
            material = self._material(color)
            primitive = self._pygltflib.Primitive(
                attributes=self._corners[key], material=material, mode=TRIANGLES
            )
            self.document.meshes.append(self._pygltflib.Mesh(primitives=[primitive]))
            self._meshes[key, color] = len(self.document.meshes) - 1
        return self._meshes[key, color]

    def content(self) -> bytes:
        """The bytes of the file."""
        if self._animation.channels:
            self.document.animations = [self._animation]
        for node in self.document.nodes:
            node.children = node.children or None
        self.document.buffers = [self._pygltflib.Buffer(byteLength=len(self._blob))]
        self.document.set_binary_blob(bytes(self._blob))
        return b"".join(self.document.save_to_bytes())

    def _material(self, color: tuple[float, ...]) -> int:
        """The number of the material of a color."""
        if color not in self._materials:
            factors = self._pygltflib.PbrMetallicRoughness(
                baseColorFactor=[*color, 1.0], metallicFactor=0.0, roughnessFactor=0.8
            )
            self.document.materials.append(
                self._pygltflib.Material(pbrMetallicRoughness=factors, doubleSided=True)
            )
            self._materials[color] = len(self.document.materials) - 1
        return self._materials[color]

    def _accessor(self, values: Array, target: int | None, has_bounds: bool = False) -> int:
        """The number of an array of the file with these values, a row each; `target` says what it is for."""
        data = np.ascontiguousarray(values, dtype="<f4")
        view = self._pygltflib.BufferView(
            buffer=0, byteOffset=len(self._blob), byteLength=data.nbytes, target=target
        )
        self._blob += data.tobytes()  # a multiple of four bytes
        self.document.bufferViews.append(view)
        kind = {1: "SCALAR", 3: "VEC3", 4: "VEC4"}[data.shape[1]]
        bounds = {"min": data.min(axis=0).tolist(), "max": data.max(axis=0).tolist()} if has_bounds else {}
        accessor = self._pygltflib.Accessor(
            bufferView=len(self.document.bufferViews) - 1,
            componentType=FLOAT,
            count=data.shape[0],
            type=kind,
            **bounds,
        )
        self.document.accessors.append(accessor)
        return len(self.document.accessors) - 1
