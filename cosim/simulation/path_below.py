"""Paths that data name: below the folder of these data, and nowhere else."""

from __future__ import annotations

import os
import stat
from contextlib import suppress
from pathlib import Path


def path_below(folder: Path, name: str) -> Path:
    """The path of a file in a folder, by a name that is not trusted: a model file or a scenario has it.

    The file need not be there yet.

    Parameters
    ----------
    folder : Path
        The folder of the file that has the name.
    name : str
        Relative to the folder.

    Raises
    ------
    ValueError
        The path leads out of the folder: by ``..``, from the root or along a link. Or it is a pipe or a
        device. Or it has a backslash, which separates folders on Windows alone.

    Examples
    --------
    >>> path_below(Path("/data/loop"), "../other.csv")
    Traceback (most recent call last):
        ...
    ValueError: '../other.csv' is outside of the folder of this file: name a path inside the folder
    """
    if os.sep != "\\" and "\\" in name:
        raise ValueError(f"{name!r} has a backslash: separate folders by /")
    path = folder / name
    if not Path(os.path.realpath(path)).is_relative_to(os.path.realpath(folder)):
        raise ValueError(f"{name!r} is outside of the folder of this file: name a path inside the folder")
    with suppress(OSError):  # the file is not there yet
        mode = path.stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise ValueError(f"{name!r} is a pipe or a device: name a file")
    return path
