"""Which files are scenarios; who only asks imports no co-simulation."""

from __future__ import annotations

import tomllib
from pathlib import Path

from cosim_ssp.package import is_ssp


def is_scenario(path: Path) -> bool:
    """Whether it is a TOML file with participants, or an SSP."""
    if is_ssp(path):
        return True
    if not path.is_file():  # reading from a pipe waits for its writer
        return False
    try:
        data = tomllib.loads(path.read_text("utf-8"))
    except (OSError, ValueError, RecursionError):
        return False
    return "participants" in data
