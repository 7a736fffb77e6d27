"""Inputs of a system that run along lines between writes, as an importer's inputs do."""

from __future__ import annotations

import math
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from cosim.errors import StateError
from cosim.stage import Stage
from cosim.system.assembly import Assembly
from cosim.system.blocks import Slot
from cosim.system.signals import Signal

if TYPE_CHECKING:
    from cosim.system.state import State


class Line(NamedTuple):
    """Where in d an input lies, or an element of one; its slope, NaN where it has none; and since when."""

    value: Slot
    slope: Slot
    since: Slot


class InputLines:
    """The lines of the inputs that nothing in the model is connected to."""

    def __init__(self, assembly: Assembly) -> None:
        self._assembly = assembly

    def line(self, path: str, signal: Signal) -> Line:
        """The line of an input, or of one of its elements; `StateError` if it is connected in the model."""
        full = f"{signal.part}.{signal.name}"
        if full not in self._assembly.free_inputs:
            raise StateError(f"{path}: this input is connected inside the model and cannot be set")
        first = signal.slot.offset - self._assembly.layout.slots[signal.part][signal.name].offset
        whole_line = Line(self._assembly.free_inputs[full], *self._assembly.input_courses[full])
        return Line(*(slot.part(first, signal.slot.size) for slot in whole_line))

    def write(self, state: State, path: str, signal: Signal, slope: Any) -> None:
        """Give it a slope, from its value at the present time on."""
        if signal.declaration.kind != "input":
            raise StateError(f"{path}: only an input can follow a ramp")
        if signal.declaration.dtype is not float:
            raise StateError(f"{path}: is not a real number, so it cannot follow a ramp")
        slopes = np.asarray(slope, dtype=np.float64).ravel()
        line = self.line(path, signal)
        if slopes.size != line.slope.size or not np.all(np.isfinite(slopes)):
            raise StateError(f"{path}: its slope is {slope!r}, needs {line.slope.size} finite numbers")
        state.refuse_when_locked()
        d = state._arrays["d"]
        for value, rate, since, new_rate in zip(*(slot.elements for slot in line), slopes, strict=True):
            if not math.isnan(d[rate]):
                d[value] += (state.time - d[since]) * d[rate]
            d[rate], d[since] = new_rate, state.time
        state.jumped = True
        state.invalidate(self._assembly.base_stage(line.value), f"slope of {path}")

    def hold(self, state: State) -> None:
        """Hold all inputs at their present values."""
        values, slopes, since = self.places
        d = state._arrays["d"]
        running = ~np.isnan(d[slopes])
        if running.any():
            d[values[running]] += (state.time - d[since[running]]) * d[slopes[running]]
            d[slopes[running]] = math.nan
            state.jumped = True
            state.invalidate(Stage.TIME, "inputs held")

    @cached_property
    def places(self) -> tuple[NDArray[np.int64], NDArray[np.int64], NDArray[np.int64]]:
        """The offsets in d of the values, slopes and times of all inputs."""
        assembly = self._assembly
        lines = [(value, *assembly.input_courses[path]) for path, value in assembly.free_inputs.items()]
        indices = [
            np.array([i for slot in slots for i in slot.elements], dtype=np.int64)
            for slots in (zip(*lines, strict=True) if lines else ((), (), ()))
        ]
        return indices[0], indices[1], indices[2]
