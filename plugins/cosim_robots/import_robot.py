"""Makes the tables of a model from a robot's file, and a model from these tables."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TypeVar

import cosim
from cosim_robots.robot import Robot
from cosim_robots.robot_tables import ModelTables, tables_of
from cosim_robots.tree import (
    check_tree,
    fix_followers,
    fix_massless_tips,
    merge_fixed,
    place_base,
    set_least_mass,
)

M = TypeVar("M", bound=cosim.Model)


def import_robot(
    read: Callable[[Path], Robot],
    path: Path,
    *,
    base: str | None = None,
    keep_fixed: bool = False,
    actuators: bool = True,
    motors: bool = False,
) -> ModelTables:
    """The tables of a model file for a robot.

    Parameters
    ----------
    read : callable
        Reads the robot from the file.
    path : Path
    base : str, optional
        ``"fixed"`` (default): the first link is fixed on the world. ``"free"``: it moves freely. MJCF says it
        in the file.
    keep_fixed : bool
        Whether links with mass that are fixed to others stay bodies of their own, with a weld joint.
    actuators : bool
        Whether joints with one coordinate have an input for their effort.
    motors : bool
        Whether that is a motor with the greatest effort and speed of the file, and inputs for a target.

    Raises
    ------
    ModelError
        All faults of the file, each with its line.
    """
    robot = read(path)
    root = check_tree(robot)
    place_base(robot, root, base)
    fix_massless_tips(robot)
    fix_followers(robot)
    merge_fixed(robot, keep_fixed)
    set_least_mass(robot)
    start_in_range(robot)
    return tables_of(robot, actuators, motors)


def start_in_range(robot: Robot) -> None:
    """Move start values into the ranges of the joints, and followers to where their leaders put them."""
    for joint in [*robot.joints]:
        if joint.lower is None or joint.upper is None or joint.mimic is not None:
            continue
        start = min(max(joint.start, joint.lower), joint.upper)
        if start != joint.start:
            robot.replace_joint(joint, start=start)
            robot.remarks.append(
                f"joint '{joint.name}' starts at {start:g}, the nearest end of its range ({joint.line})"
            )
    joints = {joint.name: joint for joint in robot.joints}

    def place(name: str) -> float:
        mimic = joints[name].mimic
        return joints[name].start if mimic is None else mimic.ratio * place(mimic.leader) + mimic.offset

    for joint in [*robot.joints]:
        if joint.mimic is not None:
            robot.replace_joint(joint, start=place(joint.name))


def fill_model(model: M, tables: ModelTables) -> M:
    """Add the content of the tables to a model, through the readers of model files.

    Raises
    ------
    ModelError
        All faults together, each with its place in the robot's file.
    """
    readers: dict[str, cosim.ModelTable] = {
        entry.cls.table: entry.cls() for entry in cosim.registry().entries("model_table")
    }
    problems: list[cosim.Problem] = []
    header = tables.data["model"]
    for table, entries in tables.data.items():
        if table == "model":
            continue
        reader = readers[table]
        reader.begin(model, {**reader.settings, **header})
        for name, entry in entries.items() if reader.form == "entries" else [("", entries)]:
            place = tables.places.get(name, name)

            def report(key: str, text: str, place: str = place, name: str = name) -> None:
                problems.append(cosim.Problem(place, f"{name}.{key}: {text}"))

            reader.read(model, name, entry, report)
    if problems:
        raise cosim.ModelError(problems)
    return model
