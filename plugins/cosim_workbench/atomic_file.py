"""Files that are replaced only when the new one is whole."""

from __future__ import annotations

import os
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import cosim


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; it takes the place of `path` when the block ends well.

    Raises
    ------
    CosimError
        When the folder is not there or cannot be written to.
    """
    check_folder(path)
    try:
        handle, name = tempfile.mkstemp(suffix=path.suffix, prefix=f".{path.stem}-", dir=path.parent)
    except OSError as error:
        raise cosim.CosimError(f"{path}: cannot be written: {error.strerror}") from None
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        draft.chmod(0o666 & ~_umask())
        os.replace(draft, path)
    except OSError as error:
        raise cosim.CosimError(f"{path}: cannot be written: {error.strerror or error}") from None
    finally:
        with suppress(OSError):
            draft.unlink()


def check_folder(path: Path) -> None:
    """Raise a `CosimError` when a file cannot be there; worth asking before a long run."""
    if not path.parent.is_dir():
        raise cosim.CosimError(f"{path}: there is no folder {path.parent}")
    if path.is_dir():
        raise cosim.CosimError(f"{path}: is a folder, needs the name of a file")
    if not os.access(path.parent, os.W_OK):
        raise cosim.CosimError(f"{path}: the folder cannot be written to; choose another with -o.")


def _umask() -> int:
    """Of this process; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
