"""The tree of a robot: what joints must make, its first link, and joints that can be left out."""

from __future__ import annotations

import math
from dataclasses import replace

import numpy as np

import cosim
from cosim_mechanics.spatial import IDENTITY, compose, inverse, station
from cosim_robots.frames import Reals, elements_of, matrix_of, turned_inertia
from cosim_robots.robot import ROOT, Link, Robot, RobotJoint, line_of
from cosim_robots.xml_document import MOST_SHOWN

BASES = ("fixed", "free")
LEAST_MASS = 1e-30
"""kg: of a link without mass between two joints that move; lost beside any other in rounding."""


def check_tree(robot: Robot) -> str:
    """The first link: the one that no joint moves; `ROOT` where the file says how its bodies stand.

    Raises
    ------
    ModelError
        Unknown links, links moved by two joints, joints in a circle, several robots in one file; mimics of
        unknown joints and in a circle.
    """
    problems: list[cosim.Problem] = []
    moved: dict[str, RobotJoint] = {}
    for joint in robot.joints:
        for end in (joint.parent, joint.child):
            if end not in robot.links and not (end == ROOT and robot.joins_world):
                text = str(cosim.LookUpError("link", end, robot.links))
                problems.append(cosim.Problem(joint.place, f"joint '{joint.name}': {text}"))
        if joint.child in moved:
            text = (
                f"link '{joint.child}' is moved by the joints '{moved[joint.child].name}' and '{joint.name}'"
            )
            problems.append(cosim.Problem(joint.place, f"{text}: a link has one"))
        moved.setdefault(joint.child, joint)
    problems += _mimic_faults(robot)
    if not robot.links:
        problems.append(cosim.Problem(robot.place, "has no links"))
    if problems:
        raise cosim.ModelError(problems)
    if robot.joins_world:
        return ROOT
    roots = [name for name in robot.links if name not in moved]
    if len(roots) > 1:
        listed = ", ".join(f"'{name}'" for name in roots)
        text = f"the links {listed} are moved by no joint: a robot has one first link"
        raise cosim.ModelError.of(robot.links[roots[1]].place, text)
    reached = {*roots}
    while more := {j.child for j in robot.joints if j.parent in reached} - reached:
        reached |= more
    circle = [joint for joint in robot.joints if joint.child not in reached]
    if circle:
        listed = ", ".join(f"'{joint.name}'" for joint in circle)
        raise cosim.ModelError.of(circle[0].place, f"the joints {listed} make a circle")
    return roots[0]


def _mimic_faults(robot: Robot) -> list[cosim.Problem]:
    joints = {joint.name: joint for joint in robot.joints}
    problems = []
    for joint in [*robot.joints]:
        if joint.mimic is None:
            continue
        leader = joints.get(joint.mimic.leader)
        if leader is None:
            missing = cosim.LookUpError("joint", joint.mimic.leader, joints)
            robot.remarks.append(
                f"the mimic of joint '{joint.name}' is not taken over: {missing} ({joint.line})"
            )
            robot.replace_joint(joint, mimic=None)
            continue
        if {leader.kind, joint.kind} - {"pin", "slider", "weld"}:
            text = "both joints of a mimic have one coordinate"
        elif joint.name in _leaders(joints, joint):
            text = "mimics itself"
        else:
            continue
        problems.append(cosim.Problem(joint.place, f"joint '{joint.name}': {text}"))
    return problems


def _leaders(joints: dict[str, RobotJoint], joint: RobotJoint) -> list[str]:
    """Names of the joints that a joint follows, at most once each."""
    names: list[str] = []
    mimic = joint.mimic
    while mimic is not None and mimic.leader not in names:
        names.append(mimic.leader)
        mimic = joints[mimic.leader].mimic if mimic.leader in joints else None
    return names


def place_base(robot: Robot, root: str, base: str | None) -> None:
    """Put the joint between the world and the first link.

    Parameters
    ----------
    robot : Robot
    root : str
    base : str, optional
        ``"fixed"`` or ``"free"``; None: as the file says, or fixed.
    """
    if robot.joins_world:
        if base is not None:
            raise cosim.CosimError(
                f"{robot.place}: this file already connects its bodies to the world: omit base"
            )
        return
    base = BASES[0] if base is None else base
    if base not in BASES:
        raise cosim.CosimError(f"base is {base!r}, needs one of {', '.join(BASES)}")
    used_names = {joint.name for joint in robot.joints} | set(robot.links)
    name = next(n for n in ("base_joint", "base_joint_", "base_joint__") if n not in used_names)
    kind = "free" if base == "free" else "weld"
    robot.joints.insert(0, RobotJoint(name, robot.links[root].place, kind, ROOT, root))


def fix_followers(robot: Robot) -> None:
    """Fix joints that mimic a fixed one."""
    while followers := [j for j in robot.joints if j.mimic is not None and _is_fixed(robot, j.mimic.leader)]:
        for joint in followers:
            assert joint.mimic is not None
            if not joint.is_fixed:
                at = joint.mimic.offset
                robot.remarks.append(
                    f"joint '{joint.name}' mimics a joint that is fixed: it is fixed at {at:g} ({joint.line})"
                )
                _fix(robot, joint, at)
            else:
                robot.replace_joint(joint, mimic=None)
    for joint in [j for j in robot.joints if j.mimic is not None and j.is_fixed]:
        robot.remarks.append(f"joint '{joint.name}' is fixed: its mimic is not taken over ({joint.line})")
        robot.replace_joint(joint, mimic=None)


def _is_fixed(robot: Robot, name: str) -> bool:
    return any(joint.is_fixed for joint in robot.joints if joint.name == name)


def _fix(robot: Robot, joint: RobotJoint, at: float) -> None:
    """Fix a joint where its coordinate has a value."""
    s, c = math.sin(at), math.cos(at)
    across = (c, -s, 0.0, s, c, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0)
    if joint.kind == "slider":
        across = (*IDENTITY[:9], at, 0.0, 0.0)
    frame = compose(compose(joint.frame_on_parent, across), inverse(joint.frame_on_child))
    robot.replace_joint(joint, kind="weld", frame_on_parent=frame, frame_on_child=IDENTITY, mimic=None)


def fix_massless_tips(robot: Robot) -> None:
    """Fix joints that move no mass at all, since no equation determines how they move."""
    masses = {name: link.mass for name, link in robot.links.items()}
    for joint in reversed(_joints_from_root(robot)):
        if masses[joint.child] == 0.0 and not joint.is_fixed and joint.armature == 0.0:
            robot.remarks.append(f"joint '{joint.name}' moves no mass: it is fixed at 0 ({joint.line})")
            _fix(robot, joint, 0.0)
        if joint.parent != ROOT:
            masses[joint.parent] += masses[joint.child]


def merge_fixed(robot: Robot, keep: bool) -> None:
    """Merge links that are fixed to each other into one body.

    Parameters
    ----------
    robot : Robot
    keep : bool
        Whether links with mass stay bodies of their own.
    """
    for joint in reversed(_joints_from_root(robot)):
        child = robot.links[joint.child]
        if not joint.is_fixed or (keep and child.mass > 0.0):
            continue
        X_PC = compose(joint.frame_on_parent, inverse(joint.frame_on_child))
        shapes = [replace(shape, pose=compose(X_PC, shape.pose)) for shape in child.shapes]
        if joint.parent != ROOT:
            parent = _joined_links(robot.links[joint.parent], child, X_PC)
            robot.links[joint.parent] = replace(parent, shapes=(*parent.shapes, *shapes))
        else:
            robot.fixed_shapes += shapes
        robot.joints.remove(joint)
        for below in [j for j in robot.joints if j.parent == child.name]:
            robot.replace_joint(
                below, parent=joint.parent, frame_on_parent=compose(X_PC, below.frame_on_parent)
            )
        for name, (link, pose) in robot.frames.items():
            if link == child.name:
                robot.frames[name] = (joint.parent, compose(X_PC, pose))
        robot.frames[child.name] = (joint.parent, X_PC)
        del robot.links[child.name]


def set_least_mass(robot: Robot) -> None:
    """Give bodies without mass, such as those between two joints, a mass that is lost in rounding."""
    between = []
    for name, link in robot.links.items():
        if link.mass > 0.0:
            continue
        robot.links[name] = replace(link, mass=LEAST_MASS)
        if link.is_between:
            between.append(name)
        else:
            robot.remarks.append(
                f"link '{name}' has no mass: it gets {LEAST_MASS:g} kg ({line_of(link.place)})"
            )
    if between:
        listed = ", ".join(between[:MOST_SHOWN]) + (" …" if len(between) > MOST_SHOWN else "")
        robot.remarks.append(
            f"{len(between)} links between two joints of one body get {LEAST_MASS:g} kg: {listed}"
        )


def _joints_from_root(robot: Robot) -> list[RobotJoint]:
    """The joints from the world outward."""
    below: dict[str, list[RobotJoint]] = {}
    for joint in robot.joints:
        below.setdefault(joint.parent, []).append(joint)
    order = list(below.get(ROOT, ()))
    for joint in order:
        order += below.get(joint.child, ())
    return order


def _joined_links(parent: Link, child: Link, X_PC: Reals) -> Link:
    """Both links as one rigid body in the parent's frame."""
    if child.mass == 0.0:
        return parent
    center = station(X_PC, child.center_of_mass)
    inertia = turned_inertia(X_PC, child.inertia)
    if parent.mass == 0.0:
        return replace(parent, mass=child.mass, center_of_mass=center, inertia=inertia)
    mass = parent.mass + child.mass
    offset = np.subtract(center, parent.center_of_mass)
    common = np.add(parent.center_of_mass, child.mass / mass * offset)
    reduced = parent.mass * child.mass / mass
    total = (
        matrix_of(parent.inertia)
        + matrix_of(inertia)
        + reduced * (offset @ offset * np.eye(3) - np.outer(offset, offset))
    )
    return replace(parent, mass=mass, center_of_mass=tuple(map(float, common)), inertia=elements_of(total))
