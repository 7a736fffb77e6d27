"""Results that depend on names, cached while no name can change."""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

_at_rest = threading.local()


@contextlib.contextmanager
def names_at_rest() -> Iterator[None]:
    """While no name changes: what follows from them is found once, and not compared again."""
    around = vars(_at_rest).copy()
    _at_rest.memory = {}
    try:
        yield
    finally:
        vars(_at_rest).clear()
        vars(_at_rest).update(around)


def are_at_rest() -> bool:
    """Whether no name changes now, in this thread."""
    return hasattr(_at_rest, "memory")


def memory_at_rest() -> dict[Any, Any]:
    """A memory for what follows from names, empty again when they may change: at once, unless at rest."""
    memory: dict[Any, Any] = getattr(_at_rest, "memory", {})
    return memory
