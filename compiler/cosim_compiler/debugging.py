"""Switches for who looks for a mistake.

``COSIM_DEBUG=1``: kernel functions run as plain Python, one call after the other, with bounds checked.
``COSIM_LINES=1``: machine code knows the author's lines.
"""

from __future__ import annotations

import functools
import os

VARIABLE = "COSIM_DEBUG"


@functools.cache
def is_debugging() -> bool:
    """Whether the environment asks for it when this process looks for the first time."""
    return os.environ.get(VARIABLE, "0") not in ("", "0")


@functools.cache
def lines_are_shown() -> bool:
    """Whether the environment asks for lines when this process looks first."""
    return os.environ.get("COSIM_LINES", "0") not in ("", "0")
