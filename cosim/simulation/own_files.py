"""Files that data name for writing: they stay in the folder of the data, and replace nothing but results."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

BYTES_PER_VALUE = 20
"""Of a number in a file of text."""


def path_below(folder: Path, name: str) -> Path:
    """The path of a file that data name, below the folder of these data.

    Parameters
    ----------
    folder : Path
    name : str
        As it stands in the data.

    Raises
    ------
    ValueError
        It leads out of the folder, by ``..``, from the root or along a link; it is a pipe or a device; it has
        a backslash, which separates folders on Windows alone. A sentence.

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
    with suppress(OSError):  # there is nothing yet
        if not (stat.S_ISREG(mode := path.stat().st_mode) or stat.S_ISDIR(mode)):
            raise ValueError(f"{name!r} is a pipe or a device: name a file")
    return path


def space_warning(target: Path, rows: float, columns: int) -> str:
    """A sentence where the disk of a file has too little space for the rows that are foreseen, else "".

    Parameters
    ----------
    target : Path
    rows : float
    columns : int
    """
    needed = rows * columns * BYTES_PER_VALUE
    try:
        free = shutil.disk_usage(target.parent).free
    except OSError:
        return ""
    if needed <= free:
        return ""
    text = f"{rows:.3g} rows of {columns} columns take some {needed / 1e9:.3g} GB"
    return f"{target}: {text}, and {free / 1e9:.3g} GB are free there"
