"""A robot as the tables of a model file."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from cosim_mechanics.spatial import IDENTITY
from cosim_robots.frames import is_possible
from cosim_robots.robot import ROOT, Link, Robot, RobotJoint, Shape, line_of

PLAY = {"pin": 0.01, "slider": 0.001}
"""How far a joint is pushed beyond its range by its greatest effort: rad, m."""
UNSAID = 1e4
"""Stiffness of a stop where the file says no greatest effort, N.m/rad or N/m."""
DISSIPATION = {"pin": 1.0, "slider": 10.0}
"""Of stops, s/rad and s/m."""
SPEEDS = {"pin": 1, "slider": 1, "ball": 3, "planar": 3, "free": 6}
HELD = ("ground", "gravity", "energy")


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
    made = ModelTables(robot.name, {"model": {"name": robot.name}}, [*robot.remarks])
    if robot.gravity is not None:
        made.data["model"]["gravity"] = [*robot.gravity]
    links, joints = _names(robot)
    made.names |= {**links, **joints}
    bodies: dict[str, Any] = {}
    moving: dict[str, Any] = {}
    constraints: dict[str, Any] = {}
    elements: dict[str, Any] = {}
    for link in robot.links.values():
        bodies[links[link.name]] = _body(link)
        made.places[links[link.name]] = link.place
        if not is_possible(link.inertia):
            made.remarks.append(
                f"link '{link.name}' has moments of inertia that no body has: they are taken as written "
                f"({line_of(link.place)})"
            )
    for joint in robot.joints:
        name = joints[joint.name]
        made.places[name] = joint.place
        ends = {"parent": links.get(joint.parent, "ground"), "child": links[joint.child]}
        moving[name] = _joint(joint, ends)
        if joint.mimic is not None:
            constraints[f"{name}_mimic"] = {
                "type": "coordinate_coupler",
                "coordinate1": joints[joint.mimic.leader],
                "coordinate2": name,
                "ratio": joint.mimic.ratio,
                "offset": joint.mimic.offset,
            }
        elements |= _elements(joint, name, actuators, motors)
    for name, (carrier, pose) in robot.frames.items():
        on = "the world" if carrier == ROOT else f"'{links[carrier]}'"
        at = [round(x, 9) + 0.0 for x in pose[9:]]
        made.remarks.append(f"link '{name}' is fixed on {on} and part of it, its origin at {at}")
    if not motors and any(j.is_driven and not j.is_servo and (j.speed or j.effort) for j in robot.joints):
        made.remarks.append(
            "greatest efforts and speeds of joints do not bound the inputs: import with motors"
        )
    made.remarks += [f"'{old}' is called {new}" for old, new in made.names.items() if old != new]
    signals = [f"{name}.{x}" for name, joint in moving.items() if joint["type"] != "weld" for x in "qu"]
    looks = {
        f"{name}_look{number}": _look(shape, name)
        for name, shapes in [
            ("ground", robot.fixed_shapes),
            *((links[l.name], l.shapes) for l in robot.links.values()),
        ]
        for number, shape in enumerate(shapes, 1)
    }
    tables = {
        "bodies": bodies,
        "looks": looks,
        "joints": moving,
        "constraints": constraints,
        "elements": elements,
    }
    made.data |= {table: entries for table, entries in tables.items() if entries}
    made.data["simulation"] = {"until": 1.0, "output": {"interval": 0.01}}
    if signals:
        made.data["simulation"]["output"]["signals"] = signals
    return made


def _names(robot: Robot) -> tuple[dict[str, str], dict[str, str]]:
    """Names of parts for links and joints: letters, digits, underscores, each once."""
    taken = {*HELD}
    links = {name: _new_name(name, taken) for name in robot.links}
    joints = {joint.name: _new_name(joint.name, taken, "_joint") for joint in robot.joints}
    return links, joints


def _new_name(name: str, taken: set[str], ending: str = "_") -> str:
    word = re.sub(r"\W", "_", name.strip())
    if not re.match(r"[A-Za-z_]", word):
        word = f"_{word}"
    while any(made in taken for made in (word, *_derived(word))):
        word += ending
        ending = "_"
    taken |= {word, *_derived(word)}
    return word


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


def _look(shape: Shape, body: str) -> dict[str, Any]:
    look: dict[str, Any] = {"type": shape.kind, "body": body}
    if shape.pose != IDENTITY:
        look["frame"] = [*(shape.pose[9:] if shape.pose[:9] == IDENTITY[:9] else shape.pose)]
    look |= {name: [*size] if isinstance(size, tuple) else size for name, size in shape.sizes}
    return look if shape.color is None else look | {"color": [*shape.color]}


def _joint(joint: RobotJoint, ends: dict[str, str]) -> dict[str, Any]:
    entry: dict[str, Any] = {"type": joint.kind, **ends}
    for key in ("frame_on_parent", "frame_on_child"):
        pose = getattr(joint, key)
        if pose[:9] == IDENTITY[:9]:
            pose = pose[9:]
        if pose not in ((0.0, 0.0, 0.0), IDENTITY):
            entry[key] = [*pose]
    return entry | ({"q": joint.start} if joint.start else {})


def _elements(joint: RobotJoint, name: str, actuators: bool, motors: bool) -> dict[str, Any]:
    """What acts on the coordinates of a joint."""
    made: dict[str, Any] = {}
    count = SPEEDS.get(joint.kind, 0)
    for number in range(count):
        on = {"coordinate": name if count == 1 else f"{name}[{number}]"}
        ending = "" if count == 1 else str(number)
        if joint.damping:
            made[f"{name}_damper{ending}"] = {"type": "coordinate_damper", **on, "damping": joint.damping}
        if joint.friction:
            made[f"{name}_friction{ending}"] = {
                "type": "coordinate_friction",
                **on,
                "friction": joint.friction,
            }
        if joint.armature:
            rotor = {"type": "coordinate_inertia", **on, "reflected_inertia": joint.armature}
            made[f"{name}_rotor{ending}"] = rotor
    if count != 1:
        return made
    if joint.stiffness:
        spring = {"type": "coordinate_spring", **on, "stiffness": joint.stiffness}
        made[f"{name}_spring"] = spring | ({"neutral": joint.rest} if joint.rest else {})
    if joint.lower is not None and joint.upper is not None and joint.mimic is None:
        stiffness = joint.effort / PLAY[joint.kind] if joint.effort else UNSAID
        ends = {"lower": joint.lower, "upper": joint.upper}
        made[f"{name}_stop"] = {
            "type": "coordinate_stop",
            **on,
            **ends,
            "stiffness": stiffness,
            "dissipation": DISSIPATION[joint.kind],
        }
    if (actuators or motors) and joint.is_driven and joint.mimic is None:
        is_motor = motors or joint.is_servo
        made[f"{name}_motor"] = {"type": "joint_motor" if is_motor else "actuator", **on}
        values = {"stiffness": joint.servo_stiffness, "damping": joint.servo_damping}
        values |= {"greatest_effort": joint.effort or 0.0, "greatest_speed": joint.speed or 0.0}
        if is_motor:
            made[f"{name}_motor"] |= {key: value for key, value in values.items() if value}
    return made
