"""MJCF: bodies, joints and actuators of a model of MuJoCo, from XML."""

from __future__ import annotations

import math
from dataclasses import replace
from pathlib import Path

import numpy as np

from cosim_mechanics.spatial import IDENTITY, compose, norm
from cosim_robots.frames import Reals, elements_of, matrix_of, pose_along, turned_inertia
from cosim_robots.mjcf_actuators import add_actuators
from cosim_robots.mjcf_document import AXES, MjcfDocument
from cosim_robots.mjcf_geoms import Geom, Weight, read_geom, read_surfaces, shape_of, weight_of
from cosim_robots.robot import ROOT, Link, Mimic, Robot, RobotJoint, Shape
from cosim_robots.xml_document import Element

KINDS = {"hinge": "pin", "slide": "slider", "ball": "ball", "free": "free"}
"""Kinds of joints by their words in the file."""
WITH_AXIS = ("hinge", "slide")
READ_SECTIONS = ("compiler", "option", "default", "worldbody", "actuator", "equality", "asset")
BODY_CHILDREN = ("inertial", "joint", "freejoint", "geom", "body")
UNREADABLE = ("composite", "flexcomp", "attach", "replicate")
Z = AXES["z"]
FOLLOWING_LINE = (0.0, 1.0, 0.0, 0.0, 0.0)
"""The polynomial by which a joint follows another one, by default."""


def read_mjcf(path: Path) -> Robot:
    """The bodies, joints and actuators of an MJCF file.

    Raises
    ------
    ModelError
        All faults of the file and of those that it includes, each with its line.
    """
    document = MjcfDocument(path)
    robot = Robot(document.root.get("model") or path.stem, document.place(document.root), joins_world=True)
    for element in document.children(document.root):
        if element.tag not in READ_SECTIONS:
            document.leave_out(element, f"<{element.tag}> is not taken over")
    BodyReader(document, robot).read()
    _read_options(document, robot)
    _bound_masses(document, robot)
    for element in document.children(document.root, "equality"):
        _read_equalities(document, robot, element)
    add_actuators(document, robot)
    document.check()
    robot.remarks += document.remarks()
    return robot


class BodyReader:
    """Reads ``<worldbody>``: adds a link for each body, one more for each further joint of a body.

    Parameters
    ----------
    document : MjcfDocument
    robot : Robot
    """

    def __init__(self, document: MjcfDocument, robot: Robot) -> None:
        self.document, self.robot = document, robot
        self.count = 0
        self.from_geoms = document.compiler.get("inertiafromgeom", "auto")
        self.autolimits = document.compiler.get("autolimits", "true") == "true"
        self.surfaces = read_surfaces(document)
        self.colors: dict[str, Reals] = {}
        for asset in document.children(document.root, "asset"):
            for material in document.children(asset, "material"):
                document.fill(material, "")
                self.colors[material.get("name", "")] = document.numbers(material, "rgba", (1.0,) * 4)

    def read(self) -> None:
        """Read all bodies; geoms of the world become shapes of Ground."""
        for world in self.document.children(self.document.root, "worldbody"):
            geoms = self._read_content(world, ROOT, "")
            self.robot.fixed_shapes += self._shapes(geoms)

    def _read_content(self, element: Element, name: str, inherited: str) -> list[Geom]:
        """Read the bodies inside an element. Returns the geoms of the element itself."""
        document, geoms = self.document, []
        for child, X, style in document.contents(element, inherited=inherited):
            if child.tag == "geom":
                geom = read_geom(document, document.fill(child, style), X)
                geoms += [] if geom is None else [geom]
            elif child.tag == "body":
                self._read_body(child, name, X, child.get("childclass", style))
            elif child.tag in UNREADABLE:
                document.fault(child, f"<{child.tag}> makes bodies that are not read: write them out")
            elif child.tag not in BODY_CHILDREN or name == ROOT:
                document.leave_out(child, f"<{child.tag}> of bodies is not taken over")
        return geoms

    def _read_body(self, element: Element, parent: str, X: Reals, inherited: str) -> None:
        """Add the links and joints of a body, then those of the bodies inside it."""
        document, robot = self.document, self.robot
        self.count += 1
        name = element.get("name") or f"body{self.count}"
        if name in robot.links:
            document.fault(element, f"a second body '{name}', the first is at {robot.links[name].place}")
            return
        if document.number(element, "gravcomp"):
            document.leave_out(element, "compensation of gravity (gravcomp) is not taken over")
        link = robot.links[name] = Link(name, document.place(element))
        pose = compose(X, document.pose(element))
        joints = [
            (child, inside, style)
            for child, inside, style in document.contents(element, inherited=inherited)
            if child.tag in ("joint", "freejoint")
        ]
        if not joints:
            robot.joints.append(RobotJoint(f"{name}_fixed", link.place, "weld", parent, name, pose))
        for number, (child, inside, style) in enumerate(joints, 1):
            carried = name
            if number < len(joints):
                carried = f"{name}_part{number}"
                robot.links[carried] = Link(carried, document.place(child), is_between=True)
            joint = self._read_joint(document, child, inside, style, f"{name}_joint{number}")
            if joint is not None:
                joint = replace(joint, parent=parent, child=carried)
                robot.joints.append(replace(joint, frame_on_parent=compose(pose, joint.frame_on_parent)))
            parent, pose = carried, IDENTITY
        geoms = self._read_content(element, name, inherited)
        weight = self._weight(element, geoms)
        link = replace(link, shapes=self._shapes(geoms))
        if weight is not None:
            link = replace(link, mass=weight.mass, center_of_mass=weight.center, inertia=weight.inertia)
        robot.links[name] = link

    def _weight(self, element: Element, geoms: list[Geom]) -> Weight | None:
        """The mass properties of a body, as written or from its geoms; None where it has no mass."""
        document = self.document
        inertial = document.child(element, "inertial")
        if self.from_geoms == "true" or (inertial is None and self.from_geoms != "false"):
            return weight_of(document, geoms, self.surfaces)
        if inertial is None:
            return None
        mass = document.number(inertial, "mass")
        pose = document.pose(inertial)
        full = document.numbers_up_to(inertial, "fullinertia", 6)
        moments = full or (*document.numbers(inertial, "diaginertia", (0.0, 0.0, 0.0)), 0.0, 0.0, 0.0)
        if mass < 0.0 or len(moments) != 6:
            document.fault(inertial, "<inertial>: needs a mass of 0 or more and 3 or 6 moments")
            return None
        return Weight(mass, pose[9:], turned_inertia(pose, moments)) if mass > 0.0 else None

    def _shapes(self, geoms: list[Geom]) -> tuple[Shape, ...]:
        return tuple(s for g in geoms if (s := self._shape(g)) is not None)

    def _shape(self, geom: Geom) -> Shape | None:
        return shape_of(self.document, geom, self.colors, self.surfaces)

    def _read_joint(
        self, document: MjcfDocument, element: Element, X: Reals, style: str, unnamed: str
    ) -> RobotJoint | None:
        """A joint on its body, whose frames coincide in the pose in which the file draws the body."""
        if element.tag == "joint":
            document.fill(element, style)
        word = "free" if element.tag == "freejoint" else element.get("type", "hinge")
        name = element.get("name") or unnamed
        if word not in KINDS:
            document.fault(element, f"joint '{name}' has type {word!r}, needs one of {', '.join(KINDS)}")
            return None
        if any(joint.name == name for joint in self.robot.joints):
            document.fault(element, f"a second joint '{name}'")
            return None
        frame = self._joint_frame(element, word, name)
        if frame is None:
            return None
        frame = compose(X, frame)
        reference = self._length(document.number(element, "ref"), word) if word in WITH_AXIS else 0.0
        lower, upper = self._range(element, word)
        damping, stiffness = self._damping_and_stiffness(element, word)
        friction, armature = document.number(element, "frictionloss"), document.number(element, "armature")
        if min(friction, armature, damping, stiffness) < 0.0:
            document.fault(element, f"joint '{name}': damping, stiffness, friction, armature are 0 or more")
        effort = self._effort(element)
        rest = document.number(element, "springref")
        return RobotJoint(
            name=name,
            place=document.place(element),
            kind=KINDS[word],
            parent=ROOT,
            child=ROOT,
            frame_on_parent=compose(frame, _moved(KINDS[word], -reference)),
            frame_on_child=frame,
            lower=lower,
            upper=upper,
            effort=effort,
            friction=friction,
            armature=armature,
            start=reference,
            rest=self._length(rest, word) if word != "free" else 0.0,
            damping=damping,
            stiffness=stiffness,
        )

    def _joint_frame(self, element: Element, word: str, name: str) -> Reals | None:
        """The frame of a joint on its body, z along its axis; None where that has no direction: a fault."""
        frame: Reals = (*IDENTITY[:9], *self.document.numbers(element, "pos", (0.0, 0.0, 0.0)))
        if word == "free":
            return IDENTITY
        if word not in WITH_AXIS:
            return frame
        axis = self.document.numbers(element, "axis", Z)
        if norm(axis) == 0.0:
            self.document.fault(element, f"the axis of joint '{name}' is 0 0 0: it has no direction")
            return None
        return compose(frame, pose_along(axis, KINDS[word]))

    def _damping_and_stiffness(self, element: Element, word: str) -> tuple[float, float]:
        """The linear coefficients of both; further coefficients are left out."""
        document = self.document
        coefficients: dict[str, float] = {}
        for key in ("damping", "stiffness"):
            values = document.numbers_up_to(element, key, 3) or (0.0,)
            coefficients[key] = values[0]
            if any(values[1:]):
                document.leave_out(element, f"{key} that grows with speed or angle is not taken over")
        if coefficients["stiffness"] and word not in WITH_AXIS:
            document.leave_out(element, "springs of ball and free joints are not taken over")
            coefficients["stiffness"] = 0.0
        if any(document.numbers_up_to(element, "springdamper", 2)):
            document.leave_out(element, "springs by time and damping ratio (springdamper) are not taken over")
        return coefficients["damping"], coefficients["stiffness"]

    def _length(self, value: float, word: str) -> float:
        return value if word == "slide" else self.document.angle(value)

    def _range(self, element: Element, word: str) -> tuple[float | None, float | None]:
        """The ends of the range of a joint."""
        ends = self.document.numbers_up_to(element, "range", 2)
        automatic = self.autolimits and bool(ends)
        if not self.document.is_true(element, "limited", automatic) or len(ends) != 2:
            return None, None
        if word not in WITH_AXIS:
            self.document.leave_out(element, "ranges of ball joints are not taken over")
            return None, None
        lower, upper = (self._length(end, word) for end in ends)
        if lower > upper:
            self.document.fault(
                element, f"<joint range>: the lower end {lower:g} is above the upper, {upper:g}"
            )
        return lower, upper

    def _effort(self, element: Element) -> float | None:
        """The greatest effort that acts on a joint; None where there is no limit."""
        ends = self.document.numbers_up_to(element, "actuatorfrcrange", 2)
        if not self.document.is_true(element, "actuatorfrclimited", self.autolimits and bool(ends)):
            return None
        return max(map(abs, ends), default=0.0) or None


def _moved(kind: str, by: float) -> Reals:
    """The pose of a pin or a slider at a value of its coordinate."""
    if kind == "slider":
        return (*IDENTITY[:9], by, 0.0, 0.0)
    s, c = math.sin(by), math.cos(by)
    return IDENTITY if by == 0.0 else (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)


def _read_options(document: MjcfDocument, robot: Robot) -> None:
    """Read the gravity of ``<option>``."""
    robot.gravity = (0.0, 0.0, -9.81)
    for option in document.children(document.root, "option"):
        robot.gravity = document.numbers(option, "gravity", robot.gravity)
        if any(document.number(option, key) for key in ("density", "viscosity")):
            document.leave_out(option, "forces of a fluid (density, viscosity) are not taken over")
        for flag in document.children(option, "flag"):
            if flag.get("gravity") == "disable":
                robot.gravity = (0.0, 0.0, 0.0)


def _bound_masses(document: MjcfDocument, robot: Robot) -> None:
    """Change masses and inertias as MuJoCo's compiler does: lower bounds, balanced moments, total mass."""
    least = document.setting("boundmass", (0.0,))[0], document.setting("boundinertia", (0.0,))[0]
    is_balanced = document.compiler.get("balanceinertia") == "true"
    bodies = [link for link in robot.links.values() if not link.is_between]
    if least != (0.0, 0.0) or is_balanced:
        for link in bodies:
            values, axes = np.linalg.eigh(matrix_of(link.inertia))
            values = np.maximum(values, least[1])
            if is_balanced and values[2] > values[0] + values[1]:
                values = np.full(3, values.mean())
            inertia = elements_of(axes @ np.diag(values) @ axes.T)
            mass = max(link.mass, least[0])
            robot.links[link.name] = replace(link, mass=mass, inertia=inertia if mass > 0.0 else link.inertia)
    total = document.setting("settotalmass", (-1.0,))[0]
    present = sum(link.mass for link in robot.links.values())
    if total > 0.0 and present > 0.0:
        scale = total / present
        for link in [*robot.links.values()]:
            inertia = tuple(scale * x for x in link.inertia)
            robot.links[link.name] = replace(link, mass=scale * link.mass, inertia=inertia)


def _read_equalities(document: MjcfDocument, robot: Robot, section: Element) -> None:
    """``<equality><joint>`` with a line for its polynomial: one joint follows another one."""
    joints = {joint.name: joint for joint in robot.joints}
    for element in document.children(section):
        document.fill(element, "", "equality")
        if element.get("active") == "false":
            continue
        follower = joints.get(element.get("joint1", ""))
        leader = joints.get(element.get("joint2", ""))
        coefficients = document.numbers_up_to(element, "polycoef", 5)
        a, b, *more = (*coefficients, *FOLLOWING_LINE[len(coefficients) :])
        if element.tag != "joint" or follower is None or leader is None or any(more) or follower.mimic:
            document.leave_out(element, "equalities other than lines between two joints are not taken over")
            continue
        offset = follower.start + a - b * leader.start
        mimic = Mimic(leader.name, b, offset)
        robot.replace_joint(follower, mimic=mimic)
        joints[follower.name] = replace(follower, mimic=mimic)
