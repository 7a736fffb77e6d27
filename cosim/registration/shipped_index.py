"""The index of our own plugins as it comes with the package: a new cache folder needs no listing.

There files are identified by their contents and by their places in packages, since times and folders are
those of another computer.
"""

from __future__ import annotations

import hashlib
import json
import os
from typing import Any

from cosim.registration.file_stamps import package_place, stamp_of

INDEX = "index"
"""The kind of these pieces; see `cosim_compiler.shipped`."""


def to_shipped(content: bytes) -> bytes:
    """A record of the index, which names files of this computer, as it is shipped."""
    document: dict[str, Any] = json.loads(content)
    folders = {package: os.path.dirname(place[0]) for package, place in document.pop("places").items()}
    document["files"] = {
        package: {
            os.path.relpath(path, folder): _digest_of(path)
            for path in document["files"]
            if path.startswith(folder + os.sep)
        }
        for package, folder in folders.items()
        if package.partition("_")[0] == "cosim"  # Python's own have the version of this Python
    }
    return json.dumps(document).encode()


def from_shipped(piece: bytes) -> bytes | None:
    """The record for this computer; None where a file has other contents than when the package was made."""
    document: dict[str, Any] = json.loads(piece)
    places = {package: package_place(package) for package in document["files"]}
    files = {}
    for package, digests in document["files"].items():
        place = places[package]
        if place is None:
            return None
        for name, digest in digests.items():
            path = os.path.join(os.path.dirname(place[0]), name)
            if _digest_of(path) != digest:
                return None
            files[path] = stamp_of(path)
    return json.dumps({**document, "files": files, "places": places}).encode()


def _digest_of(path: str) -> str | None:
    try:
        with open(path, "rb") as file:
            return hashlib.sha256(file.read()).hexdigest()
    except OSError:
        return None
