"""Geoms of MJCF: what they weigh and what they look like."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from cosim_mechanics.spatial import IDENTITY, compose, inverse
from cosim_robots.frames import Reals, elements_of, rotation_onto, rotation_to
from cosim_robots.mesh_files import find_mesh
from cosim_robots.mesh_mass import Solid, solid_of
from cosim_robots.mjcf_document import MjcfDocument
from cosim_robots.robot import Shape
from cosim_robots.xml_document import Element

Values = tuple[tuple[str, float | Reals | str], ...]
FITTED = "fitted"
"""Kind of a geom that MuJoCo fits into a mesh."""
WATER = 1000.0
"""kg/m3: the density of geoms by default."""
SIZES = {"sphere": 1, "capsule": 2, "cylinder": 2, "box": 3, "ellipsoid": 3}
MASSLESS = ("plane", "hfield", "sdf")
SHOWN_GROUPS = 3
"""Groups from this one on are hidden by default: shapes for contact."""


@dataclass(frozen=True)
class Weight:
    """Mass, centre of mass and central inertia (xx yy zz xy xz yz) in the frame of the body."""

    mass: float
    center: Reals
    inertia: Reals


@dataclass(frozen=True)
class Geom:
    """A geom of a body: its kind, pose on the body, and half sizes."""

    element: Element
    kind: str
    pose: Reals
    sizes: Reals
    group: int

    @property
    def volume(self) -> float:
        """The volume of the geom, m3."""
        if self.kind == "box":
            return 8.0 * math.prod(self.sizes)
        if self.kind == "ellipsoid":
            return 4.0 / 3.0 * math.pi * math.prod(self.sizes)
        r = self.sizes[0]
        ball = 4.0 / 3.0 * math.pi * r**3
        tube = 2.0 * math.pi * r * r * self.sizes[1] if len(self.sizes) > 1 else 0.0
        return {"sphere": ball, "cylinder": tube, "capsule": ball + tube}[self.kind]

    def moments(self, mass: float) -> Reals:
        """Central moments of inertia of an even density, kg.m2."""
        if self.kind in ("box", "ellipsoid"):
            a, b, c = (x * x for x in self.sizes)
            share = mass / (3.0 if self.kind == "box" else 5.0)
            return share * (b + c), share * (a + c), share * (a + b)
        r = self.sizes[0]
        if self.kind == "sphere":
            return (0.4 * mass * r * r,) * 3
        height = 2.0 * self.sizes[1]
        caps = mass * 4.0 * r / (4.0 * r + 3.0 * height) if self.kind == "capsule" else 0.0
        tube = mass - caps
        along = 0.5 * tube * r * r + 0.4 * caps * r * r
        across = tube * (3.0 * r * r + height * height) / 12.0 + 0.4 * caps * r * r
        across += caps * height * (3.0 * r + 2.0 * height) / 8.0
        return across, across, along


def read_geom(document: MjcfDocument, element: Element, X: Reals) -> Geom | None:
    """A geom whose defaults are filled in; X is the pose of its frame on the body. None, and a fault."""
    kind = element.get("type", "sphere")
    group = int(document.number(element, "group"))
    if kind in MASSLESS or kind == "mesh" or element.get("mesh") is not None:
        kind = kind if kind in (*MASSLESS, "mesh") else FITTED
        return Geom(element, kind, compose(X, document.pose(element)), (), group)
    if kind not in SIZES:
        document.fault(
            element, f"<geom type>: is {kind!r}, needs one of {', '.join((*SIZES, *MASSLESS))}, mesh"
        )
        return None
    sizes = document.numbers_up_to(element, "size", 3)
    pose = document.pose(element)
    ends = document.numbers_up_to(element, "fromto", 6) if kind != "sphere" else ()
    if ends:
        if len(ends) != 6:
            document.fault(element, "<geom fromto>: needs 6 numbers")
            return None
        first, second = np.array(ends[:3]), np.array(ends[3:])
        along = first - second
        half = 0.5 * float(np.linalg.norm(along))
        if not half > 0.0:
            document.fault(element, "<geom fromto>: both ends are one point")
            return None
        pose = (*rotation_onto(along), *map(float, 0.5 * (first + second)))
        r = sizes[:1] or (0.0,)
        sizes = (*r, half) if SIZES[kind] == 2 else (*r, *r, half)
    sizes = sizes[: SIZES[kind]]
    if len(sizes) < SIZES[kind] or not min(sizes) > 0.0:
        document.fault(element, f"<geom size>: a {kind} needs {SIZES[kind]} sizes above 0")
        return None
    return Geom(element, kind, compose(X, pose), sizes, group)


def weight_of(document: MjcfDocument, geoms: list[Geom], surfaces: dict[str, Surface]) -> Weight | None:
    """Mass properties of a body from its geoms; None where they have no mass."""
    groups = document.setting("inertiagrouprange", (0.0, 5.0))
    parts: list[tuple[float, NDArray[np.float64], NDArray[np.float64]]] = []
    for geom in geoms:
        if geom.kind in MASSLESS or not groups[0] <= geom.group <= groups[1]:
            continue
        element = geom.element
        mass = document.number(element, "mass", -1.0)
        density = document.number(element, "density", WATER)
        if mass == 0.0 or (mass < 0.0 and density == 0.0):
            continue
        if mass < 0.0 and element.get("mass") is not None:
            document.fault(element, f"<geom mass>: is {mass:g}, needs 0 or more")
            continue
        solid = _solid(document, geom, surfaces)
        if solid is None:
            continue
        mass = mass if mass > 0.0 else density * solid.volume
        R = np.array(geom.pose[:9]).reshape(3, 3)
        at = np.array(geom.pose[9:]) + R @ solid.center
        parts.append((mass, at, mass / solid.volume * R @ solid.inertia @ R.T))
    if not parts:
        return None
    total = sum(mass for mass, _, _ in parts)
    center = np.zeros(3) + sum(mass * at for mass, at, _ in parts) / total
    inertia = np.zeros((3, 3))
    for mass, at, I in parts:
        arm = at - center
        inertia = inertia + I + mass * (arm @ arm * np.eye(3) - np.outer(arm, arm))
    return Weight(total, tuple(map(float, center)), elements_of(inertia))


def _solid(document: MjcfDocument, geom: Geom, surfaces: dict[str, Surface]) -> Solid | None:
    """The solid of a geom of even density; None, and a fault, where it is not computed."""
    element = geom.element
    surface = surfaces.get(element.get("mesh", ""))
    is_known = surface is not None and surface.file is not None and surface.inertia in ("legacy", "exact")
    if element.get("shellinertia") == "true" or (geom.kind == "mesh" and not is_known) or geom.kind == FITTED:
        document.fault(
            element,
            "the mass of this body follows from a shell, a fitted shape or a mesh that is not read: give the "
            "body an <inertial> (mujoco.mj_saveLastXML writes it)",
        )
        return None
    if surface is None:
        return Solid(geom.volume, np.zeros(3), np.diag(geom.moments(geom.volume)))
    solid = surface.solid(document.place(element))
    if solid is None:
        document.fault(element, f"the surface in {surface.file} has no volume")
    return solid


@dataclass(frozen=True)
class Surface:
    """A ``<mesh>`` of the assets: its file, None where it is not there, and how the file is used."""

    file: Path | None
    scale: Reals
    reference: Reals
    inertia: str = "legacy"

    def solid(self, place: str) -> Solid | None:
        """The solid inside a geom, of even density, in its frame; None without volume."""
        from cosim_animation.meshes import read_surface

        assert self.file is not None
        mesh = read_surface(self.file, place)
        R = np.array(self.reference[:9]).reshape(3, 3)
        points = (mesh.points * self.scale - self.reference[9:]) @ R
        return solid_of(points, mesh.triangles, self.inertia == "exact")


def read_surfaces(document: MjcfDocument) -> dict[str, Surface]:
    """The surfaces of ``<asset>`` by name."""
    folder = document.compiler.get("meshdir", document.compiler.get("assetdir", ""))
    surfaces = {}
    for asset in document.children(document.root, "asset"):
        for element in document.children(asset, "mesh"):
            document.fill(element, "")
            file = element.get("file", "")
            at = document.numbers(element, "refpos", (0.0, 0.0, 0.0))
            w, *v = document.numbers(element, "refquat", (1.0, 0.0, 0.0, 0.0))
            size = math.sqrt(w * w + sum(x * x for x in v))
            turned = rotation_to(np.array(v) / size, w / size) if size > 0.0 else IDENTITY[:9]
            surfaces[element.get("name") or Path(file).stem] = Surface(
                find_mesh(document.path, file, folder),
                document.numbers(element, "scale", (1.0, 1.0, 1.0)),
                (*turned, *at),
                element.get("inertia", "legacy"),
            )
    return surfaces


def shape_of(
    document: MjcfDocument, geom: Geom, colors: dict[str, Reals], surfaces: dict[str, Surface]
) -> Shape | None:
    """The drawn shape of a geom; None for those that are hidden or have no shape here."""
    element = geom.element
    if geom.group >= SHOWN_GROUPS or geom.kind in MASSLESS:
        return None
    surface = surfaces.get(element.get("mesh", ""))
    if geom.kind == "mesh" and surface is not None and surface.file is not None:
        pose = compose(geom.pose, inverse(surface.reference))
        values: Values = (("file", str(surface.file)), ("scale", surface.scale))
        return _colored(document, element, colors, Shape("mesh", pose, values))
    if geom.kind not in SIZES or geom.kind == "ellipsoid":
        document.leave_out(element, f"shapes of type {geom.kind} are not taken over")
        return None
    a = geom.sizes
    sizes: Values = (("radius", a[0]),)
    if geom.kind == "box":
        sizes = (("size", tuple(2.0 * x for x in a)),)
    elif geom.kind != "sphere":
        sizes = (*sizes, ("length", 2.0 * a[1]))
    return _colored(document, element, colors, Shape(geom.kind, geom.pose, sizes))


def _colored(
    document: MjcfDocument, element: Element, colors: dict[str, Reals], shape: Shape
) -> Shape | None:
    """The shape in its color or that of its material; None where that is transparent."""
    grey = colors.get(element.get("material", ""), (0.5, 0.5, 0.5, 1.0))
    color = document.numbers(element, "rgba", grey)
    return replace(shape, color=tuple(min(max(x, 0.0), 1.0) for x in color[:3])) if color[3] > 0.0 else None
