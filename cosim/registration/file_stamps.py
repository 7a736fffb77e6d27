"""Which files a kept record depends on: where packages are found, and whether a file has changed."""

from __future__ import annotations

import importlib.util
import os


def stamp_of(path: str) -> list[int] | None:
    """Time and size of a file, None where there is none."""
    try:
        status = os.stat(path)
    except OSError:
        return None
    return [status.st_mtime_ns, status.st_size]


def package_place(package: str) -> list[str] | None:
    """The file from which a package would be imported; None if there is none."""
    try:
        spec = importlib.util.find_spec(package)
    except (ImportError, ValueError):
        return None
    if spec is None:
        return None
    return [spec.origin] if spec.origin else list(spec.submodule_search_locations or ())
