"""SystemReader: reads variables of a system from a State, each as a value of its type."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

import cosim
from cosim.kit import Variable
from cosim_master.participants.system_interface import type_of, value_of

SIGNAL_ARRAYS = "ypdkhc"
"""The arrays that `System.arrays` returns."""


class Reading(NamedTuple):
    """How some variables are read.

    Attributes
    ----------
    names : tuple of str
    stage : Stage
        To which the State is realized before.
    places : list of (str, int)
        Array and offset of each variable.
    """

    names: tuple[str, ...]
    stage: cosim.Stage
    places: list[tuple[str, int]]


class SystemReader:
    """Reads variables of a system.

    Parameters
    ----------
    system : System
    """

    def __init__(self, system: cosim.System) -> None:
        self._system = system
        self._readings: dict[tuple[str, ...], Reading] = {}

    def reading(self, names: tuple[str, ...]) -> Reading:
        """Where and at which stage these variables are read."""
        reading = self._readings.get(names)
        if reading is None:
            slots = [self._system.signal(name).slot for name in names]
            stage = max((self._system.stage_of(slot) for slot in slots), default=cosim.Stage.EMPTY)
            places = [(slot.array, slot.offset) for slot in slots]
            reading = self._readings[names] = Reading(names, cosim.Stage(stage), places)
        return reading

    def values(self, state: cosim.State, reading: Reading) -> NDArray[np.float64] | list[Any]:
        """The values in a realized State: an array when all are real, else a list."""
        arrays = dict(zip(SIGNAL_ARRAYS, self._system.arrays(state), strict=True))
        numbers = [arrays[array][offset].item() for array, offset in reading.places]
        if any(name in self._not_real for name in reading.names):
            return self.typed_values(reading.names, numbers)
        return np.array(numbers)

    def typed_values(self, names: Sequence[str], numbers: Sequence[Any]) -> list[Any]:
        """Numbers of arrays as values of these variables."""
        return [
            value_of(self._not_real[name], number) if name in self._not_real else number
            for name, number in zip(names, numbers, strict=True)
        ]

    @cached_property
    def _not_real(self) -> dict[str, Variable]:
        """The variables that are no real numbers, by the names of their elements."""
        return {
            name: variable
            for path, variable in self._system.variables.items()
            if type_of(variable) != "real"
            for name in ([f"{path}[{i}]" for i in range(variable.slot.size)] if variable.shape else [path])
        }
