"""Machine code that came with the package: units that belong to no model.

A wheel carries them for one minor version of Python and one platform, made for the plainest processor of that
platform (``release/build_hook.py``). A unit is found by the digest of all that it is made from, so nothing
stale can be found; a damaged archive is not used.
"""

from __future__ import annotations

import functools
import logging
import os
import sys
import sysconfig
import zipfile
from collections.abc import Mapping
from pathlib import Path

log = logging.getLogger("cosim.native")

NAME = f"units-{sys.implementation.cache_tag}-{sysconfig.get_platform()}.zip"
PATH = Path(__file__).parent / "shipped" / NAME


def has(digest: str) -> bool:
    """Whether a unit came."""
    archive = _archive()
    return archive is not None and digest in archive.NameToInfo


def content_of(digest: str) -> bytes | None:
    """What a unit consists of, as `units` keeps it; None where it did not come."""
    archive = _archive()
    try:
        return None if archive is None else archive.read(digest)
    except (zipfile.BadZipFile, OSError, EOFError) as error:
        log.warning("%s is damaged: install the package again (%s)", PATH, error)
        return None


@functools.cache
def _archive() -> zipfile.ZipFile | None:
    if os.environ.get("COSIM_NO_SHIPPED", "0") not in ("", "0") or not PATH.exists():
        return None
    try:
        return zipfile.ZipFile(PATH)
    except (zipfile.BadZipFile, OSError) as error:
        log.warning("%s is damaged and not used: install the package again (%s)", PATH, error)
        return None


def write(units: Mapping[str, bytes], path: Path = PATH) -> None:
    """Write an archive anew; processes that have the old one go on with it."""
    path.parent.mkdir(parents=True, exist_ok=True)
    part = path.with_name(f".{path.name}.{os.getpid()}.part")
    with zipfile.ZipFile(part, "w", zipfile.ZIP_DEFLATED) as archive:
        for digest, content in sorted(units.items()):
            archive.writestr(zipfile.ZipInfo(digest), content, zipfile.ZIP_DEFLATED)
    part.replace(path)
