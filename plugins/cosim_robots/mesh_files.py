"""Files of surfaces that robots name."""

from __future__ import annotations

from pathlib import Path

ENDINGS = (".stl", ".obj", ".ply", ".glb", ".gltf", ".dae")
PACKAGE = "package://"


def find_mesh(robot: Path, name: str, folder: str = "") -> Path | None:
    """The file of a surface; None where it is not there, or of a format that is not read.

    Parameters
    ----------
    robot : Path
        The file of the robot.
    name : str
        As it is written there: a path from the robot's folder, ``file://…``, or ``package://NAME/…``, which
        is looked up in the folders above the robot.
    folder : str
        Of surfaces, below that of the robot.
    """
    if Path(name).suffix.lower() not in ENDINGS:
        return None
    above = robot.resolve().parents
    if name.startswith(PACKAGE):
        package, _, rest = name[len(PACKAGE) :].partition("/")
        places = [(a if a.name == package else a / package) / rest for a in above]
    else:
        places = [above[0] / folder / name.removeprefix("file://")]
    return next((place.resolve() for place in places if place.is_file()), None)
