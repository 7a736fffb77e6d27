"""An instance of an FMU that waits for the next run, and saved states."""

from __future__ import annotations

import weakref
from collections.abc import Callable
from contextlib import suppress
from typing import Any

from cosim_fmi.binding import modes
from cosim_fmi.binding.fmu_instance import FmuInstance, SavedState
from cosim_fmi.binding.function_table import FmiError
from cosim_fmi.instances.unpacked_fmu import UnpackedFmu


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
        self.free = weakref.finalize(self, _free_state, instance, saved)
        self.free.atexit = False

    @property
    def initializing(self) -> bool:
        """Whether the instance was in its initialization mode."""
        return self.saved.mode == modes.INITIALIZING


def _free_state(instance: FmuInstance, saved: SavedState) -> None:
    if instance.component and instance.mode != modes.FATAL and saved.pointer:
        try:
            instance.free_state(saved)
        except FmiError as error:
            instance.untold = instance.untold or error


class KeptInstance:
    """Keeps an instance that was terminated, with its library; freed when it is given up, or at exit."""

    def __init__(self) -> None:
        self._instance: FmuInstance | None = None
        self._unpacked: UnpackedFmu | None = None
        self._made_for: Any = None
        self._free: Any = None

    def keep(self, instance: FmuInstance, unpacked: UnpackedFmu, made_for: Any) -> None:
        """Take an instance.

        Parameters
        ----------
        instance : FmuInstance
        unpacked : UnpackedFmu
            Its files, which stay as long.
        made_for : object
            What it was made for; with anything else a new instance is needed.
        """
        self.give_up()
        self._instance, self._unpacked, self._made_for = instance, unpacked, made_for
        self._free = weakref.finalize(
            self, _free_instance, instance
        )  # at exit before the library is unloaded

    def reset(
        self, unpacked: UnpackedFmu, made_for: Any, add: Callable[[int, str], None]
    ) -> FmuInstance | None:
        """The instance, reset and with another receiver of messages; None where there is none for this."""
        instance = self._instance
        if instance is None or unpacked is not self._unpacked or made_for != self._made_for:
            self.give_up()
            return None
        instance.receiver.add = add
        try:
            instance.reset()
        except Exception:  # one that has no reset, or fails: a new instance does
            self.give_up()
            return None
        self._free.detach()
        self._instance = self._unpacked = None
        return instance

    def give_up(self) -> None:
        """Free it."""
        if self._instance is not None:
            self._free()
            self._instance = self._unpacked = None


def _free_instance(instance: FmuInstance) -> None:
    with suppress(Exception):
        instance.free()
