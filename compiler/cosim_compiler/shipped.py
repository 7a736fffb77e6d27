"""Machine code that comes with the package: the part of it that depends on no model.

A wheel carries it for one minor version of Python and one platform, made for the plainest processor of that
platform (``release/ship.py``). There are archives of object files, of the texts that native FMUs are made of,
of facts about kernel functions (`clean_sources`) and of what cosim's plugins register
(`cosim.registration.shipped_index`); the wheel of a release also has one of the shell of native FMUs.

A piece is found by the digest of all that it is made from, so nothing stale can be found; a damaged archive
is not used.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
import sysconfig
import zipfile
import zlib
from collections.abc import Mapping
from pathlib import Path

log = logging.getLogger("cosim.native")

FOLDER = Path(__file__).parent / "shipped"
UNITS, TEXTS, FACTS = "units", "texts", "facts"


def path_of(kind: str) -> Path:
    """The archive of a kind, for this Python and this platform."""
    return FOLDER / f"{kind}-{sys.implementation.cache_tag}-{sysconfig.get_platform()}.zip"


def has(kind: str, digest: str) -> bool:
    """Whether the package brings a piece."""
    archive = _archive(kind)
    return archive is not None and digest in archive.NameToInfo


def shipped_content(kind: str, digest: str) -> bytes | None:
    """A piece that the package brings; None if it does not, or if the piece is damaged."""
    archive = _archive(kind)
    try:
        return None if archive is None or digest not in archive.NameToInfo else archive.read(digest)
    except (zipfile.BadZipFile, zlib.error, OSError, EOFError) as error:
        log.warning("%s is damaged: install the package again (%s)", path_of(kind), error)
        return None


@functools.cache
def _archive(kind: str) -> zipfile.ZipFile | None:
    path = path_of(kind)
    if os.environ.get("COSIM_NO_SHIPPED", "0") not in ("", "0") or not path.exists():
        return None
    try:
        return zipfile.ZipFile(path)
    except (zipfile.BadZipFile, OSError) as error:
        log.warning("%s is damaged and not used: install the package again (%s)", path, error)
        return None


def write(kind: str, pieces: Mapping[str, bytes]) -> Path:
    """Write an archive anew; processes that have the old one go on with it."""
    path = path_of(kind)
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with zipfile.ZipFile(part, "w") as archive:
        for digest, content in sorted(pieces.items()):
            archive.writestr(zipfile.ZipInfo(digest), content, zipfile.ZIP_DEFLATED)
    part.replace(path)
    return path
