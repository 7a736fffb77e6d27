"""Files that a run is going to write: whether they can be written, and whether the disk has room for them."""

from __future__ import annotations

import os
import shutil
from pathlib import Path

from cosim.errors import CosimError

BYTES_PER_VALUE = 20
"""The size of a number in a text file: 17 digits, sign, point and separator."""


def space_warning(target: Path, rows: float, columns: int) -> str:
    """A warning if the disk has too little space for the rows that a run is expected to write, else "".

    Parameters
    ----------
    target : Path
        The file.
    rows : float
        The expected count of rows; it may be infinite.
    columns : int
    """
    needed = rows * columns * BYTES_PER_VALUE
    try:
        free = shutil.disk_usage(target.parent).free
    except OSError:  # the folder is missing or not readable: `check_folder` reports that
        return ""
    if needed <= free:
        return ""
    text = f"{rows:.3g} rows of {columns} columns take some {needed / 1e9:.3g} GB"
    return f"{target}: {text}, and {free / 1e9:.3g} GB are free there"


def check_folder(path: Path) -> None:
    """Check that a file can be written, before a long run is started for it.

    Raises
    ------
    CosimError
        The folder does not exist or cannot be written to, or the path is that of a folder.
    """
    if not path.parent.is_dir():
        raise CosimError(f"{path}: there is no folder {path.parent}")
    if path.is_dir():
        raise CosimError(f"{path}: is a folder, needs the name of a file")
    if not os.access(path if is_device(path) else path.parent, os.W_OK):
        raise CosimError(f"{path}: the folder cannot be written to; choose another with -o.")


def is_device(path: Path) -> bool:
    """Whether a path is that of a pipe or a device: it exists, and is neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()
