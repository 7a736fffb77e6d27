"""URDF: links and joints of a robot, from XML."""

from __future__ import annotations

from pathlib import Path

import cosim
from cosim_mechanics.spatial import IDENTITY, compose, norm
from cosim_robots.frames import Reals, pose_along, pose_from_rpy, turned_inertia
from cosim_robots.mesh_files import find_mesh
from cosim_robots.robot import Link, Mimic, Robot, RobotJoint, Shape
from cosim_robots.xml_document import Element, XmlDocument

KINDS = {
    "revolute": "pin",
    "continuous": "pin",
    "prismatic": "slider",
    "fixed": "weld",
    "floating": "free",
    "planar": "planar",
}
KINDS_WITH_AXIS = ("revolute", "continuous", "prismatic", "planar")
JOINT_CHILDREN = {"origin", "parent", "child", "axis", "limit", "dynamics", "mimic"}
MESH_NOT_IMPORTED = "meshes whose file is not there, or of a format that is not read, are not taken over"
ZERO = (0.0, 0.0, 0.0)


def read_urdf(path: Path) -> Robot:
    """The robot of a URDF file.

    Raises
    ------
    ModelError
        All faults of the file together, each with its line.
    """
    document = XmlDocument(path)
    root = document.root
    if root.tag != "robot":
        raise cosim.ModelError.of(document.place(root), f"is <{root.tag}>, needs <robot>: this is not a URDF")
    prefixed = [e for e in root.iter() if isinstance(e.tag, str) and e.tag.startswith("{")]
    if any("xacro" in element.tag for element in prefixed):
        text = "has macros of xacro: run `xacro FILE > robot.urdf` first"
        raise cosim.ModelError.of(document.place(prefixed[0]), text)
    robot = Robot(root.get("name") or path.stem, document.place(root))
    colors = {m.get("name", ""): c for m in root.iter("material") if (c := _color(document, m)) is not None}
    for element in document.children(root):
        if element.tag == "link":
            _add_link(document, robot, element, colors)
        elif element.tag == "joint":
            _add_joint(document, robot, element)
        elif element.tag != "material":
            document.leave_out(element, f"<{element.tag}> is not taken over")
    document.check()
    robot.remarks += document.remarks()
    return robot


def _pose(document: XmlDocument, element: Element | None) -> Reals:
    origin = None if element is None else document.child(element, "origin")
    return pose_from_rpy(document.numbers(origin, "xyz", ZERO), document.numbers(origin, "rpy", ZERO))


def _add_link(document: XmlDocument, robot: Robot, element: Element, colors: dict[str, Reals]) -> None:
    name = document.name(element)
    if name in robot.links:
        document.fault(element, f"a second link '{name}', the first is at {robot.links[name].place}")
        return
    inertial = document.child(element, "inertial")
    for child in document.children(element):
        if child.tag == "collision":
            document.leave_out(child, "shapes for contact (<collision>) are not taken over")
        elif child.tag not in ("inertial", "visual"):
            document.leave_out(child, f"<{child.tag}> of a link is not taken over")
    shapes = tuple(s for v in document.children(element, "visual") if (s := _shape(document, v, colors)))
    if inertial is None:
        robot.links[name] = Link(name, document.place(element), shapes=shapes)
        return
    pose = _pose(document, inertial)
    matrix = document.child(inertial, "inertia")
    moments = tuple(document.number(matrix, key) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
    weight = document.child(inertial, "mass")
    mass = document.number(weight, "value")
    if mass < 0.0:
        document.fault(weight, f"the mass of link '{name}' is {mass:g} kg, needs 0 or more")
    if mass == 0.0 and any(moments):
        document.leave_out(inertial, "an inertia of a link without mass is not taken over")
        moments = (0.0,) * 6
    inertia = turned_inertia(pose, moments)
    robot.links[name] = Link(
        name=name,
        place=document.place(element),
        mass=mass,
        center_of_mass=pose[9:],
        inertia=inertia,
        shapes=shapes,
    )


def _color(document: XmlDocument, material: Element | None) -> Reals | None:
    color = None if material is None else document.child(material, "color")
    if color is None:
        return None
    red, green, blue, _ = document.numbers(color, "rgba", (0.5, 0.5, 0.5, 1.0))
    return tuple(min(max(share, 0.0), 1.0) for share in (red, green, blue))


def _shape(document: XmlDocument, visual: Element, colors: dict[str, Reals]) -> Shape | None:
    """A box, a cylinder, a sphere or a surface from a file; None, and a remark, for what cannot be drawn."""
    geometry = document.child(visual, "geometry")
    form = next(document.children(geometry), None)
    if form is None or form.tag not in ("box", "cylinder", "sphere", "mesh"):
        document.leave_out(visual, "shapes unknown here")
        return None
    material = document.child(visual, "material")
    color = _color(document, material)
    if color is None and material is not None:
        color = colors.get(material.get("name", ""))
    sizes: tuple[tuple[str, float | Reals | str], ...]
    if form.tag == "mesh":
        file = find_mesh(document.path, form.get("filename", ""))
        if file is None:
            document.leave_out(visual, MESH_NOT_IMPORTED)
            return None
        factors = document.numbers(form, "scale", (1.0, 1.0, 1.0))
        return Shape("mesh", _pose(document, visual), (("file", str(file)), ("scale", factors)), color)
    if form.tag == "box":
        sides = document.numbers(form, "size", (0.0, 0.0, 0.0))
        sizes, least = (("size", sides),), min(sides)
    else:
        names = ("radius", "length") if form.tag == "cylinder" else ("radius",)
        numbers = [document.number(form, name) for name in names]
        sizes, least = tuple(zip(names, numbers, strict=True)), min(numbers)
    if not least > 0.0:
        document.leave_out(visual, "shapes without size are not taken over")
        return None
    return Shape(form.tag, _pose(document, visual), sizes, color)


def _add_joint(document: XmlDocument, robot: Robot, element: Element) -> None:
    name, kind = document.name(element), element.get("type", "")
    for inner in document.children(element):
        if inner.tag not in JOINT_CHILDREN:
            document.leave_out(inner, f"<{inner.tag}> of a joint is not taken over")
    if any(joint.name == name for joint in robot.joints):
        document.fault(element, f"a second joint '{name}'")
    if kind not in KINDS:
        document.fault(element, f"joint '{name}' has type {kind!r}, needs one of {', '.join(KINDS)}")
        return
    parent, child = (_link_at(document, name, element, end) for end in ("parent", "child"))
    frame_on_parent: Reals = _pose(document, element)
    frame_on_child: Reals = IDENTITY
    if kind in KINDS_WITH_AXIS:
        axis_frame = _axis_frame(document, name, kind, element)
        if axis_frame is None:
            return
        frame_on_child, frame_on_parent = axis_frame, compose(frame_on_parent, axis_frame)
    limit, dynamics = document.child(element, "limit"), document.child(element, "dynamics")
    lower, upper = _range(document, name, kind, limit)
    damping, friction = (document.number(dynamics, key) for key in ("damping", "friction"))
    if damping < 0.0 or friction < 0.0:
        document.fault(dynamics, f"damping and friction of joint '{name}' are 0 or more")
    robot.joints.append(
        RobotJoint(
            name=name,
            place=document.place(element),
            kind=KINDS[kind],
            parent=parent,
            child=child,
            frame_on_parent=frame_on_parent,
            frame_on_child=frame_on_child,
            lower=lower,
            upper=upper,
            effort=_bound(document, name, limit, "effort"),
            speed=_bound(document, name, limit, "velocity"),
            damping=damping,
            friction=friction,
            mimic=_mimic(document, name, element),
        )
    )


def _link_at(document: XmlDocument, name: str, element: Element, end: str) -> str:
    """The link at an end of a joint, "parent" or "child"; empty where there is none, which is a fault."""
    link = document.child(element, end)
    link_name = "" if link is None else link.get("link", "")
    if not link_name:
        document.fault(element, f"joint '{name}' has no <{end} link>")
    return link_name


def _axis_frame(document: XmlDocument, name: str, kind: str, element: Element) -> Reals | None:
    """The frame on the child with the axis of the joint; None, and a fault reported, if the axis is zero."""
    axis_element = document.child(element, "axis")
    axis = document.numbers(axis_element, "xyz", (1.0, 0.0, 0.0))
    if norm(axis) == 0.0:
        document.fault(axis_element, f"the axis of joint '{name}' is 0 0 0: it has no direction")
        return None
    return pose_along(axis, KINDS[kind])


def _range(
    document: XmlDocument, name: str, kind: str, limit: Element | None
) -> tuple[float | None, float | None]:
    """Lower and upper end of the coordinate of a revolute or prismatic joint."""
    if kind not in ("revolute", "prismatic") or limit is None:
        return None, None
    lower, upper = (document.number(limit, end) for end in ("lower", "upper"))
    if lower > upper:
        document.fault(limit, f"joint '{name}': the lower limit {lower:g} is above the upper one, {upper:g}")
    if lower == upper == 0.0:
        document.leave_out(
            limit, "a range from 0 to 0, which some tools write for no limit, is not taken over"
        )
        return None, None
    return lower, upper


def _bound(document: XmlDocument, name: str, limit: Element | None, attribute: str) -> float | None:
    """A bound of effort or speed; None where there is none."""
    bound = document.number(limit, attribute)
    if bound < 0.0:
        document.fault(limit, f"joint '{name}': <limit {attribute}> is {bound:g}, needs 0 or more")
    return bound or None


def _mimic(document: XmlDocument, name: str, element: Element) -> Mimic | None:
    mimic = document.child(element, "mimic")
    if mimic is None:
        return None
    leader = mimic.get("joint", "")
    if not leader:
        document.fault(mimic, f"joint '{name}' mimics no joint: <mimic joint> is missing")
    return Mimic(leader, document.number(mimic, "multiplier", 1.0), document.number(mimic, "offset", 0.0))
