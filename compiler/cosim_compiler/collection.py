"""Garbage collection, while much is made that stays."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from contextlib import contextmanager


@contextmanager
def without_collection() -> Iterator[None]:
    """Let no garbage be looked for: many objects are made that stay, and each search would go through all.

    Afterwards they count as old, so that the next search for young garbage does not go through them either.
    """
    enabled = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if enabled:
            if gc.get_freeze_count() == 0:  # else the user has frozen objects, which stay so
                gc.freeze()
                gc.unfreeze()
            gc.enable()
