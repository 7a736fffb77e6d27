"""Names and digests of the files that results come from."""

from __future__ import annotations

import hashlib
from pathlib import Path


def file_digest(path: Path) -> dict[str, str]:
    """Name and SHA-256 of a file, for results that say what they are from; the name alone of what is none."""
    description = {"file": path.name}
    try:
        with path.open("rb") as file:
            description["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        pass
    return description
