"""Writing a file so that there is never half of one."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterable
from pathlib import Path

import cosim


def replace_file(path: Path, chunks: Iterable[bytes]) -> Path:
    """Write a file beside its place and move it there when it is complete.

    What is no regular file, such as ``/dev/null`` or a pipe, is written to as it stands.

    Parameters
    ----------
    path : Path
    chunks : iterable of bytes

    Returns
    -------
    pathlib.Path
        The path that was given.

    Raises
    ------
    CosimError
        When it cannot be written; a file that was there is then as it was.
    """
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        if path.exists() and not path.is_file():
            with path.open("wb") as stream:
                stream.writelines(chunks)
            return path
        try:
            with beside.open("wb") as stream:
                stream.writelines(chunks)
            beside.replace(path.resolve())  # a link stays a link
        finally:
            with contextlib.suppress(OSError):
                beside.unlink(missing_ok=True)
    except OSError as error:
        reason = (
            "there is no such folder" if not path.parent.is_dir() else (error.strerror or str(error)).lower()
        )
        raise cosim.CosimError(f"{path}: cannot be written: {reason}.") from error
    return path
