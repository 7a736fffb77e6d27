"""Files that are replaced only when the new one is whole."""

from __future__ import annotations

import os
import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import cosim


@contextmanager
def replaced_file(path: Path) -> Iterator[Path]:
    """A path beside `path` to write to; it takes the place of `path` when the block ends well.

    A device or a pipe stays what it is and gets the contents; of a link, the file that it leads to is
    replaced.

    Raises
    ------
    CosimError
        When the folder is not there or cannot be written to.
    """
    check_folder(path)
    if _is_device(path):
        with tempfile.TemporaryDirectory() as folder:
            whole = Path(folder) / path.name
            yield whole
            try:
                with whole.open("rb") as source, path.open("wb") as target:
                    shutil.copyfileobj(source, target)
            except OSError as error:
                raise cosim.CosimError(f"{path}: cannot be written: {error.strerror or error}") from None
        return
    place = Path(os.path.realpath(path))
    try:
        handle, name = tempfile.mkstemp(suffix=path.suffix, prefix=f".{path.stem}-", dir=place.parent)
    except OSError as error:
        raise cosim.CosimError(f"{path}: cannot be written: {error.strerror}") from None
    os.close(handle)
    draft = Path(name)
    try:
        yield draft
        draft.chmod(0o666 & ~_umask())
        os.replace(draft, place)
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
    if not os.access(path if _is_device(path) else path.parent, os.W_OK):
        raise cosim.CosimError(f"{path}: the folder cannot be written to; choose another with -o.")


def _is_device(path: Path) -> bool:
    """Whether there is something that is neither a file nor a folder."""
    return path.exists() and not path.is_file() and not path.is_dir()


def _umask() -> int:
    """Of this process; it can only be read by setting it."""
    mask = os.umask(0o077)
    os.umask(mask)
    return mask
