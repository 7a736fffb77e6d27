"""Levels of log messages."""

from __future__ import annotations

import cosim
from cosim_master.abilities import LOG_LEVELS


def check_log_level(level: object) -> None:
    """Refuse what is no level.

    Raises
    ------
    ModelError
    """
    if level not in LOG_LEVELS:
        raise cosim.ModelError.of(
            "log_level", f"is {level!r}, needs one of {', '.join(map(repr, LOG_LEVELS))}"
        )
