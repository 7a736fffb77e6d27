"""Parameters of `Collisions` from the shapes on the bodies of a model."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np

import cosim
from cosim_mechanics.contracts.joint import Joint
from cosim_mechanics.forces.materials import MATERIAL
from cosim_mechanics.forces.solids import BOX, BRISTLES, CYLINDER, FEATURES, HALF_SPACE, MESH, ROUND
from cosim_mechanics.shape_points import hull_triangles
from cosim_mechanics.shapes import Shape, Solid
from cosim_mechanics.spatial import pose


def name_of(part: Any) -> str:
    """The name of a part, or the name itself."""
    return part if isinstance(part, str) else str(part.name)


def joined_pairs(parts: Iterable[Any]) -> dict[frozenset[str], str]:
    """The names of joints by the pairs of bodies that they connect; without joints that leave all free."""
    joints = [part for part in parts if isinstance(part, Joint) and part.nu < 6]
    return {frozenset((name_of(joint.parent), name_of(joint.child))): joint.name for joint in joints}


def scene(
    model: cosim.Model, shapes: Mapping[Any, Shape | Sequence[Shape]], ignore: Iterable[Sequence[Any]] = ()
) -> dict[str, Any]:
    """The parameters of `Collisions`: bodies, their shapes, and the pairs of bodies that do not touch.

    Parameters
    ----------
    model : Model
        With the bodies and joints.
    shapes : mapping of body (or its name) to shape or shapes
    ignore : sequence of pairs of bodies
        Pairs that do not touch, besides those that a joint connects.

    Raises
    ------
    ModelError
        A body that is not in the model, a shape without solids, or one that lacks a rounding.
    """
    solids_of = _solids_by_body(shapes)
    moving = [name for name, part in model.parts.items() if {"X_GB", "mass"} <= part.declarations.keys()]
    fixed = [name for name in solids_of if name not in moving]
    _check_bodies(model, fixed, moving)
    places = [i for i, name in enumerate(moving) if solids_of.get(name)]
    if not places:
        raise cosim.ModelError.of("shapes", "no body with a mass has a shape, so nothing can touch")
    bodies = moving[places[0] : places[-1] + 1]  # a list without gaps, also bodies without shapes
    numbers = {name: i for i, name in enumerate([fixed[0] if fixed else "ground", *bodies])}
    _check_roundings(solids_of)
    return {
        "body1": next(iter(numbers)),
        "bodies": bodies[0],
        "shape_counts": [len(solids_of.get(name, ())) for name in bodies],
        "ignored": _ignored_rows(model, ignore, numbers, moving),
        **_rows([solid for name in numbers for solid in solids_of.get(name, ())]),
    }


def _solids_by_body(shapes: Mapping[Any, Shape | Sequence[Shape]]) -> dict[str, list[Solid]]:
    """The solids of each body, by its name."""
    solids_of: dict[str, list[Solid]] = {}
    for body, given in shapes.items():
        shapes_of_body = list(given) if isinstance(given, Sequence) else [given]
        solids_of[name_of(body)] = list(chain.from_iterable(_solids(body, shape) for shape in shapes_of_body))
    return solids_of


def _check_bodies(model: cosim.Model, fixed: Sequence[str], moving: Sequence[str]) -> None:
    """Raise an error for shapes on a part that is not a body."""
    for name in fixed:
        if "X_GB" not in getattr(model.parts.get(name), "declarations", ()):
            bodies = ", ".join(["ground", *moving])
            raise cosim.ModelError.of("shapes", f"'{name}' is not a body; there are {bodies}")


def _ignored_rows(
    model: cosim.Model,
    ignore: Iterable[Sequence[Any]],
    numbers: Mapping[str, int],
    moving: Sequence[str],
) -> list[tuple[int, ...]]:
    """The pairs of bodies that do not touch, by their numbers: joined ones, and those of the user.

    (0, 0) comes first, so that the list is never empty.
    """
    ignored = {tuple(map(name_of, pair)) for pair in ignore}
    for pair in ignored:
        if len(pair) != 2 or not set(pair) <= {"ground", *moving}:
            raise cosim.ModelError.of("ignore", f"{pair} is not a pair of bodies of this model")
    numbered = set(list(numbers)[1:])  # without body 1, which bodies that are joined to it may touch
    joined = joined_pairs(model.parts.values())
    pairs = {tuple(pair) for pair in joined if len(pair) == 2 and pair <= numbered}
    rows = sorted(
        tuple(sorted((numbers[a], numbers[b]))) for a, b in pairs | ignored if {a, b} <= numbers.keys()
    )
    return [(0, 0), *dict.fromkeys(rows)]


def _solids(body: Any, shape: Any) -> list[Solid]:
    """The solids of a shape on a body; `ModelError` where it has none, or lengths that cannot be."""
    name = name_of(body)
    if not isinstance(shape, Shape):
        raise cosim.ModelError.of("shapes", f"'{name}' has {shape!r}, needs a shape, as shapes.Sphere(0.1)")
    try:
        solids = shape.solids()
        numbers = [[*np.reshape(solid.size, 3), solid.rounding, solid.reach] for solid in solids]
        are_finite = bool(np.all(np.isfinite(numbers)))
        places = [pose(solid.frame) for solid in solids]
    except (TypeError, ValueError) as error:
        raise cosim.ModelError.of("shapes", f"'{name}' has {shape!r}: {error}") from None
    if not are_finite or not len(places) or any(solid.rounding < 0.0 for solid in solids):
        text = f"'{name}' has {shape!r}, needs lengths that are finite and not negative"
        raise cosim.ModelError.of("shapes", text)
    return solids


def _check_roundings(solids: Mapping[str, Sequence[Solid]]) -> None:
    """Refuse spheres without a radius, and sharp edges where another body has a half-space."""
    planes = [name for name, on_body in solids.items() if any(solid.kind == HALF_SPACE for solid in on_body)]
    for name, on_body in solids.items():
        for solid in on_body:
            if solid.kind == ROUND and not solid.rounding > 0.0:
                raise cosim.ModelError.of("radius", f"a shape of '{name}' has a radius of {solid.rounding} m")
            if solid.kind != HALF_SPACE and not solid.rounding > 0.0 and set(planes) - {name}:
                raise cosim.ModelError.of(
                    "rounding",
                    f"a shape of '{name}' has a rounding of {solid.rounding} m; a half-space needs more "
                    "than 0",
                )


def _materials(solids: Sequence[Solid]) -> dict[str, Any]:
    """The list of materials, and the number of each solid's material in it; 0 for none.

    If all solids have one, `stiffness`, which `Collisions` requires but does not use then, gets a value.
    """
    materials = list(dict.fromkeys(solid.material for solid in solids if solid.material is not None))
    number_of = {material: i for i, material in enumerate(materials, 1)}
    numbers = [0 if solid.material is None else number_of[solid.material] for solid in solids]
    rows = [(0.0,) * MATERIAL, *(material.row() for material in materials)]
    law = {} if 0 in numbers else {"stiffness": 0.5 * rows[1][0]}
    return {"material_numbers": numbers, "materials": rows, **law}


def _rows(solids: Sequence[Solid]) -> dict[str, Any]:
    """The parameters with a row for each solid."""
    sizes: list[list[float]] = []
    triangles: list[Any] = []
    vertices: list[Any] = []
    for solid in solids:
        size = [*solid.size, 0.0]
        if solid.kind == MESH:
            faces = hull_triangles(solid.vertices).tolist()
            if len(solid.vertices) >= FEATURES:
                raise cosim.ModelError.of("vertices", f"a mesh has more than {FEATURES - 1} vertices")
            size = [len(triangles), len(triangles) + len(faces), len(vertices), len(solid.vertices)]
            triangles += faces
            vertices += list(solid.vertices)
        sizes.append([float(number) for number in size])
    for solid, size in zip(solids, sizes, strict=True):
        limits = {BOX: min(size[:3]), CYLINDER: min(2.0 * size[0], size[1])}
        if 2.0 * solid.rounding > limits.get(solid.kind, np.inf):
            raise cosim.ModelError.of(
                "rounding",
                f"rounding is {solid.rounding} m, more than half of the smallest extent of the shape",
            )
    return {
        **_materials(solids),
        "kinds": [solid.kind for solid in solids],
        "frames": [pose(solid.frame) for solid in solids],
        "sizes": sizes,
        "roundings": [solid.rounding for solid in solids],
        "reaches": [solid.reach for solid in solids],
        "bristles": [i for i, solid in enumerate(solids) for _ in range(BRISTLES[solid.kind])],
        "triangles": triangles or [(0.0,) * 9],
        "vertices": vertices or [(0.0,) * 3],
    }
