"""Shapes of bodies, and which contacts two of them need."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypeAlias

import numpy as np

import cosim
from cosim_mechanics.contracts.contact_law import damping_ratio_of, loss_of
from cosim_mechanics.forces.materials import DAMPING, combined
from cosim_mechanics.forces.solids import BOX, CYLINDER, HALF_SPACE, MESH, ROUND, extent_of
from cosim_mechanics.shape_points import box_corners, capsule_ends, hull_triangles, hull_vertices
from cosim_mechanics.spatial import pose

Contacts: TypeAlias = list[tuple[str, dict[str, Any]]]
"""Ids of contacts and their parameters."""
ORIGIN = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Material:
    """The material of a shape; the contact law of two shapes follows from their materials.

    Attributes
    ----------
    modulus : float or text, N/m2, > 0
        Young's modulus of the material itself, not the effective one of two surfaces.
    poisson_ratio : float, 0 to 0.5
    restitution : float, 1e-4 to 1
        The speed after an impact of two such surfaces over that before it.
    dissipation : float or text, s/m, >= 0
        c of Hunt and Crossley.
    friction : float, >= 0
        The coefficient of friction of two such surfaces.

    Raises
    ------
    ModelError
        A value is out of its bounds.

    Examples
    --------
    >>> steel = Material("210 GPa", 0.3, restitution=0.9, friction=0.6)
    >>> steel.modulus
    210000000000.0
    """

    modulus: Any
    poisson_ratio: float = 0.3
    restitution: float = 1.0
    dissipation: Any = 0.0
    friction: float = 0.0

    def __post_init__(self) -> None:
        bounds = {"modulus": (0.0, np.inf), "poisson_ratio": (0.0, 0.5), "restitution": (1e-4, 1.0)}
        for name, unit in MATERIAL_UNITS.items():
            value = getattr(self, name)
            if isinstance(value, str):
                value = cosim.parse_quantity(value, unit)
            least, most = bounds.get(name, (0.0, np.inf))
            is_number = isinstance(value, (int, float)) and not isinstance(value, bool)
            if not is_number or not least <= value <= most or not np.isfinite(value):
                text = f"{name} is {value!r}, needs a number from {least:g} to {most:g}"
                raise cosim.ModelError.of("material", text)
            object.__setattr__(self, name, float(value))
        if self.modulus == 0.0:
            raise cosim.ModelError.of("material", "modulus is 0 N/m2, needs more")

    def row(self) -> tuple[float, ...]:
        """The numbers of `Collisions.materials`."""
        modulus = self.modulus / (1.0 - self.poisson_ratio**2)
        return (modulus, self.poisson_ratio, self.restitution, self.dissipation, self.friction)


MATERIAL_UNITS = {
    "modulus": "N/m2", "poisson_ratio": "1", "restitution": "1", "dissipation": "s/m", "friction": "1",
}  # fmt: skip


@dataclass(frozen=True)
class Solid:
    """A solid in the form that `Collisions` takes.

    Attributes
    ----------
    kind : int
        As of `Collisions.kinds`.
    frame : pose
        Of the solid on its body; its middle is the origin.
    size : three numbers, m
        Half axis, edges, or radius and length.
    rounding, reach : float, m
        As of `Collisions.roundings` and `reaches`.
    vertices : sequence of array_like, shape (3,), m
        Of a convex mesh, in its frame.
    material : Material or None
        None: the parameters of the contact law of `Collisions` itself.
    """

    kind: int
    frame: Any
    size: Any = ORIGIN
    rounding: float = 0.0
    reach: float = 0.0
    vertices: Any = ()
    material: Material | None = None


@cosim.plugin_kind("shape")
class Shape:
    """Base of shapes: a subclass names the contacts between a body of its shape and others.

    A plugin adds a shape by a subclass, and registers it if model files shall name it. A method returns None
    if there is no such contact. Each shape of this module has a `material`, which may be None.
    """

    def solids(self) -> list[Solid]:
        """The solids of which this shape consists in `Multibody.collisions`.

        Raises
        ------
        ModelError
            It has none.
        """
        raise cosim.ModelError.of(
            "shapes", f"{type(self).__name__} has no solids(): add its contacts by shape_contacts"
        )

    def on_half_space(self) -> Contacts | None:
        """Contacts with a half-space on body 1 and this shape on body 2."""
        return None

    def under_capsule(self) -> Contacts | None:
        """Contacts with this shape on body 1 and a sphere or capsule on body 2."""
        return None


@dataclass(frozen=True)
class HalfSpace(Shape):
    """All that lies at z < 0 of a frame on its body."""

    frame: Any = ORIGIN
    material: Material | None = None

    def solids(self) -> list[Solid]:
        """See `Shape`."""
        return [Solid(HALF_SPACE, self.frame, material=self.material)]


@dataclass(frozen=True)
class Capsule(Shape):
    """All that is nearer than `radius` to the segment that goes from `center` by `half_axis` both ways."""

    radius: float
    half_axis: Any
    center: Any = ORIGIN
    material: Material | None = None

    def solids(self) -> list[Solid]:
        """See `Shape`."""
        return [_solid(ROUND, {"position": self.center}, self.half_axis, self.radius, self.material)]

    def on_half_space(self) -> Contacts:
        """See `Shape`: a sphere at each end."""
        ends = capsule_ends(self.half_axis, {"position": self.center})
        return _spheres(ends, self.radius)

    def under_capsule(self) -> Contacts:
        """See `Shape`."""
        return [
            (
                "mechanics.capsule_contact",
                {
                    "center_on_body1": self.center,
                    "half_axis_on_body1": self.half_axis,
                    "radius1": self.radius,
                },
            )
        ]


@dataclass(frozen=True, init=False)
class Sphere(Capsule):
    """All that is nearer than `radius` to `center`."""

    def __init__(self, radius: float, center: Any = ORIGIN, material: Material | None = None) -> None:
        super().__init__(radius, ORIGIN, center, material)

    def on_half_space(self) -> Contacts:
        """See `Shape`."""
        return _spheres([self.center], self.radius)


@dataclass(frozen=True)
class Box(Shape):
    """A box; its `size` includes the rounding of corners and edges, which contacts with half-spaces need."""

    size: Any
    rounding: float = 0.0
    frame: Any = ORIGIN
    material: Material | None = None

    def solids(self) -> list[Solid]:
        """See `Shape`."""
        return [_solid(BOX, self.frame, self.size, self.rounding, self.material)]

    def on_half_space(self) -> Contacts:
        """See `Shape`: a sphere at each corner."""
        return _spheres(box_corners(self.size, self.rounding, self.frame), self.rounding)

    def under_capsule(self) -> Contacts:
        """See `Shape`."""
        values = {"frame_on_body1": self.frame, "size": self.size, "radius1": self.rounding}
        return [("mechanics.box_contact", values)]


@dataclass(frozen=True)
class Cylinder(Shape):
    """A cylinder about the z axis of its frame; contacts with half-spaces need rounded edges."""

    radius: float
    length: float
    rounding: float = 0.0
    frame: Any = ORIGIN
    material: Material | None = None

    def solids(self) -> list[Solid]:
        """See `Shape`."""
        size = (self.radius, self.length, 0.0)
        return [_solid(CYLINDER, self.frame, size, self.rounding, self.material)]

    def on_half_space(self) -> Contacts:
        """See `Shape`: the lowest and the highest point of both rims."""
        if not 0.0 < self.rounding < self.radius or 2.0 * self.rounding > self.length:
            raise cosim.ModelError.of(
                "rounding",
                f"rounding is {self.rounding} m, needs more than 0 and less than radius and length / 2",
            )
        X_BF = pose(self.frame)
        axis = (X_BF[2], X_BF[5], X_BF[8])
        rim_centers = capsule_ends((0.0, 0.0, 0.5 * self.length - self.rounding), self.frame)
        return [
            (
                "mechanics.rim_contact",
                {
                    "center_on_body2": center,
                    "axis_on_body2": axis,
                    "rim_radius": self.radius - self.rounding,
                    "radius": self.rounding,
                    "end": end,
                },
            )
            for center in rim_centers
            for end in ("lowest", "highest")
        ]

    def under_capsule(self) -> Contacts:
        """See `Shape`."""
        values = {
            "frame_on_body1": self.frame,
            "cylinder_radius": self.radius,
            "length": self.length,
            "radius1": self.rounding,
        }
        return [("mechanics.cylinder_contact", values)]


@dataclass(frozen=True)
class ConvexMesh(Shape):
    """The convex hull of vertices, enlarged by the rounding, which contacts with half-spaces need."""

    vertices: Any
    rounding: float = 0.0
    frame: Any = ORIGIN
    material: Material | None = None

    def solids(self) -> list[Solid]:
        """See `Shape`."""
        corners = np.array(hull_vertices(self.vertices))
        middle = 0.5 * (corners.min(axis=0) + corners.max(axis=0))
        X_BM = pose(self.frame)
        X_BM[9:] += X_BM[:9].reshape(3, 3) @ middle
        reach = float(np.linalg.norm(corners - middle, axis=1).max()) + self.rounding
        vertices = (corners - middle).tolist()
        return [Solid(MESH, X_BM, ORIGIN, self.rounding, reach, vertices, self.material)]

    def on_half_space(self) -> Contacts:
        """See `Shape`: a sphere at each vertex."""
        return _spheres(hull_vertices(self.vertices, self.frame), self.rounding)

    def under_capsule(self) -> Contacts:
        """See `Shape`."""
        values = {"triangles": hull_triangles(self.vertices, self.frame), "radius1": self.rounding}
        return [("mechanics.mesh_contact", values)]


def contacts_between(shape1: Shape, shape2: Shape) -> tuple[Contacts, bool]:
    """The contacts between two shapes, and whether body 1 of these contacts has the second shape.

    Parameters
    ----------
    shape1, shape2 : Shape

    Raises
    ------
    ModelError
        There is no contact of these two, or one lacks the rounding that a plane needs.

    Examples
    --------
    >>> contacts_between(Sphere(0.1), Box((1, 1, 1)))
    ([('mechanics.box_contact', {'frame_on_body1': (0.0, 0.0, 0.0), 'size': (1, 1, 1), 'radius1': 0.0, \
'center_on_body2': (0.0, 0.0, 0.0), 'half_axis_on_body2': (0.0, 0.0, 0.0), 'radius2': 0.1})], True)
    """
    for first, second, changed in ((shape1, shape2, False), (shape2, shape1, True)):
        contacts: Contacts | None = None
        common_values: dict[str, Any] = {}
        if isinstance(first, HalfSpace):
            contacts, common_values = second.on_half_space(), {"frame_on_body1": first.frame}
        elif isinstance(second, Capsule):
            contacts = first.under_capsule()
            common_values = {
                "center_on_body2": second.center,
                "half_axis_on_body2": second.half_axis,
                "radius2": second.radius,
            }
        if contacts is not None:
            return [(id_, {**values, **common_values}) for id_, values in contacts], changed
    names = [type(shape).__name__ for shape in (shape1, shape2)]
    raise cosim.ModelError.of(
        "",
        f"there is no contact of {names[0]} and {names[1]}: one of them has to be a HalfSpace, a Sphere or a "
        "Capsule",
    )


def law_between(shape1: Shape, shape2: Shape) -> dict[str, float]:
    """The parameters of `Contact` that follow from the materials of two shapes; none without materials.

    Raises
    ------
    ModelError
        Only one of them has a material.

    Examples
    --------
    >>> rubber = Material("5 MPa", 0.5, friction=0.9)
    >>> law_between(HalfSpace(material=rubber), Sphere(0.1, material=rubber))["static_friction"]
    0.9
    """
    materials = [getattr(shape, "material", None) for shape in (shape1, shape2)]
    if materials == [None, None]:
        return {}
    if None in materials:
        raise cosim.ModelError.of(
            "material", "one of two shapes has a material: give both one, or none and a stiffness"
        )
    rows = [list(material.row()) for material in materials if material is not None]
    for row in rows:
        row[DAMPING] = damping_ratio_of(row[DAMPING])
    modulus, ratio, damping, dissipation, friction = combined(rows[0], rows[1])
    return {
        "stiffness": modulus,
        "poisson_ratio": ratio,
        "restitution": math.exp(-loss_of(damping)),
        "dissipation": dissipation,
        "static_friction": friction,
    }


def _spheres(centers: Sequence[Any], radius: float) -> Contacts:
    """Contacts of spheres with a half-space."""
    if not radius > 0.0:
        raise cosim.ModelError.of("rounding", f"rounding is {radius} m, a plane needs more than 0")
    return [("mechanics.sphere_contact", {"center_on_body2": point, "radius": radius}) for point in centers]


def _solid(kind: int, frame: Any, size: Any, rounding: float, material: Material | None) -> Solid:
    """A solid whose reach, the radius of a sphere around it, follows from its size."""
    reach = extent_of(kind, np.reshape(size, 3), rounding)
    return Solid(kind, frame, size, rounding, reach, material=material)
