"""A memory for what follows from the values of names, while no name gets another value.

What a function reaches is found by looking up all global names in it and in its helpers. Functions that are
compiled together share helpers, and for that time their names cannot change: each is looked up once.
"""

from __future__ import annotations

import contextlib
import threading
from collections.abc import Iterator
from typing import Any

_thread = threading.local()


@contextlib.contextmanager
def names_at_rest() -> Iterator[None]:
    """A block in which this thread changes no global name, closure or function that is compiled.

    A block inside another one starts with a memory of its own.
    """
    outer_memory = memory_at_rest()
    _thread.memory = {}
    try:
        yield
    finally:
        _thread.memory = outer_memory


def memory_at_rest() -> dict[Any, Any] | None:
    """What this thread has found out in the present block `names_at_rest`, by keys of the finders.

    None outside of such blocks: names may change, so nothing must be stored.
    """
    return getattr(_thread, "memory", None)
