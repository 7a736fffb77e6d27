"""``COSIM_DEBUG=1``: kernel functions run as plain Python, one call after the other, with bounds checked."""

from __future__ import annotations

import functools
import os

VARIABLE = "COSIM_DEBUG"


@functools.cache
def is_debugging() -> bool:
    """Whether the environment asks for it when this process looks for the first time."""
    return os.environ.get(VARIABLE, "0") not in ("", "0")
