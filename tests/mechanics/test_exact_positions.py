"""Shapes in positions whose depths and normals follow from geometry: at faces, edges, vertices, axes."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

import cosim
from cosim_mechanics import Multibody, shapes

HALF = math.sqrt(0.5)
LEVEL: Any = (1, 0, 0, 0)
ALONG_X: Any = (HALF, 0, HALF, 0)  # of the axis of a rod, which is z
ALONG_Y: Any = (HALF, HALF, 0, 0)
BOX, DRUM = shapes.Box((0.6, 0.4, 0.2)), shapes.Cylinder(0.2, 0.3)
TETRAHEDRON = shapes.ConvexMesh([(0, 0, 0), (0.4, 0, 0), (0, 0.3, 0), (0, 0, 0.25)])
BALL, ROD = shapes.Sphere(0.1), shapes.Capsule(0.05, (0, 0, 0.3))
ROUND_BOX, ROUND_DRUM = shapes.Box((0.6, 0.4, 0.2), 0.02), shapes.Cylinder(0.2, 0.3, 0.02)
OUT, CORNER = 0.05 * HALF, 0.05 / math.sqrt(3.0)


@pytest.mark.few(8)
@pytest.mark.parametrize(
    ("first", "second", "turn", "place", "depths", "normal"),
    [
        (BALL, BALL, LEVEL, (0.15, 0, 0), [0.05], (1, 0, 0)),
        (BALL, BALL, LEVEL, (0, 0, 0.2), [0.0], (0, 0, 1)),
        (BALL, ROD, LEVEL, (0.12, 0, 0), [0.03], (1, 0, 0)),
        (BALL, ROD, LEVEL, (0.12, 0, 0.3), [0.03], (1, 0, 0)),  # beside the end of the segment
        (BALL, ROD, LEVEL, (0, 0, 0.4), [0.05], (0, 0, 1)),
        (ROD, ROD, LEVEL, (0.08, 0, 0), [0.02], (1, 0, 0)),  # parallel
        (ROD, ROD, LEVEL, (0.08, 0, 0.6), [0.02], (1, 0, 0)),  # parallel, end beside end
        (ROD, ROD, LEVEL, (0, 0, 0.67), [0.03], (0, 0, 1)),  # one behind the other
        (ROD, ROD, ALONG_Y, (0.08, 0, 0), [0.02], (1, 0, 0)),  # crossed
        (ROD, ROD, ALONG_Y, (0, 0.37, 0), [0.03], (0, 1, 0)),  # an end on a side
        (BOX, BALL, LEVEL, (0.1, 0.05, 0.18), [0.02], (0, 0, 1)),
        (BOX, BALL, LEVEL, (0, 0, 0.2), [0.0], (0, 0, 1)),
        (BOX, BALL, LEVEL, (0.3 + OUT, 0, 0.1 + OUT), [0.05], (HALF, 0, HALF)),
        (BOX, BALL, LEVEL, (0.3 + CORNER, 0.2 + CORNER, 0.1 + CORNER), [0.05], (3**-0.5,) * 3),
        (BOX, BALL, LEVEL, (0.3, 0.2, 0.15), [0.05], (0, 0, 1)),  # exactly above a vertex
        (BOX, BALL, LEVEL, (0.3, 0.2, 0.1), [0.1], (1, 0, 0)),  # the centre in a vertex
        (BOX, BALL, LEVEL, (0, 0, 0), [0.2], (0, 0, 1)),  # concentric: the nearest face
        (BOX, ROD, ALONG_X, (0, 0, 0.14), [0.01], (0, 0, 1)),  # side on face
        (BOX, ROD, LEVEL, (0, 0, 0.44), [0.01 - 2.5e-5], (0, 0, 1)),  # an end, thinner by its crown
        (BOX, ROD, LEVEL, (0.33, 0, 0), [0.02], (1, 0, 0)),
        (BOX, ROD, ALONG_Y, (0.3 + OUT / 2, 0, 0.1 + OUT / 2), [0.025], (HALF, 0, HALF)),  # edge along side
        (BOX, ROD, (math.cos(math.pi / 8), 0, -math.sin(math.pi / 8), 0), (0.3 + OUT / 2, 0, 0.1 + OUT / 2),
         [0.025], (HALF, 0, HALF)),  # edge across side
        (DRUM, BALL, LEVEL, (0, 0, 0.24), [0.01], (0, 0, 1)),
        (DRUM, BALL, LEVEL, (0.28, 0, 0), [0.02], (1, 0, 0)),
        (DRUM, BALL, LEVEL, (0.2 + OUT, 0, 0.15 + OUT), [0.05], (HALF, 0, HALF)),
        (DRUM, BALL, LEVEL, (0.2, 0, 0.25), [0.0], (0, 0, 1)),  # exactly above the rim
        (DRUM, ROD, LEVEL, (0.24, 0, 0), [0.01], (1, 0, 0)),  # parallel
        (DRUM, ROD, ALONG_Y, (0.24, 0, 0), [0.01], (1, 0, 0)),  # crossed
        (DRUM, ROD, ALONG_X, (0, 0, 0.19), [0.01], (0, 0, 1)),
        (TETRAHEDRON, BALL, LEVEL, (-0.05, 0.1, 0.1), [0.05], (-1, 0, 0)),
        (TETRAHEDRON, BALL, LEVEL, (-OUT, -OUT, 0.1), [0.05], (-HALF, -HALF, 0)),
        (TETRAHEDRON, BALL, LEVEL, (-CORNER,) * 3, [0.05], (-(3**-0.5),) * 3),
        (TETRAHEDRON, BALL, LEVEL, (0, 0, -0.1), [0.0], (0, 0, -1)),  # exactly below a vertex
        (TETRAHEDRON, ROD, ALONG_X, (0.1, 0.1, -0.04), [0.01], (0, 0, -1)),
        (shapes.HalfSpace(), BALL, LEVEL, (0, 0, 0.09), [0.01], (0, 0, 1)),
        (shapes.HalfSpace(), BALL, LEVEL, (0, 0, 0.1), [0.0], (0, 0, 1)),
        (shapes.HalfSpace(), ROD, ALONG_X, (0, 0, 0.04), [0.01] * 2, (0, 0, 1)),
        (shapes.HalfSpace(), ROD, LEVEL, (0, 0, 0.34), [0.01, -0.59], (0, 0, 1)),
        (shapes.HalfSpace(), ROUND_BOX, LEVEL, (0, 0, 0.095), [0.005] * 4 + [-0.155] * 4, (0, 0, 1)),
        (shapes.HalfSpace(), ROUND_BOX, LEVEL, (0, 0, 0.1), [0.0] * 4 + [-0.16] * 4, (0, 0, 1)),
        (shapes.HalfSpace(), ROUND_DRUM, LEVEL, (0, 0, 0.145), [0.005] * 2 + [-0.255] * 2, (0, 0, 1)),
        (shapes.HalfSpace(), ROUND_DRUM, ALONG_X, (0, 0, 0.19), [0.01] * 2 + [-0.35] * 2, (0, 0, 1)),
    ],
)  # fmt: skip
def test_depths_normals_and_forces_of_exact_positions(
    first: Any, second: Any, turn: Any, place: Any, depths: list[float], normal: Any
) -> None:
    model = Multibody("pair", gravity=(0, 0, 0))
    body = model.body("body", mass=1.0, inertia=(1, 1, 1))
    model.joint("free", child=body, q=[*turn, *place])
    parts = model.shape_contacts("touch", "ground", first, body, second, stiffness=1e6)
    state = model.build().default_state().realize(cosim.Stage.DYNAMICS)
    actual = sorted((float(state[f"{part.name}.depth"]) for part in parts), reverse=True)
    np.testing.assert_allclose(actual, depths, rtol=0, atol=2e-16)
    for part in parts:
        depth, radius = state[f"{part.name}.depth"], state[f"{part.name}.curvature_radius"]
        np.testing.assert_allclose(state[f"{part.name}.normal"], normal, atol=1e-12)
        push = 4e6 / 3.0 * math.sqrt(radius) * max(depth, 0.0) ** 1.5
        assert state[f"{part.name}.normal_force"] == pytest.approx(push, rel=1e-12)
