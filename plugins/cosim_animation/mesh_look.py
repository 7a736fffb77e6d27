"""A surface from a file that shows a body."""

from __future__ import annotations

from typing import ClassVar

import cosim
from cosim.kit import data_file
from cosim_animation.look import Look


class MeshLook(Look):
    """The surface of an STL, OBJ, PLY, glTF or COLLADA file, in the coordinates of the file.

    Frames and signs
    ----------------
    `scale` along x, y, z of the file; a negative one mirrors. Numbers of the file times `scale` are metres.

    Limits
    ------
    Needs ``pip install cosim-framework[meshes]`` when it is drawn. Of a surface with more than 20,000
    triangles corners are merged until it has fewer. One color for the whole.

    Examples
    --------
    >>> MeshLook(body="arm", file="arm.stl", scale=(0.001, 0.001, 0.001)).sizes()
    [0.001, 0.001, 0.001]
    """

    known_as = ("stl", "obj", "gltf", "collada")
    shape: ClassVar[str] = "mesh"

    file = data_file("STL, OBJ, PLY, glTF (.glb, .gltf) or COLLADA")
    scale = cosim.parameter(
        shape=3, default=(1.0, 1.0, 1.0), description="metres for one unit of the file", elements="xyz"
    )

    def sizes(self) -> list[float]:
        """See `Look.sizes`."""
        return [float(factor) for factor in self.scale]
