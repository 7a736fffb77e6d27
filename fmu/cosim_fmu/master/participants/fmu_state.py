"""A saved state of an FMU."""

from __future__ import annotations

import weakref
from contextlib import suppress
from typing import Any


class FmuState:
    """Token of `FmuParticipant.save`; it belongs to the instance that made it.

    Freed with the instance, or as soon as nobody holds it any more.

    Attributes
    ----------
    handle : object
        The FMU's own pointer.
    initializing : bool
        Whether the instance was in its initialization mode.
    owner : FmuParticipant
    more : object
        What the participant itself has to remember with it.
    free : callable
        Gives the memory back; does nothing the second time.
    """

    __slots__ = ("__weakref__", "free", "handle", "initializing", "more", "owner")

    def __init__(self, handle: Any, initializing: bool, owner: object, slave: Any, free: Any) -> None:
        self.handle, self.initializing, self.owner = handle, initializing, owner
        self.more: Any = None
        self.free = weakref.finalize(self, _free, slave, handle, free)
        self.free.atexit = False


def _free(slave: Any, handle: Any, free: Any) -> None:
    if slave.component is not None:
        with suppress(Exception):
            free(handle)
