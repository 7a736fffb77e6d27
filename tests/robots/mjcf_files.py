"""Small MJCF files for tests."""

from __future__ import annotations

from pathlib import Path

BOB = "<geom size='0.1' mass='2'/>"


def write_mjcf(folder: Path, world: str, head: str = "", tail: str = "") -> Path:
    """Write a file with these bodies and with elements before and after them."""
    path = folder / "robot.xml"
    path.write_text(f"<mujoco model='r'>{head}<worldbody>{world}</worldbody>{tail}</mujoco>", "utf-8")
    return path


def hinge(joint: str = "", body: str = "", tail: str = "", inside: str = BOB) -> str:
    """Return a body `b` on a hinge `j`, with these attributes and with these elements inside the body."""
    return f"<body name='b' {body}><joint name='j' {joint}/>{inside}</body>{tail}"
