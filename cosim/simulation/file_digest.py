"""Names and digests of the files that results come from."""

from __future__ import annotations

import hashlib
from pathlib import Path


def file_digest(path: Path) -> dict[str, str]:
    """The name and SHA-256 of a file, as results name their source; the name alone if it cannot be read."""
    description = {"file": path.name}
    try:
        with path.open("rb") as file:
            description["sha256"] = hashlib.file_digest(file, "sha256").hexdigest()
    except OSError:
        pass
    return description
