"""MJCF as one tree of elements: included files in their places, defaults filled in, angles in radians."""

from __future__ import annotations

import math
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import cosim
from cosim_mechanics.spatial import IDENTITY, compose
from cosim_robots.frames import Reals, rotation_onto, rotation_to
from cosim_robots.xml_document import Element, XmlDocument

ACTUATORS = (
    *("general", "motor", "position", "velocity", "intvelocity"),
    *("damper", "cylinder", "muscle", "adhesion", "plugin"),
)
ORIENTATIONS = ("quat", "axisangle", "xyaxes", "zaxis", "euler")
DEEPEST_INCLUDE = 16
MOST_INCLUDED = 1000
AXES = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
ZERO = (0.0, 0.0, 0.0)

Attributes = dict[str, str]


class MjcfDocument(XmlDocument):
    """An MJCF file.

    Parameters
    ----------
    path : Path

    Attributes
    ----------
    compiler : dict of str to str
        The attributes of all ``<compiler>`` elements; a later one counts.
    in_degrees : bool
    defaults : dict of str to dict
        By class, then by element (one for all kinds of actuators): attributes with those of outer classes.

    Raises
    ------
    ModelError
        As of `XmlDocument`, for the main file and for included ones.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(path)
        if self.root.tag != "mujoco":
            raise cosim.ModelError.of(
                self.place(self.root), f"is <{self.root.tag}>, needs <mujoco>: this is not an MJCF file"
            )
        self._count = 0
        self._include(self.root, (path.resolve(),))
        self.compiler: Attributes = {}
        for element in self.children(self.root, "compiler"):
            self.compiler |= dict(element.attrib)
        self.in_degrees = self.compiler.get("angle", "degree") == "degree"
        self.defaults: dict[str, dict[str, Attributes]] = {"": {}}
        for element in self.children(self.root, "default"):
            self._add_class(element, {}, is_first=True)

    def _include(self, parent: Element, opened: tuple[Path, ...]) -> None:
        """Put the children of included files in the places of ``<include>``."""
        for element in [*self.children(parent)]:
            if element.tag != "include":
                self._include(element, opened)
                continue
            place = parent.index(element)
            parent[place : place + 1] = self._included(element, opened)

    def _included(self, element: Element, opened: tuple[Path, ...]) -> list[Element]:
        """The content of the file of an ``<include>``; if it cannot be read, nothing and a fault."""
        name = element.get("file", "")
        path = (self.path.parent / name).resolve()
        self._count += 1
        if Path(name).is_absolute() or path.suffix.lower() != ".xml":
            self.fault(element, f"<include file>: is {name!r}, needs a relative path that ends in .xml")
            return []
        if path in opened or len(opened) > DEEPEST_INCLUDE or self._count > MOST_INCLUDED:
            self.fault(element, f"<include file>: {name!r} includes itself, or too many files are included")
            return []
        try:
            root = self.parse(path)
        except cosim.ModelError as error:
            self.problems += [
                cosim.Problem(f"{self.place(element)}: {p.where}", p.text) for p in error.problems
            ]
            return []
        self._include(root, (*opened, path))
        content = [*self.children(root)]
        for child in content:
            self.set_file(child, path)
        return content

    def _add_class(self, element: Element, outer: dict[str, Attributes], is_first: bool = False) -> None:
        """Add a class of defaults and those inside it, which take over its attributes."""
        name = element.get("class", "" if is_first else None)
        if name is None:
            self.fault(element, "<default> inside another one has no class")
            return
        own = {tag: dict(attributes) for tag, attributes in outer.items()}
        for child in self.children(element):
            if child.tag != "default":
                tag = "actuator" if child.tag in ACTUATORS else child.tag
                own.setdefault(tag, {}).update(child.attrib)
        self.defaults[name] = own
        if is_first:
            self.defaults[""] = own
        for child in self.children(element, "default"):
            self._add_class(child, own)

    def fill(self, element: Element, inherited: str, tag: str = "") -> Element:
        """Give an element the attributes of its class (or of that of its body) that it does not have."""
        name = element.get("class", inherited)
        if name not in self.defaults:
            if name == "main":
                name = ""
            else:
                self.fault(element, str(cosim.LookUpError("class of defaults", name, self.defaults)))
                return element
        turned = any(element.get(key) is not None for key in ORIENTATIONS)
        for key, value in self.defaults[name].get(tag or element.tag, {}).items():
            if element.get(key) is None and not (turned and key in ORIENTATIONS):
                element.set(key, value)
        return element

    def contents(
        self, element: Element, X: Reals = IDENTITY, inherited: str = ""
    ) -> Iterator[tuple[Element, Reals, str]]:
        """Children of a body and of its ``<frame>``: each with the frame's pose and its class of defaults."""
        for child in self.children(element):
            if child.tag == "frame":
                inside = compose(X, self.pose(child))
                yield from self.contents(child, inside, child.get("childclass", inherited))
            else:
                yield child, X, inherited

    def setting(self, name: str, default: tuple[float, ...]) -> tuple[float, ...]:
        """Numbers of an attribute of ``<compiler>``."""
        elements = [e for e in self.children(self.root, "compiler") if e.get(name) is not None]
        return self.numbers(elements[-1], name, default) if elements else default

    def angle(self, value: float) -> float:
        """An angle of the file in radians."""
        return math.radians(value) if self.in_degrees else value

    def is_true(self, element: Element, name: str, automatic: bool) -> bool:
        """The truth of an attribute that is ``true``, ``false`` or ``auto`` (then `automatic`)."""
        word = element.get(name, "auto")
        if word not in ("true", "false", "auto"):
            self.fault(element, f"<{element.tag} {name}>: is {word!r}, needs true, false or auto")
        return automatic if word == "auto" else word == "true"

    def numbers_up_to(self, element: Element, attribute: str, most: int) -> tuple[float, ...]:
        """The finite numbers of an attribute, at most so many; none where the attribute is missing."""
        count = len((element.get(attribute) or "").split())
        if count > most:
            self.fault(element, f"<{element.tag} {attribute}>: has {count} numbers, needs at most {most}")
            return ()
        return self.numbers(element, attribute, (), count) if count else ()

    def pose(self, element: Element) -> Reals:
        """The pose by ``pos`` and one of ``quat``, ``axisangle``, ``xyaxes``, ``zaxis``, ``euler``."""
        position = self.numbers(element, "pos", ZERO)
        orientations = [name for name in ORIENTATIONS if element.get(name) is not None]
        if len(orientations) > 1:
            self.fault(element, f"has {' and '.join(orientations)}: needs one orientation")
        rotation = self._rotation(element, orientations[0]) if orientations else IDENTITY[:9]
        return (*rotation, *position)

    def _rotation(self, element: Element, name: str) -> Reals:
        """The rotation, by rows, that an attribute of this name describes."""
        counts = {"quat": 4, "axisangle": 4, "xyaxes": 6, "zaxis": 3, "euler": 3}
        values = np.array(self.numbers(element, name, (), counts[name]))
        size = np.linalg.norm(values[:3]) if name != "quat" else np.linalg.norm(values)
        if name != "euler" and (not len(values) or size == 0.0):
            self.fault(element, f"<{element.tag} {name}>: has no direction")
            return IDENTITY[:9]
        if name == "quat":
            w, *v = values / size
            return rotation_to(np.array(v), w)
        if name == "axisangle":
            half = 0.5 * self.angle(float(values[3]))
            return rotation_to(values[:3] / size * math.sin(half), math.cos(half))
        if name == "zaxis":
            return rotation_onto(values)
        if name == "xyaxes":
            x = values[:3] / size
            y = values[3:] - x * (x @ values[3:])
            if not np.linalg.norm(y) > 0.0:
                self.fault(element, f"<{element.tag} xyaxes>: both axes point the same way")
                return IDENTITY[:9]
            y = y / np.linalg.norm(y)
            return tuple(map(float, np.column_stack([x, y, np.cross(x, y)]).reshape(-1)))
        R = np.eye(3)
        for letter, angle in zip(self._sequence(element), values, strict=False):
            half = 0.5 * self.angle(float(angle))
            axis = np.array(AXES[letter.lower()])
            turn = np.array(rotation_to(axis * math.sin(half), math.cos(half))).reshape(3, 3)
            R = R @ turn if letter.islower() else turn @ R
        return tuple(map(float, R.reshape(-1)))

    def _sequence(self, element: Element) -> str:
        """The axes of Euler angles in their order; small letters turn with the body."""
        sequence = self.compiler.get("eulerseq", "xyz")
        if len(sequence) != 3 or set(sequence.lower()) - set("xyz"):
            self.fault(element, f"eulerseq of the compiler is {sequence!r}, needs three of xyzXYZ")
            return "xyz"
        return sequence
