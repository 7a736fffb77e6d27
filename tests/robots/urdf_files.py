"""Small URDF files for tests."""

from __future__ import annotations

from pathlib import Path

EMPTY = "<link name='a'/>"


def bob(name: str) -> str:
    """Return a link of 2 kg."""
    return (
        f"<link name='{name}'><inertial><origin xyz='0 0 -0.5'/><mass value='2'/>"
        "<inertia ixx='0.1' iyy='0.2' izz='0.15' ixy='0' ixz='0' iyz='0'/></inertial></link>"
    )


def joint(kind: str, inside: str = "", name: str = "j", parent: str = "a", child: str = "b") -> str:
    """Return a joint; `inside` are its elements beside parent and child."""
    return (
        f"<joint name='{name}' type='{kind}'><parent link='{parent}'/><child link='{child}'/>{inside}</joint>"
    )


def robot_text(kind: str, inside: str = "", *elements: str) -> str:
    """Return the text of a file with one link on a joint, and with these elements."""
    return f"<robot name='r'>{EMPTY}{bob('b')}{joint(kind, inside)}{''.join(elements)}</robot>"


def write_urdf(folder: Path, *elements: str, head: str = "") -> Path:
    """Write a file with these elements."""
    path = folder / "robot.urdf"
    path.write_text(f"{head}<robot name='r'>{''.join(elements)}</robot>", "utf-8")
    return path
