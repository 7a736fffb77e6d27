"""A system as an integrator sees it while witnesses are held at their zero."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from cosim.component.kink_functions import SIDE_OF_KINK
from cosim.system.blocks import Slot
from cosim.system.system import System

Integers = NDArray[np.int64]


class HeldSystem:
    """Everything of a system but its derivatives, to which the field of the held witnesses is added.

    Parameters
    ----------
    system : System
    table, ints : ndarray of int64
        Those of the system, with the blocks of a derivative once more and what holds witnesses at the end.
    sides : Slot
        Where `sliding_field` stores how far holds are from their ends.
    """

    holds_witnesses = True
    tangents = None  # what holds witnesses has none

    def __init__(self, system: System, table: Integers, ints: Integers, sides: Slot) -> None:
        self._system, self.table, self.ints, self._sides = system, table, ints, sides
        self.derivative_range = self.inner_range = (len(system.table), len(table))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._system, name)

    def slots_named(self, name: str) -> list[Slot]:
        """The slots of a name, as `System.slots_named`: where a hold ends the derivatives have a kink."""
        slots = self._system.slots_named(name)
        return [*slots, self._sides] if name == SIDE_OF_KINK else slots

    def derivative_structure(self) -> tuple[Integers, Integers]:
        """The structure of the Jacobian: the hold of a witness may depend on every state."""
        n = self._system.ny
        return n * np.arange(n + 1, dtype=np.int64), np.tile(np.arange(n, dtype=np.int64), n)
