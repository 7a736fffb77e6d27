"""A robot as the tables of a model file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cosim_mechanics.spatial import IDENTITY
from cosim_robots.frames import is_possible
from cosim_robots.robot import ROOT, Link, Mimic, Robot, RobotJoint, Shape, line_of

OVERSHOOT = {"pin": 0.01, "slider": 0.001}
"""How far a joint is pushed beyond its range by its greatest effort: rad, m."""
DEFAULT_STIFFNESS = 1e4
"""Stiffness of a stop where the file says no greatest effort, N.m/rad or N/m."""
DISSIPATION = {"pin": 1.0, "slider": 10.0}
"""Of stops, s/rad and s/m."""
SPEED_COUNTS = {"pin": 1, "slider": 1, "ball": 3, "planar": 3, "free": 6}
RESERVED = ("ground", "gravity", "energy")
"""Names that every model has."""


@dataclass
class ModelTables:
    """Tables of a model file, as data.

    Attributes
    ----------
    name : str
    data : dict
        By table.
    remarks : list of str
        What was not taken over, and what was changed.
    places : dict of str to str
        By name of a part where in the robot's file it stands.
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
        "bodies": _bodies(robot, links, tables),
        "looks": _looks(robot, links),
        "joints": {joints[joint.name]: _joint(joint, links) for joint in robot.joints},
        "constraints": {
            f"{joints[joint.name]}_mimic": _coupler(joint.mimic, joints[joint.name], joints)
            for joint in robot.joints
            if joint.mimic is not None
        },
        "elements": {
            name: element
            for joint in robot.joints
            for name, element in _elements(joint, joints[joint.name], actuators, motors).items()
        },
    }
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


def _bodies(robot: Robot, links: dict[str, str], tables: ModelTables) -> dict[str, Any]:
    """The bodies by name; their places, and remarks on impossible ones, are noted in the tables."""
    bodies: dict[str, Any] = {}
    for link in robot.links.values():
        bodies[links[link.name]] = _body(link)
        tables.places[links[link.name]] = link.place
        if not is_possible(link.inertia):
            tables.remarks.append(
                f"link '{link.name}' has moments of inertia that no body has: they are taken as written "
                f"({line_of(link.place)})"
            )
    return bodies


def _looks(robot: Robot, links: dict[str, str]) -> dict[str, Any]:
    """The shapes of Ground and of all links, numbered for each."""
    carried = {"ground": robot.fixed_shapes, **{links[l.name]: l.shapes for l in robot.links.values()}}
    return {
        f"{name}_look{number}": _appearance(shape, name)
        for name, shapes in carried.items()
        for number, shape in enumerate(shapes, 1)
    }


def _coupler(mimic: Mimic, name: str, joints: dict[str, str]) -> dict[str, Any]:
    """The constraint by which a joint follows another one."""
    return {
        "type": "coordinate_coupler",
        "coordinate1": joints[mimic.leader],
        "coordinate2": name,
        "ratio": mimic.ratio,
        "offset": mimic.offset,
    }


def _remarks(robot: Robot, links: dict[str, str], motors: bool) -> list[str]:
    """Remarks on links without joints, and on bounds that no motor keeps."""
    remarks = []
    for name, (carrier, pose) in robot.frames.items():
        on = "the world" if carrier == ROOT else f"'{links[carrier]}'"
        at = [round(x, 9) + 0.0 for x in pose[9:]]
        remarks.append(f"link '{name}' is fixed on {on} and part of it, its origin at {at}")
    if not motors and any(j.is_driven and not j.is_servo and (j.speed or j.effort) for j in robot.joints):
        remarks.append("greatest efforts and speeds of joints do not bound the inputs: import with motors")
    return remarks


def _names(robot: Robot) -> tuple[dict[str, str], dict[str, str]]:
    """Names of parts for links and joints: letters, digits, underscores, each once."""
    used_names = {*RESERVED}
    links = {name: _new_name(name, used_names) for name in robot.links}
    joints = {joint.name: _new_name(joint.name, used_names, "_joint") for joint in robot.joints}
    return links, joints


def _new_name(name: str, used_names: set[str], ending: str = "_") -> str:
    """A name for a part and for those that come with it, which it takes."""
    new = re.sub(r"\W", "_", name.strip())
    if not re.match(r"[A-Za-z_]", new):
        new = f"_{new}"
    while any(derived in used_names for derived in (new, *_derived(new))):
        new += ending
        ending = "_"
    used_names |= {new, *_derived(new)}
    return new


def _derived(name: str) -> Iterable[str]:
    """Names of the parts that come with a joint."""
    parts = ("motor", "stop", "damper", "friction", "spring", "rotor", "mimic")
    return (f"{name}_{part}" for part in parts)


def _body(link: Link) -> dict[str, Any]:
    body: dict[str, Any] = {} if is_possible(link.inertia) else {"type": "unchecked_body"}
    body["mass"] = link.mass
    if any(link.center_of_mass):
        body["center_of_mass"] = [*link.center_of_mass]
    short = link.inertia if any(link.inertia[3:]) else link.inertia[:3]
    return body | {"inertia": [*short]}


def _appearance(shape: Shape, body: str) -> dict[str, Any]:
    """The table of a shape that is drawn on a body."""
    look: dict[str, Any] = {"type": shape.kind, "body": body}
    if shape.pose != IDENTITY:
        look["frame"] = [*(shape.pose[9:] if shape.pose[:9] == IDENTITY[:9] else shape.pose)]
    look |= {name: [*size] if isinstance(size, tuple) else size for name, size in shape.sizes}
    return look if shape.color is None else look | {"color": [*shape.color]}


def _joint(joint: RobotJoint, links: dict[str, str]) -> dict[str, Any]:
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


def _elements(joint: RobotJoint, name: str, actuators: bool, motors: bool) -> dict[str, Any]:
    """The elements that act on the coordinates of a joint."""
    count = SPEED_COUNTS.get(joint.kind, 0)
    elements: dict[str, Any] = {}
    for number in range(count):
        coordinate = name if count == 1 else f"{name}[{number}]"
        ending = "" if count == 1 else str(number)
        if joint.damping:
            damper = {"type": "coordinate_damper", "coordinate": coordinate, "damping": joint.damping}
            elements[f"{name}_damper{ending}"] = damper
        if joint.friction:
            friction = {"type": "coordinate_friction", "coordinate": coordinate, "friction": joint.friction}
            elements[f"{name}_friction{ending}"] = friction
        if joint.armature:
            rotor = {"type": "coordinate_inertia", "coordinate": coordinate}
            elements[f"{name}_rotor{ending}"] = {**rotor, "reflected_inertia": joint.armature}
    if count == 1:
        elements |= _elements_of_one_coordinate(joint, name, actuators, motors)
    return elements


def _elements_of_one_coordinate(
    joint: RobotJoint, name: str, actuators: bool, motors: bool
) -> dict[str, Any]:
    """Spring, stop and motor of a pin or a slider."""
    elements: dict[str, Any] = {}
    if joint.stiffness:
        spring = {"type": "coordinate_spring", "coordinate": name, "stiffness": joint.stiffness}
        elements[f"{name}_spring"] = spring | ({"neutral": joint.rest} if joint.rest else {})
    if joint.lower is not None and joint.upper is not None and joint.mimic is None:
        elements[f"{name}_stop"] = {
            "type": "coordinate_stop",
            "coordinate": name,
            "lower": joint.lower,
            "upper": joint.upper,
            "stiffness": joint.effort / OVERSHOOT[joint.kind] if joint.effort else DEFAULT_STIFFNESS,
            "dissipation": DISSIPATION[joint.kind],
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
        elements[f"{name}_motor"] = motor
    return elements
