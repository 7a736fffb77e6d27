"""The files that participants are made of."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from cosim_master.abilities import HasFile


def file_paths(participants: Mapping[str, Any]) -> dict[str, Path | None]:
    """For each participant its file, None where there is none."""
    return {name: p.path if isinstance(p, HasFile) else None for name, p in participants.items()}
