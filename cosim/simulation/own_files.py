"""Files that are to be written: whether they can be, and where those may be that data name."""

from __future__ import annotations

import os
import shutil
import stat
from contextlib import suppress
from pathlib import Path

from cosim.errors import CosimError

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


def check_folder(path: Path) -> None:
    """Raise a `CosimError` when a file cannot be there; worth asking before a long run."""
    if not path.parent.is_dir():
        raise CosimError(f"{path}: there is no folder {path.parent}")
    if path.is_dir():
        raise CosimError(f"{path}: is a folder, needs the name of a file")
    if not os.access(path if is_device(path) else path.parent, os.W_OK):
        raise CosimError(f"{path}: the folder cannot be written to; choose another with -o.")


def is_device(path: Path) -> bool:
    """Whether there is something that is neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()
