"""Makes the tables of a model file from a robot."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from cosim_mechanics.spatial import IDENTITY
from cosim_robots.frames import is_possible
from cosim_robots.robot import ROOT, Link, Mimic, Robot, RobotJoint, Shape, line_of

STOP_PENETRATION = {"pin": 0.01, "slider": 0.001}
"""How far the greatest effort of a joint pushes it beyond its range: rad, m."""
DEFAULT_STOP_STIFFNESS = 1e4
"""Stiffness of a stop if the file states no greatest effort, N.m/rad or N/m."""
STOP_DISSIPATION = {"pin": 1.0, "slider": 10.0}
"""Dissipation of a stop: s/rad, s/m."""
SPEED_COUNTS = {"pin": 1, "slider": 1, "ball": 3, "planar": 3, "free": 6}
RESERVED = ("ground", "gravity", "energy")
"""Names that every model has."""


class JointPart(StrEnum):
    """The parts that a joint may add to the model; their names begin with its name, and are reserved."""

    MOTOR = "motor"
    STOP = "stop"
    DAMPER = "damper"
    FRICTION = "friction"
    SPRING = "spring"
    ROTOR = "rotor"
    MIMIC = "mimic"

    def of(self, joint: str, number: str = "") -> str:
        """The name of this part of a joint; `number` is that of the coordinate, of joints with several."""
        return f"{joint}_{self}{number}"


@dataclass
class ModelTables:
    """Tables of a model file, as data.

    Attributes
    ----------
    name : str
    data : dict
        Its content by table.
    remarks : list of str
        What the import left out, and what it changed.
    places : dict of str to str
        Where in the robot's file each part stands, by the name of the part.
    names : dict of str to str
        The name of each link and joint in the model by its own.
    """

    name: str
    data: dict[str, Any]
    remarks: list[str]
    places: dict[str, str] = field(default_factory=dict)
    names: dict[str, str] = field(default_factory=dict)


def tables_of(robot: Robot, actuators: bool, motors: bool) -> ModelTables:
    """The tables of a robot whose tree is checked.

    Parameters
    ----------
    robot : Robot
    actuators : bool
        Whether each joint with one coordinate gets an input for its effort.
    motors : bool
        Whether that is a motor with the greatest effort and speed of the file, and inputs for a target.
    """
    tables = ModelTables(robot.name, {"model": {"name": robot.name}}, [*robot.remarks])
    if robot.gravity is not None:
        tables.data["model"]["gravity"] = [*robot.gravity]
    links, joints = _names(robot)
    tables.names |= {**links, **joints}
    parts: dict[str, dict[str, Any]] = {
        "bodies": {links[link.name]: _body_table(link) for link in robot.links.values()},
        "looks": _look_tables(robot, links),
        "joints": {joints[joint.name]: _joint_table(joint, links) for joint in robot.joints},
        "constraints": {
            JointPart.MIMIC.of(joints[joint.name]): _coupler_table(joint.mimic, joints[joint.name], joints)
            for joint in robot.joints
            if joint.mimic is not None
        },
        "elements": {
            name: element
            for joint in robot.joints
            for name, element in _element_tables(joint, joints[joint.name], actuators, motors).items()
        },
    }
    tables.places |= {links[link.name]: link.place for link in robot.links.values()}
    tables.places |= {joints[joint.name]: joint.place for joint in robot.joints}
    tables.data |= {table: entries for table, entries in parts.items() if entries}
    tables.data["simulation"] = {"until": 1.0, "output": {"interval": 0.01}}
    moving = [name for name, joint in parts["joints"].items() if joint["type"] != "weld"]
    if moving:
        signals = [f"{name}.{coordinate}" for name in moving for coordinate in "qu"]
        tables.data["simulation"]["output"]["signals"] = signals
    tables.remarks += _remarks(robot, links, motors)
    tables.remarks += [f"'{old}' is called {new}" for old, new in tables.names.items() if old != new]
    return tables


def _look_tables(robot: Robot, links: dict[str, str]) -> dict[str, Any]:
    """The shapes of Ground and of all links, numbered for each."""
    carried = {"ground": robot.fixed_shapes, **{links[l.name]: l.shapes for l in robot.links.values()}}
    return {
        f"{name}_look{number}": _look_table(shape, name)
        for name, shapes in carried.items()
        for number, shape in enumerate(shapes, 1)
    }


def _coupler_table(mimic: Mimic, name: str, joints: dict[str, str]) -> dict[str, Any]:
    """The constraint by which a joint follows another one."""
    return {
        "type": "coordinate_coupler",
        "coordinate1": joints[mimic.leader],
        "coordinate2": name,
        "ratio": mimic.ratio,
        "offset": mimic.offset,
    }


def _remarks(robot: Robot, links: dict[str, str], motors: bool) -> list[str]:
    """Remarks on impossible inertias, on links without joints, and on bounds that no motor keeps."""
    remarks = [
        f"link '{link.name}' has moments of inertia that no body has: they are taken as written "
        f"({line_of(link.place)})"
        for link in robot.links.values()
        if not is_possible(link.inertia)
    ]
    for name, (carrier, pose) in robot.frames.items():
        carrier_text = "the world" if carrier == ROOT else f"'{links[carrier]}'"
        origin = [round(x, 9) + 0.0 for x in pose[9:]]
        remarks.append(f"link '{name}' is fixed on {carrier_text} and part of it, its origin at {origin}")
    if not motors and any(j.is_driven and not j.is_servo and (j.speed or j.effort) for j in robot.joints):
        remarks.append("greatest efforts and speeds of joints do not bound the inputs: import with motors")
    return remarks


def _names(robot: Robot) -> tuple[dict[str, str], dict[str, str]]:
    """The names in the model of all links and of all joints, by their names in the robot's file."""
    unique_names = UniqueNames()
    links = {name: unique_names.reserve(name) for name in robot.links}
    joints = {joint.name: unique_names.reserve(joint.name, "_joint") for joint in robot.joints}
    return links, joints


class UniqueNames:
    """Hands out names of letters, digits and underscores, each once."""

    def __init__(self) -> None:
        self._used_names = {*RESERVED}

    def reserve(self, name: str, suffix: str = "_") -> str:
        """A name that is free together with the names of a joint's parts; all of them are used from then on.

        Parameters
        ----------
        name : str
        suffix : str, optional
            Appended to a name that is used; where that does not suffice, underscores follow.
        """
        valid = re.sub(r"\W", "_", name.strip())
        if not re.match(r"[A-Za-z_]", valid):
            valid = f"_{valid}"
        candidate = valid
        while not self._used_names.isdisjoint(_names_with_parts(candidate)):
            candidate += suffix if candidate == valid else "_"
        self._used_names |= _names_with_parts(candidate)
        return candidate


def _names_with_parts(name: str) -> set[str]:
    """A name and those of all parts that a joint of this name may bring."""
    return {name, *(part.of(name) for part in JointPart)}


def _body_table(link: Link) -> dict[str, Any]:
    """The table of a body: three moments of inertia, and three products only if one is not zero."""
    body: dict[str, Any] = {} if is_possible(link.inertia) else {"type": "unchecked_body"}
    body["mass"] = link.mass
    if any(link.center_of_mass):
        body["center_of_mass"] = [*link.center_of_mass]
    inertia = link.inertia if any(link.inertia[3:]) else link.inertia[:3]
    return body | {"inertia": [*inertia]}


def _look_table(shape: Shape, body: str) -> dict[str, Any]:
    """The table of a shape that is drawn on a body."""
    look: dict[str, Any] = {"type": shape.kind, "body": body}
    if shape.pose != IDENTITY:
        look["frame"] = [*(shape.pose[9:] if shape.pose[:9] == IDENTITY[:9] else shape.pose)]
    look |= {name: [*size] if isinstance(size, tuple) else size for name, size in shape.sizes}
    return look if shape.color is None else look | {"color": [*shape.color]}


def _joint_table(joint: RobotJoint, links: dict[str, str]) -> dict[str, Any]:
    """The table of a joint; frames and a start value only if they are not the default."""
    entry: dict[str, Any] = {
        "type": joint.kind,
        "parent": links.get(joint.parent, "ground"),
        "child": links[joint.child],
    }
    for key in ("frame_on_parent", "frame_on_child"):
        pose = getattr(joint, key)
        if pose[:9] == IDENTITY[:9]:
            pose = pose[9:]
        if pose not in ((0.0, 0.0, 0.0), IDENTITY):
            entry[key] = [*pose]
    return entry | ({"q": joint.start} if joint.start else {})


def _element_tables(joint: RobotJoint, name: str, actuators: bool, motors: bool) -> dict[str, Any]:
    """The elements that act on the coordinates of a joint."""
    count = SPEED_COUNTS.get(joint.kind, 0)
    elements: dict[str, Any] = {}
    for number in range(count):
        coordinate = name if count == 1 else f"{name}[{number}]"
        suffix = "" if count == 1 else str(number)
        if joint.damping:
            damper = {"type": "coordinate_damper", "coordinate": coordinate, "damping": joint.damping}
            elements[JointPart.DAMPER.of(name, suffix)] = damper
        if joint.friction:
            friction = {"type": "coordinate_friction", "coordinate": coordinate, "friction": joint.friction}
            elements[JointPart.FRICTION.of(name, suffix)] = friction
        if joint.armature:
            rotor = {"type": "coordinate_inertia", "coordinate": coordinate}
            elements[JointPart.ROTOR.of(name, suffix)] = {**rotor, "reflected_inertia": joint.armature}
    if count == 1:
        elements |= _element_tables_of_one_coordinate(joint, name, actuators, motors)
    return elements


def _element_tables_of_one_coordinate(
    joint: RobotJoint, name: str, actuators: bool, motors: bool
) -> dict[str, Any]:
    """Spring, stop and motor of a pin or a slider."""
    elements: dict[str, Any] = {}
    if joint.stiffness:
        spring = {"type": "coordinate_spring", "coordinate": name, "stiffness": joint.stiffness}
        elements[JointPart.SPRING.of(name)] = spring | ({"neutral": joint.rest} if joint.rest else {})
    if joint.lower is not None and joint.upper is not None and joint.mimic is None:
        elements[JointPart.STOP.of(name)] = {
            "type": "coordinate_stop",
            "coordinate": name,
            "lower": joint.lower,
            "upper": joint.upper,
            "stiffness": joint.effort / STOP_PENETRATION[joint.kind]
            if joint.effort
            else DEFAULT_STOP_STIFFNESS,
            "dissipation": STOP_DISSIPATION[joint.kind],
        }
    if (actuators or motors) and joint.is_driven and joint.mimic is None:
        is_motor = motors or joint.is_servo
        motor: dict[str, Any] = {"type": "joint_motor" if is_motor else "actuator", "coordinate": name}
        values = {
            "stiffness": joint.servo_stiffness,
            "damping": joint.servo_damping,
            "greatest_effort": joint.effort or 0.0,
            "greatest_speed": joint.speed or 0.0,
        }
        if is_motor:
            motor |= {key: value for key, value in values.items() if value}
        elements[JointPart.MOTOR.of(name)] = motor
    return elements
