"""A saved state of an FMU."""

from __future__ import annotations

import weakref
from typing import Any

from cosim_fmi.binding import modes
from cosim_fmi.binding.fmi_error import FmiError
from cosim_fmi.binding.fmu_instance import FmuInstance, SavedState


class FmuState:
    """Token of `save`; it belongs to the instance that made it.

    Freed with the instance, or as soon as no reference to it is left.

    Attributes
    ----------
    saved : SavedState
    owner : object
        The participant.
    more : object
        What the participant itself has to remember with it.
    free : callable
        Gives the memory back; does nothing the second time.
    """

    __slots__ = ("__weakref__", "free", "more", "owner", "saved")

    def __init__(self, saved: SavedState, owner: object, instance: FmuInstance) -> None:
        self.saved, self.owner = saved, owner
        self.more: Any = None
        self.free = weakref.finalize(self, _free, instance, saved)
        self.free.atexit = False

    @property
    def initializing(self) -> bool:
        """Whether the instance was in its initialization mode."""
        return self.saved.mode == modes.INITIALIZING


def _free(instance: FmuInstance, saved: SavedState) -> None:
    if instance.component and instance.mode != modes.FATAL and saved.pointer:
        try:
            instance.free_state(saved)
        except FmiError as error:
            instance.untold = instance.untold or error
