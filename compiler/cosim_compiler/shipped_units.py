"""Units that came with the package: machine code of functions that belong to no model, and texts for exports.

A wheel of a release carries one file of them, for one minor version of Python and one platform, made for the
plainest processor of that platform (``release/ship_units.py``). A unit is found by the digest of all that it
is made from, so nothing stale can be found. Each has its own checksum, and a damaged one is made here.
"""

from __future__ import annotations

import functools
import json
import logging
import os
import struct
import sysconfig
import zlib
from collections.abc import Mapping
from pathlib import Path

from cosim_compiler.kernel_cache import checked, sealed

log = logging.getLogger("cosim.native")

PATH = Path(__file__).parent / "shipped" / f"units{sysconfig.get_config_var('EXT_SUFFIX') or '.none'}"
LENGTH = struct.Struct("<q")
"""Of the list of places, which stands first."""


def kept(digest: str) -> bytes | None:
    """What came under a digest, or None where nothing did, or nothing that its checksum fits."""
    place = _places().get(digest)
    if place is None:
        return None
    start, size = place
    try:
        with PATH.open("rb") as file:
            file.seek(start)
            content = checked(digest, zlib.decompress(file.read(size)))
    except (OSError, zlib.error) as error:
        log.warning("%s cannot be read: %s; install the package again", PATH, error)
        return None
    if content is None:
        log.warning("%s is damaged, and not used: install the package again", PATH)
    return content


def has(digest: str) -> bool:
    """Whether something came under a digest."""
    return digest in _places()


def packed(units: Mapping[str, bytes]) -> bytes:
    """The content of the file: units by their digests."""
    places, parts, start = {}, [], 0
    for digest, content in sorted(units.items()):
        part = zlib.compress(sealed(digest, content), 9)
        places[digest] = start, len(part)
        parts.append(part)
        start += len(part)
    listed = json.dumps(places).encode()
    return LENGTH.pack(len(listed)) + listed + b"".join(parts)


@functools.cache
def _places() -> dict[str, tuple[int, int]]:
    """Where each unit starts in the file, and how long it is; none where no file came."""
    if os.environ.get("COSIM_NO_SHIPPED", "0") not in ("", "0"):
        return {}
    try:
        with PATH.open("rb") as file:
            (length,) = LENGTH.unpack(file.read(LENGTH.size))
            listed = json.loads(file.read(length))
    except FileNotFoundError:
        return {}
    except (OSError, ValueError, struct.error) as error:
        log.warning("%s is damaged, and not used: %s; install the package again", PATH, error)
        return {}
    first = LENGTH.size + length
    return {digest: (first + start, size) for digest, (start, size) in listed.items()}
